"""What is known now, what was known on record, and what of it a gate of recorded runs may call as good as before."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.jobs.replay import Asked, replay
from harness.jobs.replay_accept import accepted
from harness.jobs.replay_gate import Gated, gate
from harness.record.replay import Replayed
from harness.record.replay_baseline import BOUND, Recorded, ReplayBaseline, encode, read_baseline
from harness.report.authority_numbers import resolve
from kpis.prices import shipped_prices
from kpis.terms.claim import VerdictBasis, VerdictState
from kpis.terms.comparison import State
from tests.harness.jobs.session_files import lines, put, verdicts
from tests.kpis.context.lines import HEADER, action, end, fold, node, request, text_of, verdict

Read = Callable[..., Replayed]

PROMPT = {"fresh_in": 5_000, "cache_read": 0, "out_total": 10}
SILENT = {"out_total": 10}
USED = {"type": "tool_call", "request_id": "r", "name": "Read", "outcome": "ok", "result_digest": "x"}


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Replay files of these bytes, and nothing else."""

    def call(*files: bytes) -> Replayed:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        for number, data in enumerate(files):
            put(folder / f"{number}.jsonl", data)
        return replay([str(folder)], Asked(shipped_prices()), processes=1)

    return call


def prompts(*tokens: dict[str, int], run: str = "r") -> bytes:
    return lines({"schema": "loopladder.trace/1", "run_id": run}, *({"type": "request", "tokens": t} for t in tokens))


def calls(count: int, **said: Any) -> bytes:
    return prompts(PROMPT) + lines(*({**USED, **said, "request_id": f"q{n}"} for n in range(count)))


def states(found: Gated, *names: str) -> list[State]:
    by_name = {row.metric_id: row.comparison.state for row in found.rows}
    return [by_name[name] for name in names]


def held(read: Read, before: bytes, after: bytes) -> Gated:
    return gate(read(after), accepted(read(before), None).baseline)


EXPOSED = ("exposed_tokens", "exposed_main_tokens", "exposed_main_peak")


def test_what_was_known_and_is_a_bound_now_passes_nothing(read: Read) -> None:
    found = held(read, prompts(PROMPT, PROMPT), prompts(PROMPT, SILENT))
    assert states(found, *EXPOSED) == [State.INCONCLUSIVE] * 3
    assert states(found, "exposed_main_mean", "exposed_main_median", "cache_breaks") == [State.VOID] * 3
    assert found.verdict.state is VerdictState.UNKNOWN


def test_what_was_a_bound_and_is_one_still_is_not_compared(read: Read) -> None:
    baseline = accepted(read(prompts(PROMPT, SILENT)), None).baseline
    assert {baseline.metrics[name] for name in EXPOSED} == {Recorded(None, BOUND)}
    found = gate(read(prompts(PROMPT, SILENT)), baseline)
    assert states(found, *EXPOSED) == [State.UNCHANGED] * 3
    assert found.verdict.state is VerdictState.PASS
    lost = gate(read(prompts(SILENT, SILENT)), baseline)
    assert states(lost, *EXPOSED) == [State.VOID] * 3, "a bound was on record, and nothing is known now"


def test_what_becomes_known_is_new(read: Read) -> None:
    found = held(read, prompts(PROMPT, SILENT), prompts(PROMPT, PROMPT))
    assert states(found, *EXPOSED, "exposed_main_median", "cache_breaks") == [State.NEW] * 5
    assert found.verdict.state is VerdictState.PASS
    bound = held(read, prompts(SILENT, SILENT), prompts(PROMPT, SILENT))
    assert states(bound, *EXPOSED) == [State.NEW] * 3


def test_repeats_of_which_the_arguments_went_missing_are_no_improvement(read: Read) -> None:
    names = ("tool_loops", "duplicate_calls", "duplicate_call_ratio")
    lost = held(read, calls(8, arg_digest="a"), calls(8))
    assert states(lost, *names) == [State.VOID] * 3
    assert lost.verdict.state is VerdictState.UNKNOWN
    assert states(held(read, calls(8), calls(8, arg_digest="a")), *names) == [State.NEW] * 3


def test_losing_a_value_or_a_bound_is_accepted_by_name_only(read: Read) -> None:
    known = accepted(read(prompts(PROMPT, PROMPT)), None).baseline
    part, nothing = read(prompts(PROMPT, SILENT)), read(prompts(SILENT, SILENT))
    assert set(EXPOSED) < set(accepted(part, known).refused)
    named = accepted(part, known, accepted(part, known).refused, "an older client")
    assert named.refused == ()
    assert named.baseline.metrics["exposed_tokens"] == Recorded(None, BOUND, "an older client")
    assert set(EXPOSED) <= set(accepted(nothing, named.baseline).refused)
    assert accepted(part, named.baseline).baseline == named.baseline, "the reason stays"


def test_a_run_that_failed_fails(read: Read) -> None:
    found = held(read, verdicts("a", passed=True), verdicts("a", passed=False))
    assert states(found, "success_ratio") == [State.REGRESSED]
    assert found.verdict.by == ("success_ratio",)


@pytest.mark.parametrize("passed", [True, None])
def test_fewer_that_were_judged_pass_nothing(passed: bool | None, read: Read) -> None:
    before = [verdicts("a", passed=True), verdicts("b", passed=False)]
    baseline = accepted(read(*before), None).baseline
    assert baseline.metrics["success_ratio"] == Recorded(0.5, of=2)
    after = read(verdicts("a", passed=passed), verdicts("b", passed=None))
    found = gate(after, baseline)
    assert states(found, "success_ratio") == [State.VOID]
    assert found.verdict.state is VerdictState.UNKNOWN
    assert accepted(after, baseline).refused == ("success_ratio",)
    assert states(gate(read(*before, verdicts("c", passed=True)), baseline), "success_ratio") == [State.IMPROVED]


