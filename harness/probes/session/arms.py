"""Drives the three ways to serve a session: prompt tokens by arithmetic, and times of a small session that is run.

The token ratios are of a session of usual size, whose closed form holds of any server; that a server reads so many is
counted on a small session. The times are of a small session on the runtime's server: stateless, one cache an agent, and
one shared prefix, in one process and of the same steps. All three are run in full. What a cost model would have said of
the stateless arm, raw and corrected for the machine's drift, stands beside its time and is in no ratio.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, ClassVar

from harness.measure.clock import Arms, Engine, Tally, Undefined, Workload
from harness.probes._awaiting import finish, settled
from harness.probes.session._even import require_even
from harness.probes.session._serving import Part, Round, require_answers
from kpis.formulas.session.prefill import (
    SESSION,
    Prefill,
    Shape,
    anchor,
    cost,
    prefill_tokens,
    ratio,
    read_again_ms,
)
from seams.contract.arms import Server

__all__ = ["CLOCKED", "COUNTED", "SIDES", "Probe", "Served"]

CLOCKED = Shape(prefix=48, turns=6, agents=3, decode=2, result=4)
"""The session that is timed: some 1,200 positions of arm a, a few tenths of a second on the small model."""

COUNTED = Shape(prefix=12, turns=3, agents=2, decode=1, result=2)
"""The session on which the closed form is counted."""

SIDES = {
    "net_value_add_vs_naive": ("a", "c"),
    "net_value_add_vs_tuned": ("b", "c"),
    "turn_tax_A_over_B": ("a", "b"),
    "prefill_a_over_c": ("a", "c"),
    "prefill_b_over_c": ("b", "c"),
}
"""The arm above the line of each ratio and the one below it."""

_SAID = {"a": "stateless", "b": "one cache an agent", "c": "one shared prefix"}


class Probe:
    """Opens the KPIs of ``session/arms``."""

    kpis: ClassVar[frozenset[str]] = frozenset(
        {
            "net_value_add_vs_naive",
            "net_value_add_vs_tuned",
            "prefill_tokens",
            "prefill_a_over_c",
            "prefill_b_over_c",
            "turn_tax_A_over_B",
        }
    )

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """Arms, a Tally or Undefined; of an asynchronous server, the coroutine that returns it."""
        server: Server | None = runtime.offer("session/arms", "none")
        if server is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no server of sessions.")
        steps = (server.read, server.decode, server.clone)
        if params.get("of") == "clock":
            return finish(_clocked(kpi, server), *steps)
        return finish(_counted(kpi, server, params.get("arm")), *steps)


async def _counted(kpi: str, server: Server, arm: str | None) -> Tally:
    """The closed form of the usual session, once the server was seen to read as many of a small one."""
    await require_answers(server)
    small = Round(server, COUNTED, 0)
    for _, part in small.parts("abc"):
        await settled(part())
    seen, form = small.require_done(), prefill_tokens(SESSION)
    evidence = (f"{_shaped(SESSION)}: {_tokens(form)}", f"counted on the server, {_shaped(COUNTED)}: {_tokens(seen)}")
    if arm is not None:
        return Tally(getattr(form, arm), basis="formula", source="synthetic", evidence=evidence)
    above, below = SIDES[kpi]
    read_once = SESSION.prefix * {"a": SESSION.agents * SESSION.turns, "b": SESSION.agents, "c": 1}[above]
    value = getattr(form, above)
    return Tally(
        value,
        getattr(form, below),
        reasons={"prefix": read_once, "turns": value - read_once},
        basis="formula",
        source="synthetic",
        evidence=evidence,
    )


async def _clocked(kpi: str, server: Server) -> Arms:
    await require_answers(server)
    return Served(server, *SIDES[kpi])


class Served:
    """Rounds of one small session, served in every way that the two sides of a ratio need."""

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, server: Server, above: str, below: str, shape: Shape = CLOCKED) -> None:
        self._server = server
        self._above, self._below = above, below
        # What the cost model of arm a is anchored by is arm b's.
        self._arms = "".join(sorted({above, below, *("ab" if above == "a" else "")}))
        self._shape = shape
        self._numbers = count(1)
        self._round: Round | None = None

    def parts(self) -> Sequence[Part]:
        """A fresh round: the samples of arm a's cost model where it is needed, then the arms one after the other."""
        self._round = made = Round(self._server, self._shape, next(self._numbers))
        return [*(made.samples() if "a" in self._arms else ()), *made.parts(self._arms)]

    def check(self, result: object) -> None:  # noqa: ARG002 - what was done is in the sessions, not in the last result
        """Raise WorkNotDoneError unless every arm served the whole session, and all the same one."""
        if self._round is not None:
            self._round.require_done()

    def ratio(self, rounds: Sequence[Mapping[str, int]]) -> Tally:
        """The least of each part over the rounds, added up by arm: what displaces a part is nothing of the arm's.

        Raises:
            WorkNotDoneError: the arms were not served alike, see ``_even``.
        """
        each = {name: min(spent[name] for spent in rounds) for name in rounds[0]}
        require_even(self._shape, each, self._above, self._below)
        least: dict[str, int] = {}
        for name, ns in each.items():
            least[_kind(name)] = least.get(_kind(name), 0) + ns
        totals = {arm: sum(ns for name, ns in least.items() if name.startswith(arm)) for arm in self._arms}
        form = prefill_tokens(self._shape)
        above, below = (getattr(form, arm) for arm in (self._above, self._below))
        return Tally(
            totals[self._above],
            totals[self._below],
            source=self.source,
            evidence=(
                f"{_shaped(self._shape)}; each part the least of {len(rounds)} rounds of one process; live=true",
                *(f"{arm}, {_SAID[arm]}: {_parted(arm, least, totals[arm])}" for arm in self._arms),
                f"prompt tokens alone: {above} over {below} = {ratio(above, below) or 0:.4f}",
                *(self._modelled(least, totals["a"]) if "a" in self._arms else ()),
            ),
        )

    def _modelled(self, least: Mapping[str, int], live_ns: int) -> tuple[str, ...]:
        """Arm a as its cost model has it: not run, so it stands beside the time that was, and in no ratio."""
        lengths = sorted(int(name) for name in least if name.isdecimal())
        ms = [least[str(length)] / 1e6 for length in lengths]
        prefix_ms = least["b prefix"] / self._shape.agents / 1e6
        decode_ms = least["b decode"] / 1e6
        drift = anchor(prefix_ms, cost(self._shape.prefix, lengths, ms))
        raw = read_again_ms(self._shape, lengths, ms)
        read_ms = least["a read"] / 1e6
        return (
            f"arm a by its cost model, sampled at {', '.join(map(str, lengths))} tokens (live=false): "
            f"raw {raw + decode_ms:.3f} ms, corrected for drift {raw * drift + decode_ms:.3f} ms; anchor {drift:.4f}; "
            f"of {live_ns / 1e6:.3f} ms that it took",
            f"reading, modelled over live: raw {raw / read_ms:.4f}, corrected {raw * drift / read_ms:.4f}; "
            f"decoding, a over b {least['a decode'] / least['b decode']:.4f}",
        )


def _kind(name: str) -> str:
    """What is done, and in which arm, in whatever turn and for whichever agent."""
    return " ".join(name.split(" ")[:2])


def _parted(arm: str, least: Mapping[str, int], total: int) -> str:
    parts = ", ".join(f"{name[2:]} {ns / 1e6:.3f}" for name, ns in least.items() if name.startswith(arm))
    return f"{total / 1e6:.3f} ms ({parts})"


def _shaped(shape: Shape) -> str:
    return ", ".join(f"{name} {value}" for name, value in shape._asdict().items())


def _tokens(arms: Prefill) -> str:
    return ", ".join(f"{arm} {tokens}" for arm, tokens in arms._asdict().items()) + " prompt tokens"
