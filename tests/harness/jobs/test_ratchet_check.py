"""A run against the record: every state that a row can have, and what each makes of the verdict and the exit code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from harness.cli.exits import Exit
from harness.cli.ratchet import exit_code
from harness.record.baseline_read import BaselineError
from harness.record.ratchet import RatchetFile, encode
from harness.record.run import Mode, Run, Selection
from harness.record.run import encode as encode_run
from kpis.registry import Catalog
from kpis.terms.claim import VerdictBasis, VerdictState
from kpis.terms.comparison import State
from kpis.terms.kpi import Direction, Gate
from kpis.terms.quantity import Unit
from kpis.terms.reading import Distribution, Reason, Undefined
from tests.harness.jobs.recorded import DAY, SLUG, Lab, row_of, states

SPAWN, PLAN = "turn_spawn_ns[phase=all]", "planner_optimize_ns[objective=greedy,n=1000]"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A project whose record has one session."""
    made = Lab(tmp_path)
    made.sessions(1)
    return made


@pytest.fixture
def full(tmp_path: Path) -> Lab:
    """A project whose record has six sessions."""
    made = Lab(tmp_path)
    made.sessions(6)
    return made


def code(file: RatchetFile, *, strict: bool = False) -> Exit:
    return exit_code(file, strict=strict)


def absent(reason: Reason, why: str = "not here") -> dict[str, Any]:
    gone = {"value": None, "undefined": Undefined(reason, why), "basis": None, "source": None}
    return {**gone, "distribution": None, "numerator": None, "denominator": None, "histogram": None}


def only(run: Run, *kpis: str, layers: tuple[str, ...] = ()) -> Run:
    """The part of ``run`` that a narrower selection would have measured."""
    selection = Selection(all=False, layers=list(layers), kpis=list(kpis), params={}, runtimes=[], workloads=[])
    kept = [reading for reading in run.readings if reading.kpi in kpis or reading.layer.value in layers]
    return replace(run, selection=selection, readings=kept)


# Nothing to compare with


