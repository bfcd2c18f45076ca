"""Any number of arms on a console: each against the first, then where each stands and what no other one beats."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial

from rich.console import Console

from harness.jobs.replay_compare_arms import Against, ComparedArms, Permuted, Standing
from harness.jobs.replay_compare_context import ComparedContexts
from harness.report.lines import put_text
from harness.report.replay_compare import render_compared, several
from harness.report.replay_compare_context import render_contexts
from harness.report.replay_lines import big
from kpis.formulas.context.dominance import MARGIN

__all__ = ["render_arms"]

_NAMED = 3
_PLAIN = 10**6


def render_arms(
    compared: ComparedArms, contexts: Sequence[ComparedContexts | None], console: Console, *, verbose: bool
) -> None:
    """Print it; ``contexts`` has for each arm but the first what its runs recorded for their context say, if any."""
    put = partial(put_text, console)
    first = compared.standings[0].name
    for against, context in zip(compared.against, contexts, strict=True):
        render_compared(against.compared, (first, against.name), console, verbose=verbose)
        _rest(against, len(compared.standings), put)
        if context is not None:
            render_contexts(context, console, verbose=verbose)
        put("")
    put(f"all arms, over {several(compared.common, 'run')} that each of them has", "bold")
    for standing in compared.standings:
        put(f"{standing.name}: {', '.join(_stands(standing))}", indent=4)
    for standing in compared.standings:
        _pass_k(standing, put)
    _front(compared, put)


def _rest(against: Against, arms: int, put: Callable[..., None]) -> None:
    if against.permuted is not None:
        put(_permuted(against.permuted, arms))
    unknown = f"; {against.unknown:,} of {several(against.workloads, 'workload')} unknown" if against.unknown else ""
    put(
        f"on every workload no worse and cheaper: {against.parity.value}, and by more than {100 * MARGIN:.0f} %: "
        f"{against.dominance.value}{unknown}"
    )


def _permuted(found: Permuted, arms: int) -> str:
    test = found.test
    if test.exact:
        how = f"exact over all {_count(test.total)} labellings"
    else:
        how = f"sampled, {test.total:,} labellings from a fixed seed"
    lacking = f", {found.lacking:,} of them without some arm" if found.lacking else ""
    return (
        f"permutation: {test.observed:+,} passes for the second, one-sided p {test.p:.4f}, {how} of {arms} arms in "
        f"{several(found.blocks, 'block')}{lacking}"
    )


def _count(n: int) -> str:
    return f"{n:,}" if n < _PLAIN else f"{Decimal(n):.2e}"


def _stands(standing: Standing) -> Iterator[str]:
    yield f"{standing.passed:,} of {several(standing.judged, 'verdict')} passed"
    if standing.attempts > standing.judged:
        yield f"{standing.attempts - standing.judged:,} not judged"
    yield "cost unknown" if standing.cost is None else f"cost ${standing.cost:,.4g}"
    yield "peak prompt unknown" if standing.peak is None else f"peak prompt {big(standing.peak)}"


def _pass_k(standing: Standing, put: Callable[..., None]) -> None:
    """Both definitions, each with its name, since they differ between the smallest and the largest k."""
    if not standing.pass_k:
        return
    windows = ", ".join(f"{_value(each.windows.value)} at {each.k}" for each in standing.pass_k)
    subsets = ", ".join(f"{_value(each.combinations.value)} at {each.k}" for each in standing.pass_k)
    put(f"pass^k of {standing.name}, all its runs: by windows {windows}; by combinations {subsets}", indent=4)
    if standing.unjudged_cases:
        put(f"    without {several(standing.unjudged_cases, 'case')} that nobody judged whole", indent=4)


def _value(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"


def _front(compared: ComparedArms, put: Callable[..., None]) -> None:
    front = compared.front
    if front.frontier:
        put(f"beaten by no other on cost, peak prompt and success: {', '.join(front.frontier)}")
    if front.dominated:
        put(f"beaten on these: {', '.join(front.dominated)}")
    for word, those in (
        ("violated", front.excluded),
        ("unknown", front.open),
    ):
        for name, why in those.items():
            more = f" and {len(why) - _NAMED:,} more" if len(why) > _NAMED else ""
            put(f"{name} is on no front: {word} {', '.join(why[:_NAMED])}{more}", indent=4)
