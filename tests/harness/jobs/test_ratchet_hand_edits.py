"""What a hand or a bad run might do to a record: each is found, and what nobody could read is not written."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from harness.cli.exits import Exit
from harness.cli.ratchet import exit_code
from harness.jobs.ratchet_move import Refusal
from harness.jobs.ratchet_waive import waive
from harness.record.baseline import LONGEST_WAIVER, BaselineFile, Moved, Session, Waiver, different
from harness.record.baseline_read import BaselineError
from harness.record.baselines import Record, encoded, save
from kpis.errors import SelectionError
from kpis.registry import Catalog
from kpis.terms.claim import Confidence, VerdictState
from kpis.terms.comparison import State
from kpis.terms.kpi import Direction, Layer
from tests.harness.jobs.recorded import DAY, SLUG, Lab, row_of
from tests.harness.report.test_ratchet_page import page

SPAWN, HITS = "turn_spawn_ns[phase=all]", "vdso_hit_rate[arm=isolated]"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def changed(lab: Lab, layer: Layer, **parts: object) -> None:
    """The file of ``layer`` with other parts, written past all checks of what may be written."""
    record = lab.record()
    file = replace(record.layers[layer], **parts)  # type: ignore[arg-type]
    save(lab.root, replace(record, layers={**record.layers, layer: file}))


def row_changed(lab: Lab, layer: Layer, name: str, **parts: object) -> None:
    rows = lab.record().layers[layer].rows
    changed(lab, layer, rows={**rows, name: replace(rows[name], **parts)})  # type: ignore[arg-type]


# What the run files say of a row besides its numbers


def test_a_row_that_no_longer_waits_was_edited(lab: Lab) -> None:
    lab.sessions(1)
    row_changed(lab, Layer.SYSCALL, "denies", pending=None)
    with pytest.raises(
        BaselineError, match=r"\[kpi\.denies\] was edited by hand: it is not pending, and no committed run"
    ):
        lab.check(lab.run(1))


def test_a_row_that_waits_for_what_it_has_was_edited(lab: Lab) -> None:
    lab.sessions(2)
    row_changed(lab, Layer.SYSCALL, "denies", pending=DAY)
    with pytest.raises(BaselineError, match="it is pending, and 2 sessions bear it out"):
        lab.check(lab.run(2))


def test_a_row_that_was_borne_out_and_got_better_waits_no_more(lab: Lab) -> None:
    lab.sessions(2)
    lab.accept(lab.run(2, {"engine_calls": 11}))
    row = lab.row("engine_calls")
    assert (row.pending, len(row.sessions)) == (None, 1)
    assert exit_code(lab.check(lab.run(3, {"engine_calls": 11})), strict=False) is Exit.OK
    changed(lab, Layer.SYSCALL, rows={"engine_calls": row})
    (lab.root / "baselines" / SLUG / "turn.toml").unlink()
    assert row_of(lab.check(lab.run(3, {"engine_calls": 11})), "engine_calls").state is State.OK
    for run in (lab.root / "baselines" / SLUG / "runs").iterdir():
        if run.stem != row.sessions[0].run:
            run.write_bytes(b"{}")  # it bears nothing out any more
    with pytest.raises(BaselineError, match="no committed run bears its one session out"):
        lab.check(lab.run(3, {"engine_calls": 11}))


def test_a_row_that_a_person_moved_does_not_wait(lab: Lab) -> None:
    lab.sessions(2)
    lab.accept(lab.run(2, {"engine_calls": 13}), "engine_calls", why="a call more")
    assert lab.row("engine_calls").moved == Moved("a call more", DAY + timedelta(days=2))
    assert exit_code(lab.check(lab.run(3, {"engine_calls": 13})), strict=False) is Exit.OK


@pytest.mark.parametrize(("part", "fact"), [("exact", "python"), ("time", "kernel"), ("time", "cpu_model")])
def test_a_machine_that_is_not_that_of_the_runs_was_edited(lab: Lab, part: str, fact: str) -> None:
    lab.sessions(1)
    file = lab.record().layers[Layer.TURN]
    changed(lab, Layer.TURN, **{part: {**getattr(file, part), fact: "other"}})
    with pytest.raises(
        BaselineError, match=rf"\[fingerprint\.{part}\] was edited by hand: {fact} differs: other on rec"
    ):
        lab.check(lab.run(1, facts={fact: "other"}))
    changed(lab, Layer.TURN, **{part: {**getattr(file, part), "more": "x"}})
    with pytest.raises(BaselineError, match="it holds a fact that no run states"):
        lab.check(lab.run(1))


def test_a_release_holds_no_waiver(lab: Lab) -> None:
    lab.sessions(1)
    lab.accept(lab.run(1), release="v1")
    record = lab.record()
    assert record.release is not None
    rows = record.release.rows
    waived = {**rows, "denies": replace(rows["denies"], waiver=Waiver("so", DAY))}
    save(lab.root, replace(record, release=replace(record.release, rows=waived)))
    with pytest.raises(BaselineError, match=r"release\.toml: \[kpi\.denies\] was edited by hand: it has waiver"):
        lab.check(lab.run(2))


def test_a_waiver_lasts_a_year_at_most(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.measure.machine.slug", lambda _facts: SLUG)
    lab.sessions(1)
    last = DAY + timedelta(days=LONGEST_WAIVER)
    with pytest.raises(SelectionError, match="is more than 366 days ahead; end it on 2032-01-02 or before"):
        waive(lab.project, lab.catalog, ["denies"], why="so", until=last + timedelta(days=1), today=DAY)
    waive(lab.project, lab.catalog, ["denies"], why="so", until=last, today=DAY)
    assert lab.check(lab.run(1), today=DAY).rows
    row_changed(lab, Layer.SYSCALL, "denies", waiver=Waiver("so", date(9999, 12, 31)))
    with pytest.raises(
        BaselineError, match="its waiver holds until 9999-12-31, and the longest one ends on 2032-01-02"
    ):
        lab.check(lab.run(1), today=DAY)
    with pytest.raises(BaselineError, match="its waiver holds until 9999-12-31"):
        lab.accept(lab.run(1), today=DAY)


# Rates, and runs that do not say their boot


def neutral(catalog: Catalog, name: str) -> Catalog:
    kpis = tuple(replace(kpi, direction=Direction.NEUTRAL) if kpi.id == name else kpi for kpi in catalog)
    return Catalog(kpis, catalog.seams)


DOUBLED = {HITS: {"numerator": 600, "denominator": 800}}


def test_an_equal_rate_of_other_counts_is_told(lab: Lab) -> None:
    lab.sessions(2)
    file = lab.check(lab.run(2, changed=DOUBLED))
    row = row_of(file, HITS)
    assert (row.state, row.evidence[-1]) == (State.OK, "made of other counts: 300/400 -> 600/800")
    assert exit_code(file, strict=False) is Exit.OK
    assert f"ok: {HITS}: the same as on record; made of other counts: 300/400 -> 600/800" in page(file, 200)
    assert (HITS, "made of other counts: 300/400 -> 600/800") in lab.accept(lab.run(2, changed=DOUBLED)).moved
    assert lab.row(HITS).denominator == 800
    assert lab.check(lab.run(3, changed=DOUBLED)).verdict.state is VerdictState.PASS


def test_where_no_change_is_right_other_counts_fail(tmp_path: Path) -> None:
    first = Lab(tmp_path)
    lab = Lab(tmp_path, neutral(first.catalog, "vdso_hit_rate"))
    lab.sessions(2)
    assert exit_code(lab.check(lab.run(2)), strict=False) is Exit.OK
    file = lab.check(lab.run(2, changed=DOUBLED))
    assert row_of(file, HITS).state is State.REGRESSED
    assert exit_code(file, strict=False) is Exit.FAILED
    refused = lab.accept(lab.run(2, changed=DOUBLED)).refused
    assert [(name, kind) for name, _, kind in refused] == [(HITS, Refusal.WORSE)]


def test_what_a_rate_is_made_of_is_compared_by_the_newest_run(lab: Lab) -> None:
    made, other = {HITS: {"histogram": {"cache": 200, "table": 100}}}, {HITS: {"histogram": {"cache": 300}}}
    lab.sessions(2, changed=made)
    assert row_of(lab.check(lab.run(2, changed=made)), HITS).evidence == ["0.75 -> 0.75 (higher is better)"]
    file = lab.check(lab.run(2, changed=other))
    assert row_of(file, HITS).evidence[-1] == "the histogram differs: cache 200 -> 300, table 100 -> 0"
    assert exit_code(file, strict=False) is Exit.OK
    strict = Lab(lab.root, neutral(lab.catalog, "vdso_hit_rate"))
    for session in (2, 3):
        strict.accept(strict.run(session, changed=made), "vdso_hit_rate", why="no change of it is right")
    assert exit_code(strict.check(strict.run(4, changed=other)), strict=False) is Exit.FAILED


def test_a_run_without_a_boot_is_no_other_session_of_its_day(lab: Lab) -> None:
    lab.accept(lab.run(0))
    silent = replace(lab.run(0, {SPAWN: 5001.0}), noise={})
    assert lab.accept(silent).written == []
    assert len(lab.row(SPAWN).sessions) == 1
    assert lab.row("denies").pending == DAY
    lab.accept(replace(lab.run(1), noise={}))  # of another day it is one
    assert len(lab.row(SPAWN).sessions) == 2


def test_sessions_of_an_unknown_boot_are_apart_by_their_day_alone() -> None:
    run = "0" * 16
    boots = [(1, "a"), (1, "unknown"), (1, "b"), (2, "unknown"), (2, "a"), (2, "unknown"), (3, "a"), (3, "b")]
    sessions = [Session(date(2031, 1, day), boot, run) for day, boot in boots]
    kept = [(session.day.day, session.boot) for session in different(sessions)]
    assert kept == [(1, "a"), (1, "b"), (2, "unknown"), (3, "a"), (3, "b")]


# What could not be read back is not written


def test_a_record_that_nobody_could_read_is_not_written(lab: Lab) -> None:
    lab.sessions(1)
    before, row = lab.bytes(), lab.row("denies")
    file = lab.record().layers[Layer.SYSCALL]
    for bad, why in (
        (replace(row, moved=Moved(" ", DAY)), "moved.why has to be a text"),
        (replace(row, moved=Moved("\udcff", DAY)), "surrogates not allowed"),
        (replace(row, limit=10**400), "limit does not fit into 64 bits"),
        (replace(row, limit=True), "limit has to be a number"),
        (replace(row, loops=4), "unknown key 'loops'"),
        (replace(row, sessions=(Session(DAY, " ", "0" * 16),)), "boot has to be a text"),
    ):
        record = Record(SLUG, {Layer.SYSCALL: BaselineFile(file.exact, file.time, {"denies": bad})})
        with pytest.raises(BaselineError, match=f"syscall.toml is not written, for nobody could read it: .*{why}"):
            save(lab.root, record, ("0" * 16, b"{}"))
        assert lab.bytes() == before


def test_a_boot_that_is_no_text_costs_nothing_on_record(lab: Lab) -> None:
    with pytest.raises(BaselineError, match=r"is not written, for nobody could read it: .*boot has to be a text"):
        lab.accept(lab.run(0, boot=" "))
    assert lab.bytes() == {}


def test_a_time_without_a_distribution_makes_no_record(lab: Lab) -> None:
    with pytest.raises(BaselineError, match="has no median"):
        lab.accept(lab.run(0, changed={SPAWN: {"distribution": None}}))
    assert lab.bytes() == {}


def test_what_is_written_is_what_the_rows_are(lab: Lab) -> None:
    lab.sessions(2)
    on_disk = lab.bytes()
    assert {f"{SLUG}/{stem}.toml": blob for stem, blob in encoded(lab.record()).items()}.items() <= on_disk.items()


# The last line


def test_a_waived_regression_is_no_clean_and_no_decisive_pass(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.measure.machine.slug", lambda _facts: SLUG)
    lab.sessions(6)
    assert lab.check(lab.run(8)).verdict.passed
    waive(lab.project, lab.catalog, ["engine_calls"], why="known", until=DAY + timedelta(days=40), today=DAY)
    clean = lab.check(lab.run(8))
    assert page(clean).splitlines()[-1].startswith("pass: clean (")  # the waiver was not needed
    file = lab.check(lab.run(8, {"engine_calls": 13}))
    assert file.verdict.confidence is Confidence.MARGINAL
    assert page(file).splitlines()[-1] == "pass: nothing else failed; 1 row waived (marginal)."


def test_thin_rows_make_no_decisive_pass(lab: Lab) -> None:
    lab.sessions(1)
    file = lab.check(lab.run(1))
    assert file.verdict.confidence is Confidence.MARGINAL
    thin = sum(row.state is State.THIN for row in file.rows)
    assert page(file).splitlines()[-1] == f"pass: clean; {thin} rows too thin to judge (marginal)."
