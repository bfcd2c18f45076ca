"""Context metrics of recorded runs, one and many: in the file, on the page, from workers and from a cache."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from harness.cli.main import main
from harness.jobs.replay import Asked, replay
from harness.record.replay import Replayed, encode
from harness.record.replay_cache import ReplayCache
from harness.record.replay_context import combined, gates_of, mixed, state_of
from harness.report.replay_page import render_replay
from kpis.formulas.context.gates import GateState
from tests.harness.jobs.context_runs import TABLE, read, run
from tests.harness.jobs.session_files import busy, put
from tests.kpis.context.lines import action, end, fold, header, node, request, text_of, usage


def file_of(result: Replayed) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(encode(result, TABLE.name))
    return told


def page(result: Replayed, *, verbose: bool = False, width: int = 400) -> str:
    out = io.StringIO()
    render_replay(result, Console(file=out, width=width), TABLE.name, verbose=verbose)
    return out.getvalue()


def values(result: Replayed) -> dict[str, object]:
    return {name: (each.value, each.low, each.high) for name, each in combined(result.contexts).items()}


def test_a_run_has_its_metrics_in_the_file_and_a_transcript_has_none(tmp_path: Path) -> None:
    put(tmp_path / "run.jsonl", run())
    busy("s-1").save(tmp_path)
    told = file_of(read(tmp_path))
    found = {each["format"]: each for each in told["runs"]}
    assert found["claude-code"]["context_metrics"] is None
    assert found["claude-code"]["result_records"] == []
    metrics = found["context"]["context_metrics"]["metrics"]
    expected = {
        "shared_prefix_tokens": 10, "invalidated_suffix_tokens": 40, "reclaimed_tokens": 40, "pma_all_pairs": 1.0,
        "pma_fold_pairs_only": 1.0, "context_regret_3": 0.2, "dwr_total": 1 / 3, "authority_loss_rate": 0.0,
    }  # fmt: skip
    assert {name: metrics[name]["value"] for name in expected} == expected
    assert metrics["break_even_rho"]["value"] is None
    assert metrics["break_even_rho"]["undefined"] == "it compares two arms"
    assert told["all"]["context_metrics"] == found["context"]["context_metrics"]


def test_its_result_record_stands_beside(tmp_path: Path) -> None:
    put(tmp_path / "run.jsonl", run(case_id="c", arm="a", replicate=2))
    (told,) = file_of(read(tmp_path))["runs"]
    (record,) = told["result_records"]
    assert record["schema"] == "loopladder.context-result/1"
    assert (record["run"], record["case"], record["arm"], record["replicate"]) == ("r1", "c", "a", 2)
    assert record["metrics"]["correctness"]["state_stale_rate"]["value"] is None
    assert record["metrics"]["correctness"]["state_stale_rate"]["reason"]
    assert record["metrics"]["context"]["reclaimed_tokens"]["value"] == 40


def test_ratios_of_many_runs_are_of_sums_and_percentiles_of_all_prompts(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", run(after=50) + run(run_id="r2", after=80))
    put(tmp_path / "b.jsonl", run(run_id="r3", after=90))
    result = read(tmp_path)
    found = combined(result.contexts)
    assert found["pma_all_pairs"].value == 120 / 50, "of a run that reclaimed nothing the invalidated tokens count"
    assert (found["reclaimed_tokens"].value, found["prompt_tokens_peak"].value) == (50, 50)
    assert found["prompt_tokens_median"].value == 40
    first, _ = sorted(result.runs, key=lambda each: each.run_id)
    assert combined(first.contexts)["reclaimed_tokens"].value == 50
    assert len(file_of(result)["runs"][0]["result_records"]) == 2


def test_a_percentile_is_unknown_where_a_prompt_is(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", run() + text_of(header(run_id="r2"), request(1, None, envelope_tokens=None), end(2)))
    found = combined(read(tmp_path).contexts)
    assert found["prompt_tokens_median"].value is None
    assert found["prompt_tokens_total"].value is None
    assert found["prompt_tokens_total"].detail["known"] == 80


def test_a_gate_of_many_runs_stands_as_its_worst_run_and_is_said_first(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", run() + run(run_id="r2", shown=()) + run(run_id="r3"))
    result = read(tmp_path)
    states = gates_of(result.contexts)
    assert states["authority_loss_rate"] == {GateState.VIOLATED: 1, GateState.SATISFIED: 2}
    assert state_of(states["authority_loss_rate"]) is GateState.VIOLATED
    assert state_of(states["state_stale_rate"]) is GateState.OPEN
    told = file_of(result)["all"]["context_metrics"]["gates"]["authority_loss_rate"]
    assert told == {"state": "violated", "violated": 1, "open": 0, "satisfied": 2}
    lines = page(result).splitlines()
    assert lines[1].startswith("context  ALR VIOLATED in 1 of 3 runs  SSR open in 3 of 3 runs  PC satisfied in 3 of 3")
    row = next(line for line in page(result, verbose=True).splitlines() if "authority_loss_rate" in line)
    assert row.split("authority_loss_rate")[1].strip() == "1 violated, 2 satisfied", "and no mean of them"


def test_the_line_names_what_is_defined_and_counts_the_rest(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", run())
    result = read(tmp_path)
    line = page(result).splitlines()[1]
    for said in (
        "ALR satisfied", "SPT 10", "IST 40", "R 40", "PMA of all pairs 1.000", "PMA of fold pairs only 1.000",
        "CR@3 0.2000", "DWR 0.3333",
    ):  # fmt: skip
        assert said in line.split("  "), said
    silent = sum(each.value is None for each in combined(result.contexts).values())
    assert line.endswith(f"{silent} of 108 context metrics undefined; --verbose gives every reason")
    put(tmp_path / "a.jsonl", text_of(header(), action(1, env=None), action(2, env=None), end(3)))
    bare = page(read(tmp_path)).splitlines()[1]
    assert "DWR between 0 and 0.5000" in bare
    for word in ("SPT", "IST", "PMA", "CR@3"):
        assert word not in bare, "nothing is 0 that is not known"


def test_all_of_it_is_listed_with_reasons_where_that_is_asked_for(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", run())
    result = read(tmp_path)
    lines = page(result, verbose=True).splitlines()
    for name, metric in combined(result.contexts).items():
        (row,) = (line for line in lines if line.split()[1:2] == [name])
        if metric.undefined is not None:
            assert row.endswith(metric.undefined)
    head = next(at for at, line in enumerate(lines) if line.startswith("context metric"))
    assert lines[head + 1].startswith("correctness ")


def test_a_page_without_such_runs_has_no_such_line(tmp_path: Path) -> None:
    busy("s-1").save(tmp_path)
    assert "context " not in page(read(tmp_path), verbose=True)


def test_what_a_sum_mixes_is_said(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", run())
    assert mixed(read(tmp_path).contexts) == ()
    put(tmp_path / "b.jsonl", run(run_id="r2", arm="none", window_tokens=9))
    result = read(tmp_path)
    assert mixed(result.contexts) == ("arm", "window_tokens")
    assert "(sums over runs of different arm, window_tokens)" in page(result)


def test_a_run_that_two_files_show_counts_once(tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", run(run_id="r0") + run())
    alone = values(read(tmp_path))
    put(tmp_path / "b.jsonl", run())
    both = read(tmp_path)
    assert len(both.runs) == 2
    assert values(both) == alone
    assert both.parts.tokens.prompt == 160


@pytest.mark.parametrize("seed", range(6))
def test_neither_the_order_of_files_nor_of_runs_changes_a_number(seed: int, tmp_path: Path) -> None:
    runs = [run(run_id=f"r{at}", after=40 + 10 * at, shown=() if at == 2 else ("k",)) for at in range(5)]
    put(tmp_path / "one" / "all.jsonl", b"".join(runs))
    random.Random(seed).shuffle(runs)
    for at, data in enumerate(runs):
        put(tmp_path / "many" / f"{at}.jsonl", data)
    one, many = read(tmp_path / "one"), read(tmp_path / "many")
    assert values(one) == values(many)
    assert gates_of(one.contexts) == gates_of(many.contexts)


def test_workers_and_a_cache_say_the_same_byte_for_byte(tmp_path: Path) -> None:
    for at in range(3):
        put(tmp_path / "runs" / f"{at}.jsonl", run(run_id=f"r{at}", env=None if at else "e") + run(run_id=f"x{at}"))
    paths = [str(tmp_path / "runs")]
    fresh = encode(read(tmp_path / "runs"), TABLE.name)
    assert encode(read(tmp_path / "runs", processes=2), TABLE.name) == fresh
    for _ in range(2):
        cache = ReplayCache(tmp_path / "cache", paths, "asked")
        kept = replay(paths, Asked(TABLE, ledger=True), processes=1, cache=cache)
        assert encode(kept, TABLE.name) == fresh
    assert list((tmp_path / "cache").iterdir())


def test_numbers_at_their_limits_can_be_written(tmp_path: Path) -> None:
    most = 1 << 53
    put(
        tmp_path / "a.jsonl",
        text_of(
            header(),
            *(request(at, [node("a", most)], prompt_tokens=most, usage=usage(most, most)) for at in range(1, 4)),
            fold(4, most, 0),
            end(5, wall_s=float(most)),
        ),
    )
    assert file_of(read(tmp_path))["all"]["context_metrics"]["metrics"]["prompt_tokens_total"]["value"] == 3 * most
    put(tmp_path / "a.jsonl", text_of(header(), fold(1, most + 1, 0), end(2, wall_s=1e308)))
    told = file_of(read(tmp_path))
    assert [issue["code"] for issue in told["runs"][0]["issues"]].count("E_BAD_LINE") == 2


def test_the_command_reads_a_file_and_writes_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(tmp_path / "run.jsonl", run())
    target = tmp_path / "out.json"
    assert main(["replay", str(path), "--json", str(target)]) == 0
    assert "context  ALR satisfied" in capsys.readouterr().out
    assert json.loads(target.read_text())["all"]["context_metrics"]["runs"] == 1
