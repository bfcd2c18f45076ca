"""Rounds of one small session that is served in all three ways, and the ratio of two of them.

Each round serves every arm, whichever two make the ratio: then the ratios of one process are of the same rounds, and
one of them is the product of the other two. What a cost model would have said of the stateless arm stands beside its
time and is in no ratio. Nothing is read from a clock here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from harness.measure.clock import Engine, Tally
from harness.probes.session._even import require_even
from harness.probes.session._serving import Part, Round
from kpis.formulas.session.prefill import Shape, anchor, cost, prefill_tokens, ratio, read_again_ms
from seams.contract.arms import Server

__all__ = ["CLOCKED", "Served", "shaped"]

CLOCKED = Shape(prefix=48, turns=6, agents=3, decode=2, result=4)
"""The session that is timed: some 1,200 positions of arm a, a few tenths of a second on the small model."""

_ARMS = "abc"
_SAID = {"a": "stateless", "b": "one cache an agent", "c": "one shared prefix"}


class Served:
    """Rounds of one small session, served in every way; ``above`` and ``below`` are the arms of the ratio."""

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, server: Server, above: str, below: str, shape: Shape = CLOCKED) -> None:
        self._server = server
        self._above, self._below = above, below
        self._shape = shape
        self._numbers = count(1)
        self._round: Round | None = None

    def parts(self) -> Sequence[Part]:
        """A fresh round: the samples of arm a's cost model, then the arms one after the other."""
        self._round = made = Round(self._server, self._shape, next(self._numbers))
        return [*made.samples(), *made.parts(_ARMS)]

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
        totals = {arm: sum(ns for name, ns in least.items() if name.startswith(arm)) for arm in _ARMS}
        form = prefill_tokens(self._shape)
        above, below = (getattr(form, arm) for arm in (self._above, self._below))
        return Tally(
            totals[self._above],
            totals[self._below],
            source=self.source,
            evidence=(
                f"{shaped(self._shape)}; each part the least of {len(rounds)} rounds of one process; live=true",
                *(f"{arm}, {_SAID[arm]}: {_parted(arm, least, totals[arm])}" for arm in _ARMS),
                f"of these rounds {_multiplied(**totals)}",
                f"prompt tokens alone: {above} over {below} = {ratio(above, below) or 0:.4f}",
                *(self._modelled(least, totals["a"]) if self._above == "a" else ()),
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


def _multiplied(a: int, b: int, c: int) -> str:
    """The three ratios of one process, of which the first is the product of the others."""
    naive, tuned, tax = (ratio(*sides) or 0 for sides in ((a, c), (b, c), (a, b)))
    return f"a over c {naive:.4f} = b over c {tuned:.4f} times a over b {tax:.4f}"


def shaped(shape: Shape) -> str:
    """The sizes of a session, each with its name."""
    return ", ".join(f"{name} {value}" for name, value in shape._asdict().items())
