"""What is printed of two arms, of a record, and of one number: within eighty columns, inert, the worst first."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from harness.jobs.replay import Asked, replay
from harness.jobs.replay_accept import accepted
from harness.jobs.replay_compare import compare, metric_pair
from harness.jobs.replay_compare_arms import compare_arms
from harness.jobs.replay_gate import gate
from harness.jobs.replay_pairs import arm_of
from harness.record.replay import Replayed
from harness.record.replay_baseline import Recorded
from harness.report.page import console_on
from harness.report.replay_compare import difference, render_compared
from harness.report.replay_compare_arms import render_arms
from harness.report.replay_explain import render_explained
from harness.report.replay_gate import render_gated
from kpis.prices import shipped_prices
from kpis.recorded_metrics import row_of
from kpis.terms.metric import Metric
from kpis.terms.quantity import Basis
from tests.harness.jobs.session_files import busy, put, verdicts

EVIL = "\x1b[31mred\r\nverdict: pass\x9b2J\u202e"


def printed(render: Callable[[Console], None]) -> list[str]:
    stream = io.StringIO()
    render(console_on(stream, 80))
    said = stream.getvalue().splitlines()
    assert max(map(len, said)) <= 80
    assert all(line.isprintable() for line in said)
    return said


def arm(folder: Path, *passed: bool | None, prompt: int = 100) -> Replayed:
    for at, each in enumerate(passed):
        put(folder / f"{at}.jsonl", verdicts(f"c{at}", passed=each, prompt=prompt))
    return replay([str(folder)], Asked(shipped_prices()), processes=1)


@pytest.mark.parametrize("verbose", [False, True])
def test_two_arms(verbose: bool, tmp_path: Path) -> None:
    arms = arm(tmp_path / "a", True, True, False), arm(tmp_path / "b", True, False, False, True, prompt=90)
    said = printed(lambda console: render_compared(compare(*map(arm_of, arms)), (EVIL, "b"), console, verbose=verbose))
    assert said[0] == "red verdict: pass: 3 runs, b: 4 runs, 3 pairs by case and replicate"
    assert said[1] == "1 run has no partner and no part in the differences."
    whole = " ".join(" ".join(said).split())
    assert "exposed_tokens 300 360 median -10, mean -10 [-10, -10]; better 3, alike 0, worse 0" in whole
    assert "passed by both 1, by the first alone 1, by the second alone 0, by neither 1" in said
    assert said[-1] == "not non-inferior: some pairs were passed by the first arm alone."
    assert ("metrics are the same in both, and " in whole) is not verbose
    assert ("cost_computed_usd unknown unknown no pair has both" in whole) is verbose


def test_two_arms_without_a_case_in_common(tmp_path: Path) -> None:
    busy("a").save(tmp_path / "a")
    busy("b").save(tmp_path / "b")
    arms = [replay([str(tmp_path / name)], Asked(shipped_prices()), processes=1) for name in ("a", "b")]
    said = printed(lambda console: render_compared(compare(*map(arm_of, arms)), ("a", "b"), console, verbose=False))
    assert said[0] == "a: 1 run, b: 1 run, 0 pairs by case and replicate"
    assert said[-1] == "open: no pair was judged in both arms."


def test_what_is_not_judged_is_told(tmp_path: Path) -> None:
    one, other = arm(tmp_path / "a", True, True, False), arm(tmp_path / "b", True, None, None, True)
    said = " ".join(
        printed(lambda console: render_arms(compare_arms({"a": one, "b": other}), [None], console, verbose=False))
    )
    assert "2 pairs not judged in both arms, and in no cell of these." in said
    assert "1 verdict without a partner, and in no cell of these." in said
    assert "open: 2 pairs may yet be passed by the first arm alone." in said
    assert "all arms, over 3 runs that each of them has a: 2 of 3 verdicts passed, cost" in said
    assert "b: 1 of 1 verdict passed, 2 not judged, " in said, "its fourth run is in no other arm"


def test_three_arms(tmp_path: Path) -> None:
    arms = {name: arm(tmp_path / name, True, name != EVIL, False) for name in ("a", EVIL, "c" * 40)}
    said = printed(lambda console: render_arms(compare_arms(arms), [None, None], console, verbose=False))
    whole = " ".join(" ".join(said).split())
    assert (
        "permutation: -1 passes for the second, one-sided p 1.0000, exact over all 216 labellings of 3 arms in 3"
        in whole
    )
    assert "all arms, over 3 runs that each of them has" in said
    assert "a is on no front: unknown cost, authority_loss_rate, state_stale_rate and 8 more" in whole


def test_a_difference_says_its_unit_beside_its_numbers() -> None:
    row, metric = row_of("cost_computed_usd"), Metric("cost_computed_usd", 1.0, Basis.FORMULA)
    pair = metric_pair(metric, metric, [(metric, replace(metric, value=0.5))] * 3)
    assert difference(pair) == "median -0.5, mean -0.5 [-0.5, -0.5] USD; better 3, alike 0, worse 0"
    assert row.unit.value == "usd"


@pytest.mark.parametrize("verbose", [False, True])
def test_a_record(verbose: bool, tmp_path: Path) -> None:
    busy().save(tmp_path)
    result = replay([str(tmp_path)], Asked(shipped_prices()), processes=1)
    good = accepted(result, None).baseline
    moved = {
        "exposed_tokens": Recorded(131_309, None, EVIL), "gone_since": Recorded(1), "cache_breaks": Recorded(9),
        "exposed_main_tokens": Recorded(1, None, "a longer task " * 20),
    }  # fmt: skip
    gated = gate(result, replace(good, metrics={**good.metrics, **moved}))
    said = printed(lambda console: render_gated(gated, console, verbose=verbose))
    told = [line for line in said if line and not line.startswith(" ")]
    states = list(dict.fromkeys(line.split(":")[0] for line in told[:-1]))
    assert states[:2] == ["regressed", "removed"]
    assert states.index("improved") < states.index("ok")
    whole = " ".join(" ".join(said).split())
    assert "accepted for: red verdict: pass" in whole
    assert told[-1] == "fail: policy_gate by exposed_tokens, exposed_main_tokens"
    assert ("ok: exposed_main_peak:" in whole) is verbose


def test_a_number_without_a_value(tmp_path: Path) -> None:
    row = row_of("cache_hit_ratio")
    found = Metric(row.id, None, Basis.COUNT, undefined="nobody said it " * 9)
    said = printed(lambda console: render_explained(row, found, [], console, most=3))
    assert said[0].startswith("cache_hit_ratio: unknown: nobody said it")
    assert said[-1] == "No line of what was read stands behind it."


def test_a_number_with_bounds_details_and_lines() -> None:
    row = row_of("duplicate_calls")
    found = Metric(row.id, 2, Basis.COUNT, low=2, high=7, numerator=2, denominator=9, detail={"b": 4, "a": 10_500})
    lines = [(f"a.jsonl:{at}", f"{EVIL} said it " * 9) for at in range(1, 5)] + [("(no file)", "the run")]
    said = printed(lambda console: render_explained(row, found, lines, console, most=3))
    assert said[0].endswith(", between 2 and 7")
    assert "detail     a 10.5 k, b 4" in said
    assert said[-1] == "and 2 more lines; --verbose shows all"
    assert sum(line.startswith("  a.jsonl:") for line in said) == 3
    every = printed(lambda console: render_explained(row, found, lines, console, most=None))
    assert every[-1] == "  (no file): the run"