def test_a_machine_without_a_record_is_no_pass(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    file = lab.check(lab.run())
    assert (file.verdict.state, file.rows) == (VerdictState.UNKNOWN, [])
    assert SLUG in file.notes[0]
    assert "ratchet accept" in file.notes[0]
    assert code(file) is code(file, strict=True) is Exit.NO_BASELINE


def test_another_machines_record_is_named(lab: Lab) -> None:
    run = lab.run()
    file = lab.check(replace(run, machine=replace(run.machine, slug="another-box")))
    assert SLUG in file.notes[0]
    assert code(file) is Exit.NO_BASELINE


@pytest.mark.parametrize("field", ["kernel", "cpu_model", "cores", "cpu_flags_sha256", "architecture"])
def test_a_time_belongs_to_its_processor_and_kernel(lab: Lab, field: str) -> None:
    file = lab.check(lab.run(1, facts={field: "other"}))
    assert f"{field} differs" in row_of(file, SPAWN).evidence[0]
    assert row_of(file, SPAWN).state is State.NO_BASELINE
    assert row_of(file, "denies").state is State.OK
    assert code(file) is Exit.NO_BASELINE


@pytest.mark.parametrize("field", ["python", "implementation", "dependencies_sha256"])
def test_a_count_belongs_to_its_interpreter_and_dependencies(lab: Lab, field: str) -> None:
    file = lab.check(lab.run(1, facts={field: "other"}))
    assert states(file) == {State.NO_BASELINE}
    assert all(f"{field} differs" in row.evidence[0] for row in file.rows)
    assert code(file) is Exit.NO_BASELINE


def test_what_a_fingerprint_does_not_name_does_not_matter(lab: Lab) -> None:
    assert code(lab.check(lab.run(1, facts={"clocksource": "hpet", "libc": "musl"}))) is Exit.OK


# Counts


def test_an_unchanged_run_passes_on_its_counts(lab: Lab) -> None:
    file = lab.check(lab.run(1))
    assert states(file) == {State.OK, State.THIN}
    assert file.verdict.state is VerdictState.PASS
    assert code(file) is Exit.OK
    assert code(file, strict=True) is Exit.FAILED  # thin rows are not enough for whoever is strict


@pytest.mark.parametrize(
    ("name", "value"),
    [("engine_calls", 13), ("turns_saved[kind=all]", 11), ("denies", 11), ("vdso_hit_rate[arm=isolated]", 0.74)],
)
def test_a_count_that_is_worse_by_one_fails(lab: Lab, name: str, value: float) -> None:
    file = lab.check(lab.run(1, {name: value}))
    assert row_of(file, name).state is State.REGRESSED
    assert file.verdict.by == (name,)
    assert file.verdict.basis is VerdictBasis.POLICY_GATE
    assert code(file) is Exit.FAILED


def test_a_better_count_passes_and_says_so(lab: Lab) -> None:
    file = lab.check(lab.run(1, {"engine_calls": 11}))
    assert row_of(file, "engine_calls").state is State.IMPROVED
    assert code(file) is Exit.OK


def test_a_broken_invariant_fails(lab: Lab) -> None:
    name = next(name for name, point in lab.points.items() if point.kpi.gate is Gate.INVARIANT)
    assert code(lab.check(lab.run(1, {name: 0}))) is Exit.FAILED


def test_a_histogram_that_shifts_fails(lab: Lab) -> None:
    name = "verdict_reason_distribution"
    file = lab.check(lab.run(1, changed={name: {"histogram": {"allow": 7, "deny": 5}}}))
    assert row_of(file, name).state is State.REGRESSED
    assert code(file) is Exit.FAILED


# Coverage


def renamed(catalog: Catalog, old: str, new: str, aliases: tuple[str, ...] = ()) -> Catalog:
    kpis = tuple(replace(kpi, id=new, aliases=aliases) if kpi.id == old else kpi for kpi in catalog)
    return Catalog(kpis, catalog.seams)


def wired_as(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every KPI has a probe, whatever it is called."""
    monkeypatch.setattr("harness.jobs.plan.wired", lambda _kpi: True)
    monkeypatch.setattr("harness.jobs.wired.wired", lambda _kpi: True)


def test_a_renamed_kpi_is_not_covered(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wired_as(monkeypatch)
    before = Lab(tmp_path)
    before.accept(before.run(0))
    after = Lab(tmp_path, renamed(lab.catalog, "denies", "refusals"))
    file = after.check(after.run(1))
    assert row_of(file, "denies").state is State.REMOVED
    assert row_of(file, "refusals").state is State.NEW
    assert {"denies", "refusals"} <= {*file.coverage.missing}
    assert file.verdict.state is VerdictState.UNKNOWN
    assert code(file) is Exit.UNCOVERED


def test_under_an_alias_it_is(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wired_as(monkeypatch)
    before = Lab(tmp_path)
    before.accept(before.run(0))
    after = Lab(tmp_path, renamed(lab.catalog, "denies", "refusals", ("denies",)))
    file = after.check(after.run(1))
    assert row_of(file, "refusals").state is State.OK
    assert row_of(file, "refusals").evidence[-1] == "on record as denies"
    assert code(file) is Exit.OK
    worse = after.check(after.run(1, {"refusals": 13}))
    assert code(worse) is Exit.FAILED
    after.accept(after.run(2))
    assert "[kpi.refusals]" in after.bytes()[f"{SLUG}/syscall.toml"].decode()
    assert "[kpi.denies]" not in after.bytes()[f"{SLUG}/syscall.toml"].decode()
    assert code(after.check(after.run(3))) is Exit.OK


def test_one_kpi_under_two_names_is_refused(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wired_as(monkeypatch)
    both = renamed(lab.catalog, "denies", "refusals", ("denies",))
    path = tmp_path / "baselines" / SLUG / "syscall.toml"
    text = path.read_text()
    start = text.index("[kpi.denies]")
    table = text[start : text.index("[kpi.", start + 1)]
    path.write_text(text + "\n" + table.replace("[kpi.denies]", "[kpi.refusals]"))
    with pytest.raises(BaselineError, match="one KPI under two names"):
        after = Lab(tmp_path, both)
        after.check(after.run(1))


def test_a_row_that_the_run_lost_is_missing(lab: Lab) -> None:
    file = lab.check(lab.run(1, without=("denies",)))
    assert row_of(file, "denies").state is State.REMOVED
    assert code(file) is Exit.UNCOVERED


def test_a_kpi_that_turned_into_a_report_is_missing(lab: Lab, tmp_path: Path) -> None:
    softer = Catalog(
        tuple(replace(kpi, gate=Gate.REPORT) if kpi.id == "denies" else kpi for kpi in lab.catalog), lab.catalog.seams
    )
    after = Lab(tmp_path, softer)
    file = after.check(after.run(1))
    assert row_of(file, "denies").state is State.REMOVED
    assert code(file) is Exit.UNCOVERED


def test_what_was_not_asked_for_is_counted_and_not_missed(lab: Lab) -> None:
    file = lab.check(only(lab.run(1), "denies", "engine_calls"))
    assert {row.name for row in file.rows} == {"denies", "engine_calls"}
    assert file.unselected == len(lab.points) - 2
    assert code(file) is Exit.OK
    lost = only(lab.run(1, without=("denies",)), "denies", "engine_calls")
    assert code(lab.check(lost)) is Exit.UNCOVERED


def test_a_layer_is_a_selection_too(lab: Lab) -> None:
    file = lab.check(only(lab.run(1), layers=("turn",)))
    assert {row.name for row in file.rows} == {
        name for name, point in lab.points.items() if point.kpi.layer.value == "turn"
    }
    assert code(file) is Exit.OK


def test_nothing_selected_is_no_pass(lab: Lab) -> None:
    report = next(kpi.id for kpi in lab.catalog if kpi.gate is Gate.REPORT)
    assert code(lab.check(only(lab.run(1), report))) is Exit.UNCOVERED


def test_what_the_runtime_never_offered_is_not_owed(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    without = {"denies": absent(Reason.NOT_OFFERED, "no such seam")}
    lab.accept(lab.run(0, changed=without))
    file = lab.check(lab.run(1, changed=without))
    assert row_of(file, "denies").state is State.NEW
    assert row_of(file, "denies").evidence == ["no such seam"]
    assert code(file) is Exit.OK
    assert "denies" not in {name for _, name, _ in lab.record().rows}


def test_what_it_offers_no_more_is_missing(lab: Lab) -> None:
    file = lab.check(lab.run(1, changed={"denies": absent(Reason.NOT_OFFERED)}))
    assert row_of(file, "denies").state is State.REMOVED
    assert code(file) is Exit.UNCOVERED


def test_a_number_that_failed_is_void(lab: Lab) -> None:
    file = lab.check(lab.run(1, changed={"turns_saved[kind=all]": absent(Reason.ERROR, "it broke")}))
    assert row_of(file, "turns_saved[kind=all]").state is State.VOID
    assert code(file) is Exit.UNKNOWN
    assert code(file, strict=True) is Exit.FAILED
    critical = next(name for name, point in lab.points.items() if point.kpi.critical)
    assert code(lab.check(lab.run(1, changed={critical: absent(Reason.ERROR)}))) is Exit.FAILED


# Times


def test_with_sessions_enough_a_slowdown_fails(full: Lab) -> None:
    file = full.check(full.run(8, {SPAWN: 9500.0}))
    row = row_of(file, SPAWN)
    assert row.state is State.REGRESSED
    assert row.beyond is not None
    assert row.ratio is not None
    assert row.ratio > 1 + row.beyond
    assert (file.verdict.basis, file.verdict.by) == (VerdictBasis.DETECTOR_VETO, (SPAWN,))
    assert code(file) is Exit.FAILED


def test_below_what_it_can_see_nothing_fails_and_it_says_how_much_that_is(full: Lab) -> None:
    file = full.check(full.run(8))
    timed = [row for row in file.rows if full.points[row.name].kpi.estimand.timed]
    assert {row.state for row in timed} <= {State.OK, State.WITHIN, State.IMPROVED}
    assert all(row.beyond is not None and row.smallest_visible is not None for row in timed)
    assert code(file) is code(file, strict=True) is Exit.OK


def test_a_slowdown_on_a_thin_record_is_told_and_gates_nothing(lab: Lab) -> None:
    file = lab.check(lab.run(1, {SPAWN: 9500.0}))
    row = row_of(file, SPAWN)
    assert (row.state, row.decides) == (State.THIN, False)
    assert row.ratio is not None
    assert row.ratio > 1.5
    assert code(file) is Exit.OK


def test_runs_of_one_day_and_boot_are_one_session(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    for seed in range(6):
        lab.accept(lab.run(0, seed=seed))
    assert row_of(lab.check(lab.run(1)), SPAWN).sessions == 1
    for boot in "bcde":
        lab.accept(lab.run(0, seed=ord(boot), boot=boot * 6))
    assert row_of(lab.check(lab.run(1)), SPAWN).sessions == 5


def test_a_record_of_thin_rows_alone_is_too_thin_to_judge(lab: Lab) -> None:
    file = lab.check(only(lab.run(1), "turn_spawn_ns"))
    assert {row.state for row in file.rows} == {State.THIN}
    assert code(file) is Exit.NO_BASELINE
    assert code(file, strict=True) is Exit.FAILED


def test_a_record_twice_too_loose_is_refused(full: Lab) -> None:
    file = full.check(full.run(8, {SPAWN: 2000.0}))
    row = row_of(file, SPAWN)
    assert row.state is State.NO_BASELINE
    assert "times looser than what is measured" in row.evidence[0]
    assert code(file) is Exit.NO_BASELINE


def test_a_thin_record_can_be_too_loose_as_well(lab: Lab) -> None:
    assert row_of(lab.check(lab.run(1, {SPAWN: 2000.0})), SPAWN).state is State.NO_BASELINE


def quick(run: Run) -> Run:
    return replace(run, mode=Mode.QUICK)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"isolation": "mock"}, "another isolation: the engine was noop then and is mock now"),
        (
            {"value": 5000.0, "distribution": Distribution("process values", 11, 5000.0, None, None, None)},
            "with other loops: 12 processes on record, 11 in this run",
        ),
    ],
)
def test_a_time_taken_otherwise_is_refused(full: Lab, changes: Mapping[str, Any], said: str) -> None:
    file = full.check(full.run(8, changed={SPAWN: changes}))
    assert row_of(file, SPAWN).state is State.NO_BASELINE
    assert said in row_of(file, SPAWN).evidence[0]
    assert code(file) is Exit.NO_BASELINE


@pytest.mark.parametrize("mode", [Mode.QUICK, Mode.FULL, Mode.BUDGET])
def test_another_effort_is_refused_for_times_and_not_for_counts(full: Lab, mode: Mode) -> None:
    file = full.check(full.run(8, mode=mode))
    assert "another effort: default on record" in row_of(file, SPAWN).evidence[0]
    assert row_of(file, "denies").state is State.OK
    assert code(file) is Exit.NO_BASELINE


def test_another_workload_is_refused(lab: Lab) -> None:
    run = lab.run(1)
    work = {name: replace(record, sha256="ef" * 32) for name, record in run.workloads.items()}
    file = lab.check(replace(run, workloads=work))
    assert "it was recorded on another workload" in row_of(file, "denies").evidence[0]
    assert code(file) is Exit.NO_BASELINE


def test_another_unit_is_refused(lab: Lab, tmp_path: Path) -> None:
    other = Catalog(
        tuple(replace(kpi, unit=Unit.TOK) if kpi.id == "denies" else kpi for kpi in lab.catalog), lab.catalog.seams
    )
    after = Lab(tmp_path, other)
    assert "unit differs: count on record, tok in this run" in row_of(after.check(after.run(1)), "denies").evidence
    turned = Catalog(
        tuple(replace(kpi, direction=Direction.LOWER) if kpi.id == "denies" else kpi for kpi in lab.catalog),
        lab.catalog.seams,
    )
    stale = Lab(tmp_path, turned).check(lab.run(1))  # measured before the catalog changed
    assert "direction differs: lower in the catalog, neutral in this run" in row_of(stale, "denies").evidence[0]
    assert code(stale) is Exit.NO_BASELINE


# The ruler


def test_on_a_slow_machine_no_time_is_a_regression(full: Lab) -> None:
    file = full.check(full.run(8, factor=1.4, ruler=6e6))
    row = row_of(file, SPAWN)
    assert row.state is State.INCONCLUSIVE
    assert "the machine was slower, not the code" in row.evidence[-1]
    assert file.ruler is not None
    assert file.ruler["sessions"] == 6
    assert code(file) is Exit.UNKNOWN
    assert code(file, strict=True) is Exit.FAILED
    assert code(full.check(full.run(8, factor=1.4))) is Exit.FAILED  # the same times on a machine at its usual speed


def test_a_count_is_the_same_on_a_slow_machine(full: Lab) -> None:
    assert code(full.check(full.run(8, {"denies": 13}, ruler=6e6))) is Exit.FAILED


def test_a_run_without_a_ruler_is_judged_without_it(full: Lab) -> None:
    file = full.check(full.run(8, factor=1.4, ruler=None))
    assert file.ruler is None
    assert code(file) is Exit.FAILED


def test_sessions_without_a_ruler_say_nothing_of_it(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.sessions(6, ruler=None)
    file = lab.check(lab.run(8, factor=1.4, ruler=9e6))
    assert file.ruler is not None
    assert (file.ruler["sessions"], file.ruler["off"]) == (0, None)
    assert code(file) is Exit.FAILED


# Pending rows


def test_a_new_row_waits_thirty_days_for_a_second_session(lab: Lab) -> None:
    on_time = lab.check(lab.run(1), today=DAY + timedelta(days=30))
    assert row_of(on_time, "denies").pending == DAY.isoformat()
    assert code(on_time) is Exit.OK
    late = lab.check(lab.run(1), today=DAY + timedelta(days=31))
    assert row_of(late, "denies").state is State.NO_BASELINE
    assert "pending since 2031-01-01, for more than 30 days" in row_of(late, "denies").evidence[0]
    assert code(late) is Exit.NO_BASELINE
    worse = lab.check(lab.run(1, {"denies": 13}), today=DAY + timedelta(days=31))
    assert code(worse) is Exit.FAILED  # a worse count is a worse count however old the row
    lab.accept(lab.run(1))
    assert code(lab.check(lab.run(2), today=DAY + timedelta(days=31))) is Exit.OK


# The file


def test_the_file_has_every_key_and_the_same_bytes(full: Lab) -> None:
    run = full.run(8)
    blob = encode(full.check(run))
    again = json.loads(encode(full.check(replace(run, readings=run.readings[::-1]))))
    for document in (again, told := json.loads(blob)):
        for claim in document["claims"]:
            del claim["evidence"][0]  # where its reading stands: the other order is another run file
    assert told == again
    assert blob == encode(full.check(run))
    assert b'"schema": "harness.ratchet/1"' in blob
    assert b'"passed": true' in blob


def test_a_run_that_was_cut_off_is_no_whole(lab: Lab) -> None:
    with pytest.raises(BaselineError, match=r"cut off.*--resume"):
        lab.check(lab.run(1, complete=False))


def test_the_newest_run_of_everything_is_taken(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.jobs.ratchet import check

    monkeypatch.setattr("harness.measure.machine.slug", lambda _facts: SLUG)
    folder = tmp_path / ".harness" / "runs"
    folder.mkdir(parents=True)
    with pytest.raises(BaselineError, match="no complete run of everything"):
        check(lab.project, lab.catalog, today=DAY)
    wanted = lab.run(3)
    others = (
        only(lab.run(4), "denies"), lab.run(5, complete=False), quick(lab.run(6)),
        replace(lab.run(7), machine=replace(wanted.machine, slug="another")),
    )  # fmt: skip
    for run in (lab.run(2), wanted, *others):
        (folder / f"{run.id}.json").write_bytes(encode_run(run))
    (folder / "20310109T120000Z-ffffff.json").write_text("{")
    file = check(lab.project, lab.catalog, today=DAY)
    assert file.run is not None
    assert file.run.id == wanted.id
