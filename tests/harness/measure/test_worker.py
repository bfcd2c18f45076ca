"""Workers and what probes do to them: an answer always comes, and it says what happened."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.measure.handed import BASES, SOURCES
from kpis.terms.quantity import Basis, Source
from tests.cases.probes import hostile
from tests.harness.measure.jobs import HOSTILE, ask


@pytest.mark.parametrize(
    ("probe", "reason", "words"),
    [
        ("Raises", "error", "no such table: orders (tests/cases/probes/hostile.py, line "),
        ("RaisesInTheClock", "error", "ZeroDivisionError: in the batch"),
        ("Exits", "error", "sys.exit(3)"),
        ("Dies", "crashed", "exit status 7"),
        ("WrongWork", "work-not-done", "the sum was -1"),
        ("NoEngine", "engine-not-cut", "'warp'"),
        ("NotASlice", "error", "returned int"),
        ("Honest", "not-offered", "There is no such seam."),
        ("Count", "error", "a Tally where this KPI needs a slice"),
        ("Missing", "error", "has no 'Missing'"),
        ("forgotten_await", "work-not-done", "a coroutine that nobody awaited"),
        ("no_decorator", "error", "@probe above the function"),
    ],
)
def test_a_discovery_says_what_the_probe_did(probe: str, reason: str, words: str, repo: Path, tmp_path: Path) -> None:
    answer = ask(probe, repo, tmp_path)
    assert answer.undefined is not None
    assert answer.undefined[0] == reason
    assert words in answer.undefined[1]


@pytest.mark.parametrize(
    ("probe", "task"),
    [
        ("DoesNoWork", "calibrate"),
        ("DoesNoWork", "measure"),
        ("EmptyCalls", "measure"),
        ("IgnoresLoops", "calibrate"),
    ],
)
def test_a_slice_without_work_is_refused(probe: str, task: str, repo: Path, tmp_path: Path) -> None:
    answer = ask(probe, repo, tmp_path, task=task, values=2, warmups=1, loops=200_000)
    assert answer.undefined is not None
    assert answer.undefined[0] in ("work-not-done", "too-short")


@pytest.mark.parametrize(
    ("probe", "reason"), [("NotANumber", "bad-value"), ("Infinite", "bad-value"), ("ZeroDenominator", "no-denominator")]
)
def test_a_tally_that_is_no_number_is_undefined(probe: str, reason: str, repo: Path, tmp_path: Path) -> None:
    answer = ask(probe, repo, tmp_path, timed=False, estimand="count")
    assert answer.undefined is not None
    assert answer.undefined[0] == reason


def test_the_fourth_trap_a_frozen_sync_seam_refuses_a_slice_without_a_cut(repo: Path, tmp_path: Path) -> None:
    answer = ask("Base", repo, tmp_path, frozen_sync=True)
    assert answer.undefined is not None
    assert answer.undefined[0] == "engine-not-cut"
    assert "turn/view is frozen-sync" in answer.undefined[1]
    assert ask("sugar", repo, tmp_path, frozen_sync=True, params={"size": "4"}).undefined is None


def test_a_factory_that_makes_no_runtime_says_so(repo: Path, tmp_path: Path) -> None:
    answer = ask("Base", repo, tmp_path, runtime=f"{HOSTILE}:make_nothing")
    assert answer.undefined is not None
    assert "made a object, which has no offer" in answer.undefined[1]


@pytest.mark.parametrize("probe", ["Together", "TogetherLater"])
def test_one_opening_answers_for_those_that_are_wanted_beside_it(probe: str, repo: Path, tmp_path: Path) -> None:
    count = {"timed": False, "estimand": "count"}
    wanted = ["b", "odd", "gone", "slice", "absent"]
    result = ask(probe, repo, tmp_path, kpi="a", beside=wanted, **count).result
    assert result["tally"]["numerator"] == 2
    others = result["beside"]
    assert set(others) == {"b", "odd", "gone"}
    assert others["b"]["tally"]["numerator"] == 3
    assert others["odd"]["undefined"]["reason"] == "bad-value"
    assert others["gone"] == {"undefined": {"reason": "not-offered", "detail": "None."}}
    refused = ask(probe, repo, tmp_path, kpi="gone", beside=["b"], **count)
    assert refused.undefined == ("not-offered", "None.")
    alone = ask(probe, repo, tmp_path, kpi="a", beside=[], **count).result
    assert alone["tally"]["evidence"] == ["alone"]
    assert "beside" not in alone


def test_an_opening_of_all_without_the_one_that_is_asked_for_is_an_error(repo: Path, tmp_path: Path) -> None:
    found = ask("TogetherWithout", repo, tmp_path, kpi="a", beside=["b"], timed=False, estimand="count")
    assert found.undefined == ("error", "open_all() returned dict without an entry for a.")


def test_two_seeds_give_two_counts_where_a_count_hangs_on_the_hash(repo: Path, tmp_path: Path) -> None:
    counts = {
        ask("SeedDependent", repo, tmp_path, seed=seed, timed=False, estimand="count").result["tally"]["numerator"]
        for seed in (1, 2)
    }
    assert len(counts) == 2


def test_an_async_slice_runs_on_one_loop_from_value_to_value(repo: Path, tmp_path: Path) -> None:
    common = {"values": 3, "warmups": 1, "runtime": f"{HOSTILE}:make_async"}
    answer = ask("sugar_async", repo, tmp_path, task="calibrate", **common)
    assert answer.undefined is None
    answer = ask("sugar_async", repo, tmp_path, task="measure", loops=answer.result["loops"], **common)
    assert answer.undefined is None
    assert len(answer.result["values_ns"]) == 3


def test_a_measured_process_carries_wall_cpu_and_the_harness_share(repo: Path, tmp_path: Path) -> None:
    calibrated = ask("Base", repo, tmp_path, task="calibrate", values=1, warmups=1).result
    answer = ask("Base", repo, tmp_path, task="measure", values=4, warmups=1, loops=calibrated["loops"]).result
    assert len(answer["values_ns"]) == len(answer["cpu_ns"]) == 4
    assert answer["process_ns"] > 0
    assert 0 < answer["overhead_share"] < 0.5
    metadata = answer["pyperf"]["metadata"]
    assert metadata["loops"] == calibrated["loops"]
    assert not {"hostname", "command", "python_executable"} & set(metadata)


def test_stamped_calls_give_a_median_a_tail_and_a_histogram(repo: Path, tmp_path: Path) -> None:
    common = {"estimand": "call-p50", "params": {"size": "4"}, "warmups": 1}
    answer = ask("sugar", repo, tmp_path, task="measure", values=3, loops=400, **common).result
    assert sum(answer["calls"].values()) == 1200
    assert answer["process_ns"] <= answer["p99_ns"]


def test_the_touched_files_are_the_slice_s_own(repo: Path, tmp_path: Path) -> None:
    touched = ask("Base", repo, tmp_path).result["touched"]
    names = {Path(name).relative_to(repo).as_posix() for name in touched}
    assert "tests/cases/probes/hostile.py" in names
    assert not any("site-packages" in name or name.endswith(".pyc") for name in names)


ODD = sorted(set(hostile.SUBTLE) - {"count-negative", "count-fraction", "long-evidence"})


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_value_is_refused_in_the_worker_by_name(odd: str, repo: Path, tmp_path: Path) -> None:
    answer = ask("Subtle", repo, tmp_path, kpi=odd, timed=False, estimand="count")
    assert answer.undefined is not None
    assert answer.undefined[0] == "bad-value"
    words = ("basis", "source", "excluded", "reasons", "knobs", "evidence", "denominator", "undefined")
    assert next((word for word in words if word in odd), "numerator") in answer.undefined[1].lower()


def test_evidence_is_cut_to_what_a_person_reads(repo: Path, tmp_path: Path) -> None:
    tally = ask("Subtle", repo, tmp_path, kpi="long-evidence", timed=False, estimand="count").result["tally"]
    assert [len(sentence) for sentence in tally["evidence"]] == [500] * 20


@pytest.mark.parametrize("probe", ["OddSource", "ListSource"])
def test_a_slice_of_an_unknown_source_is_a_bad_value(probe: str, repo: Path, tmp_path: Path) -> None:
    answer = ask(probe, repo, tmp_path)
    assert answer.undefined is not None
    assert answer.undefined[0] == "bad-value"
    assert "source = " in answer.undefined[1]


def test_the_words_of_a_tally_are_those_of_the_terms() -> None:
    assert set(BASES) == {basis.value for basis in Basis} - {"clock"}
    assert set(SOURCES) == {source.value for source in Source}


@pytest.mark.parametrize(("probe", "estimand"), [("SaysFalse", "call-mean"), ("CallsThatSayFalse", "call-p50")])
def test_a_check_that_says_false_means_work_not_done(probe: str, estimand: str, repo: Path, tmp_path: Path) -> None:
    answer = ask(probe, repo, tmp_path, estimand=estimand)
    assert answer.undefined is not None
    assert answer.undefined[0] == "work-not-done"
    assert "the check refused a result of type int" in answer.undefined[1]


def test_of_a_long_message_the_type_and_the_first_line_are_said(repo: Path, tmp_path: Path) -> None:
    answer = ask("SpeaksAtLength", repo, tmp_path)
    assert answer.undefined is not None
    assert answer.undefined[1].startswith("LookupError: no such table: orders (tests/cases/probes/hostile.py, line ")
    assert "and in: archive" in answer.output


def test_an_error_in_a_folder_that_is_gone_is_still_an_answer(repo: Path, tmp_path: Path) -> None:
    answer = ask("LosesItsFolder", repo, tmp_path)
    assert answer.undefined is not None
    assert answer.undefined[0] == "error"
    assert answer.undefined[1].startswith("LookupError: gone (hostile.py, line ")