def test_the_number_of_judged_attempts_is_read_back(read: Read, tmp_path: Path) -> None:
    baseline = accepted(read(verdicts("a", passed=True), context()), None).baseline
    assert read_baseline(put(tmp_path / "x.toml", encode(baseline))) == baseline
    assert (baseline.contexts, baseline.metrics["success"].of) == (1, 1)


def test_with_another_number_of_runs_a_ratio_is_worse_by_name_only(read: Read) -> None:
    good, bad = verdicts("a", passed=True), verdicts("b", passed=False)
    baseline = accepted(read(good), None).baseline
    both = read(good, bad)
    refused = accepted(both, baseline)
    assert refused.refused == ("success_ratio",)
    assert (refused.baseline.runs, refused.baseline.metrics["success_ratio"]) == (2, Recorded(1.0, of=1))
    named = accepted(both, baseline, ["success_ratio"], "a harder case")
    assert (named.refused, named.baseline.metrics["success_ratio"]) == ((), Recorded(0.5, None, "a harder case", 2))
    assert accepted(read(good), named.baseline).refused == (), "one run less is another set, and none of it is worse"


def test_what_could_not_be_read_leaves_everything_open_that_is_not_worse(read: Read) -> None:
    good = prompts(PROMPT, PROMPT)
    baseline = accepted(read(good), None).baseline
    torn = read(prompts(PROMPT) + b'{"type": "request", "tok\n' + lines({"type": "request", "tokens": PROMPT}))
    assert torn.errors
    found = gate(torn, baseline)
    assert states(found, "exposed_tokens", "tool_errors") == [State.INCONCLUSIVE] * 2
    assert found.verdict.state is VerdictState.UNKNOWN
    worse = gate(torn, ReplayBaseline(1, {**baseline.metrics, "exposed_tokens": Recorded(1)}))
    assert (worse.verdict.state, worse.verdict.by) == (VerdictState.FAIL, ("exposed_tokens",))


def context(passed: bool | None = True, run: str = "r1", **said: Any) -> bytes:
    first, second = request(1, [node("a", 50), node("b", 30)]), request(4, [node("a", 50), node("c", 7)])
    told = verdict(5, passed=passed, **said)
    return text_of({**HEADER, "run_id": run, "case_id": run}, first, action(2), fold(3, 80, 57), second, told, end(6))


def test_context_metrics_are_held_against_the_record(read: Read) -> None:
    baseline = accepted(read(context()), None).baseline
    assert {"success", "score", "critical_violations", "pma_all_pairs"} & baseline.metrics.keys()
    found = gate(read(context(passed=False)), baseline)
    assert states(found, "success", "success_ratio") == [State.REGRESSED] * 2
    gone = gate(read(prompts(PROMPT)), baseline)
    assert states(gone, "success", "critical_violations") == [State.REMOVED] * 2
    assert gone.verdict.state is VerdictState.UNKNOWN


def test_a_violated_gate_fails_whatever_is_on_record(read: Read) -> None:
    broken = read(context(passed=False, critical=True))
    for baseline in (None, accepted(read(context()), None).baseline, accepted(broken, None).baseline):
        found = gate(broken, baseline)
        assert states(found, "critical_violations") == [State.REGRESSED]
        assert (found.verdict.state, found.verdict.basis) == (VerdictState.FAIL, VerdictBasis.POLICY_GATE)
    (row,) = [row for row in gate(broken, None).rows if row.metric_id == "critical_violations"]
    assert row.comparison.evidence == ("violated: 1, and the target is 0",)
    two = gate(read(context(), context(passed=False, critical=True, run="r2")), None)
    (row,) = [row for row in two.rows if row.metric_id == "critical_violations"]
    assert row.comparison.evidence == ("violated in 1 of 2 runs: the target is 0",)


def test_an_open_gate_is_unknown_unless_it_was_never_checked(read: Read) -> None:
    baseline = accepted(read(context(critical=True)), None).baseline
    found = gate(read(context(critical=True)), baseline)
    assert states(found, "critical_violations", "lost_obligations") == [State.OK, State.UNCHANGED]
    (row,) = [row for row in found.rows if row.metric_id == "lost_obligations"]
    assert row.comparison.evidence[0].startswith("open: ")
    assert row.comparison.evidence[0].endswith("; it was so on record")
    assert found.verdict.state is VerdictState.PASS
    bare = replace(
        baseline, metrics={name: row for name, row in baseline.metrics.items() if name != "lost_obligations"}
    )
    assert states(gate(read(context(critical=True)), bare), "lost_obligations") == [State.VOID]
    unjudged = gate(read(context(passed=None, critical=True)), baseline)
    assert states(unjudged, "critical_violations", "success") == [State.VOID] * 2


def test_sums_over_another_number_of_context_runs_compare_with_nothing(read: Read) -> None:
    baseline = accepted(read(context()), None).baseline
    found = gate(read(context(), context(run="r2")), baseline)
    assert states(found, "reclaimed_tokens", "success") == [State.NO_BASELINE, State.OK]


def test_claims_point_to_the_record(read: Read) -> None:
    result = read(context())
    baseline = accepted(result, None).baseline
    document = tomllib.loads(encode(baseline).decode())
    pointed = 0
    for claim in gate(result, baseline).claims:
        assert claim.coverage is not None
        for each in claim.evidence:
            if each.pointer is not None:
                assert each.artifact == hashlib.sha256(encode(baseline)).hexdigest()
                assert resolve(document, each.pointer).keys() & {"value", "undefined"}
                pointed += 1
    assert pointed == len(baseline.metrics)
