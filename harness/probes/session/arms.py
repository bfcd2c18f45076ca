"""Drives the three ways to serve a session: prompt tokens by arithmetic, and times of a small session that is run.

The token ratios are of a session of usual size, whose closed form holds of any server; that a server reads so many is
counted on a small session. The times are of a small session on the runtime's server: stateless, one cache an agent, and
one shared prefix, in the same rounds of one process and of the same steps (:mod:`harness.probes.session._served`).
Beside the token ratios stands what the same arms come to over a set of web tasks, by arithmetic alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from harness.measure.clock import Arms, Tally, Undefined, Workload
from harness.probes._awaiting import finish, settled
from harness.probes.session._served import Served, shaped
from harness.probes.session._serving import Round, require_answers
from kpis.formulas.session.prefill import SESSION, Prefill, Shape, prefill_tokens
from kpis.formulas.session.webset import WEB_TASKS, WORKERS, tokens_of, with_ever_more
from seams.contract.arms import Server

__all__ = ["COUNTED", "SIDES", "Probe"]

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

_CLOCKED = ("net_value_add_vs_naive", "net_value_add_vs_tuned", "turn_tax_A_over_B")


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
        return self._opened(runtime, params, lambda found: found[kpi])

    def open_all(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """By KPI what one server gives at that point: the arms of every clocked ratio, or every count."""
        return self._opened(runtime, params, dict)

    def _opened(self, runtime: Any, params: Mapping[str, str], chosen: Callable[[dict[str, Any]], Any]) -> Any:
        server: Server | None = runtime.offer("session/arms", "none")
        if server is None:
            missing = Undefined("not-offered", f"The runtime {runtime.name} offers no server of sessions.")
            return chosen(dict.fromkeys(self.kpis, missing))

        async def opening() -> Any:
            await require_answers(server)
            if params.get("of") == "clock":
                return chosen(_clocked(server))
            return chosen(await _counted(server, params.get("arm")))

        return finish(opening(), server.read, server.decode, server.clone)


def _clocked(server: Server) -> dict[str, Arms]:
    """Each ratio of times: all of them have the same parts, so that rounds of one are rounds of any."""
    return {kpi: Served(server, *SIDES[kpi]) for kpi in _CLOCKED}


async def _counted(server: Server, arm: str | None) -> dict[str, Tally]:
    """The closed form of the usual session, once the server was seen to read as many of a small one."""
    small = Round(server, COUNTED, 0)
    for _, part in small.parts("abc"):
        await settled(part())
    seen, form = small.require_done(), prefill_tokens(SESSION)
    evidence = (f"{shaped(SESSION)}: {_tokens(form)}", f"counted on the server, {shaped(COUNTED)}: {_tokens(seen)}")
    if arm is not None:
        told = Tally(getattr(form, arm), basis="formula", source="synthetic", evidence=evidence)
        return {"prefill_tokens": told}
    return {kpi: _rated(kpi, form, evidence) for kpi in SIDES}


def _rated(kpi: str, form: Prefill, evidence: tuple[str, ...]) -> Tally:
    above, below = SIDES[kpi]
    read_once = SESSION.prefix * {"a": SESSION.agents * SESSION.turns, "b": SESSION.agents, "c": 1}[above]
    value = getattr(form, above)
    return Tally(
        value,
        getattr(form, below),
        reasons={"prefix": read_once, "turns": value - read_once},
        basis="formula",
        source="synthetic",
        evidence=evidence + (_web_tasks() if kpi.startswith("prefill") else ()),
    )


def _web_tasks() -> tuple[str, ...]:
    """The same arms over a set of web tasks, as many workers on each as are told."""
    told = [
        f"beside it and in no number here: {WEB_TASKS.tasks} web tasks, whose {WEB_TASKS.turns} turns are guessed by "
        "their difficulty; nothing of them is served"
    ]
    for workers in WORKERS:
        form = tokens_of(WEB_TASKS, workers)
        ratios = f"a over c {form.a / form.c:.4f}, b over c {form.b / form.c:.4f}, a over b {form.a / form.b:.4f}"
        told.append(f"web tasks, {workers} on each: {_tokens(form)}; {ratios}")
    return (*told, f"web tasks, with ever more on each: a over c {with_ever_more(WEB_TASKS) or 0:.4f}")


def _tokens(arms: Prefill) -> str:
    return ", ".join(f"{arm} {tokens}" for arm, tokens in arms._asdict().items()) + " prompt tokens"
