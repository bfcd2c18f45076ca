"""Putting a run on record: what moves, what stays, what is refused; and that nothing is written where nothing moved."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t

from harness.cli.exits import Exit
from harness.cli.ratchet import exit_code
from harness.jobs.ratchet_move import Refusal
from harness.judge.ratchet_limit import LOOSE, first_limit
from harness.record.baseline import MOST_SESSIONS, Moved, Waiver, encode
from harness.record.baseline_read import BaselineError
from harness.record.baselines import Record, load, run_name, save, writing
from harness.record.borne_out import require_borne_out
from harness.record.pointed import Pointed
from harness.record.run import Mode, Run
from kpis.errors import SelectionError
from kpis.terms.comparison import State
from kpis.terms.kpi import Direction, Layer
from tests.conftest import REPO
from tests.harness.jobs.recorded import DAY, SLUG, Lab, row_of

SPAWN = "turn_spawn_ns[phase=all]"


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab(tmp_path)


def edited(lab: Lab, layer: Layer, **rows: object) -> Record:
    """The record with some rows replaced, written as if by hand."""
    record = lab.record()
    file = record.layers[layer]
    changed = replace(record, layers={**record.layers, layer: replace(file, rows={**file.rows, **rows})})
    save(lab.root, changed)
    return changed


def refused(lab: Lab, run: Run, **asked: object) -> dict[str, Refusal]:
    return {name: kind for name, _, kind in lab.accept(run, **asked).refused}  # type: ignore[arg-type]


# Bytes


def test_the_first_accept_writes_every_row_as_pending(lab: Lab) -> None:
    done = lab.accept(lab.run(0))
    assert {name for name, _ in done.moved} == {*lab.points}
    assert {path.name for path in done.written} == {f"{point.kpi.layer.value}.toml" for point in lab.points.values()}
    rows = {name: row for _, name, row in lab.record().rows}
    assert {*rows} == {*lab.points}
    assert {row.pending for row in rows.values()} == {DAY}
    assert rows[SPAWN].limit is None
    assert rows["denies"].limit == 12


def test_the_run_file_is_named_by_its_content_and_comes_first(lab: Lab) -> None:
    run = lab.run(0)
    lab.accept(run)
    name, blob = run_name(run)
    assert lab.bytes()[f"{SLUG}/runs/{name}.json"] == blob
    assert {session.run for _, _, row in lab.record().rows for session in row.sessions} == {name}


def test_accepting_again_writes_nothing(lab: Lab) -> None:
    lab.accept(lab.run(0))
    before = lab.bytes()
    assert lab.accept(lab.run(0), today=DAY + timedelta(days=9)).written == []
    assert lab.bytes() == before
    assert lab.accept(lab.run(0, seed=99)).written == []  # another run of the same day and boot is no new draw
    assert lab.bytes() == before


def test_a_second_session_bears_counts_out_and_a_third_adds_nothing_to_them(lab: Lab) -> None:
    lab.sessions(2)
    assert lab.row("denies").pending is None
    assert len(lab.row("denies").sessions) == 2
    row = lab.row("denies")
    lab.accept(lab.run(2))
    assert lab.row("denies") == row
    assert len(lab.row(SPAWN).sessions) == 3
    assert lab.row(SPAWN).pending is None


def test_rows_keep_their_order_and_others_their_bytes(lab: Lab) -> None:
    lab.sessions(2)
    before = lab.bytes()[f"{SLUG}/turn.toml"].decode().splitlines()
    lab.accept(lab.run(1, {"turns_saved[kind=all]": 13}))
    after = lab.bytes()[f"{SLUG}/turn.toml"].decode().splitlines()
    assert [line for line in after if line.startswith("[kpi")] == [line for line in before if line.startswith("[kpi")]
    lines = {line for line in (*before, *after) if (line in before) != (line in after)}
    assert all("limit" in line or "run = " in line for line in lines)


# What moves


def test_a_better_count_tightens(lab: Lab) -> None:
    lab.sessions(2)
    done = lab.accept(lab.run(2, {"engine_calls": 11}))
    assert ("engine_calls", "12 -> 11 (lower is better): tightened") in done.moved
    assert lab.row("engine_calls").limit == 11
    assert exit_code(lab.check(lab.run(3)), strict=False) is Exit.FAILED  # twelve is worse now


def test_a_worse_count_is_refused_until_somebody_names_it(lab: Lab) -> None:
    lab.sessions(2)
    before = lab.bytes()
    worse = lab.run(1, {"engine_calls": 13})
    assert refused(lab, worse) == {"engine_calls": Refusal.WORSE}
    assert lab.bytes() == before
    done = lab.accept(worse, "engine_calls", why="a call more, for safety")
    assert done.refused == []
    row = lab.row("engine_calls")
    assert (row.limit, row.moved) == (13, Moved("a call more, for safety", DAY + timedelta(days=1)))
    check = lab.check(lab.run(2, {"engine_calls": 13}))
    assert row_of(check, "engine_calls").moved == {"why": "a call more, for safety", "on": "2031-01-02"}
    lab.accept(lab.run(3, {"engine_calls": 12}))
    assert lab.row("engine_calls").moved is None  # it has been made good


def test_naming_one_row_moves_no_other(lab: Lab) -> None:
    lab.sessions(2)
    worse = lab.run(2, {"engine_calls": 13, "transforms": 13, "turns_saved[kind=all]": 14})
    lab.accept(worse, "engine_calls", why="so")
    assert lab.row("engine_calls").limit == 13
    assert lab.row("transforms").limit == 12
    assert lab.row("turns_saved[kind=all]").limit == 12
    assert len(lab.row(SPAWN).sessions) == 2


def test_names_that_name_nothing_are_refused(lab: Lab) -> None:
    lab.sessions(1)
    with pytest.raises(SelectionError, match=r"engine_cals is neither .*\(did you mean engine_calls\?\)"):
        lab.accept(lab.run(1), "engine_cals", why="so")
    with pytest.raises(SelectionError, match="--why is for rows that are named"):
        lab.accept(lab.run(1), why="so")
    with pytest.raises(SelectionError, match="--afresh begins rows again, so it needs a reason"):
        lab.accept(lab.run(1), afresh=True)


def test_the_fifth_session_sets_the_limit_that_five_support(lab: Lab) -> None:
    lab.sessions(4)
    assert lab.row(SPAWN).limit is None
    lab.accept(lab.run(4))
    row = lab.row(SPAWN)
    assert row.limit == first_limit(row.medians, Direction.LOWER)
    assert row.limit is not None
    assert row.limit > max(row.medians)
    lab.accept(lab.run(5))
    assert lab.row(SPAWN).limit == row.limit
    assert len(lab.row(SPAWN).sessions) == 6


def test_a_slower_session_never_loosens_a_limit(lab: Lab) -> None:
    lab.sessions(5)
    row = lab.row(SPAWN)
    assert row.limit is not None
    past = lab.run(6, {SPAWN: row.limit * 1.0001})
    state = row_of(lab.check(past), SPAWN).state
    assert refused(lab, past) == {SPAWN: Refusal.WORSE if state is State.REGRESSED else Refusal.LIMIT}
    assert lab.row(SPAWN) == row
    far = lab.run(7, {SPAWN: row.limit * 1.5})
    assert refused(lab, far)[SPAWN] is Refusal.WORSE
    assert lab.row(SPAWN) == row


def test_a_thin_row_does_not_double_in_silence(lab: Lab) -> None:
    lab.sessions(2)
    assert refused(lab, lab.run(2, {SPAWN: 12_000.0})) == {SPAWN: Refusal.WORSE}
    assert len(lab.row(SPAWN).sessions) == 2


def test_a_time_tightens_by_the_least_that_is_supported(lab: Lab) -> None:
    lab.sessions(6)
    before = lab.row(SPAWN)
    fast = lab.run(6, {SPAWN: 3500.0})
    found = row_of(lab.check(fast), SPAWN)
    assert found.state is State.IMPROVED
    said = dict(lab.accept(fast).moved)[SPAWN]
    after = lab.row(SPAWN)
    assert before.limit is not None
    assert after.limit is not None
    assert found.alpha is not None
    assert found.ratio is not None
    reach = float(t.ppf(1 - found.alpha, 5)) * float(np.std(np.log(before.medians), ddof=1)) * math.sqrt(1 + 1 / 6)
    gain = -math.log(found.ratio) - reach
    assert 0 < gain < -math.log(found.ratio)  # less than the point estimate
    assert after.limit == pytest.approx(before.limit * math.exp(-gain))
    assert f"by at least {100 * -math.expm1(-gain):.1f} %" in said
    assert [session.median for session in after.sessions] == [3500.0]
    assert row_of(lab.check(lab.run(7, {SPAWN: 3510.0})), SPAWN).state is State.THIN


def test_a_carried_limit_stays_the_tightest(lab: Lab) -> None:
    lab.sessions(6)
    lab.accept(lab.run(6, {SPAWN: 3500.0}))
    carried = lab.row(SPAWN).limit
    for session in range(7, 11):
        lab.accept(lab.run(session, {SPAWN: 3500.0 + session}))
    row = lab.row(SPAWN)
    first = first_limit(row.medians, Direction.LOWER)
    assert carried is not None
    assert first is not None
    assert row.limit == min(carried, first)


def test_a_time_twice_as_good_begins_again(lab: Lab) -> None:
    lab.sessions(3)
    lab.accept(lab.run(3, {SPAWN: 1000.0}))
    assert [session.median for session in lab.row(SPAWN).sessions] == [1000.0]
    lab.sessions(6)
    assert exit_code(lab.check(lab.run(9, {SPAWN: 1001.0})), strict=False) is Exit.OK


def test_a_carried_limit_is_at_most_twice_its_session(lab: Lab) -> None:
    for session, value in enumerate((5000.0, 8000.0, 3500.0, 6000.0, 4500.0)):
        lab.accept(lab.run(session, {SPAWN: value}))
    assert (lab.row(SPAWN).limit or 0) > 2 * 5000
    lab.accept(lab.run(6, {SPAWN: 500.0}))
    assert lab.row(SPAWN).limit == 500.0 * LOOSE
    lab.check(lab.run(7))


def test_a_slower_time_moves_where_it_is_named(lab: Lab) -> None:
    lab.sessions(6)
    lab.accept(lab.run(6, {SPAWN: 9000.0}), SPAWN, why="it does more now")
    row = lab.row(SPAWN)
    assert [session.median for session in row.sessions] == [9000.0]
    assert (row.limit, row.moved) == (None, Moved("it does more now", DAY + timedelta(days=6)))


def test_a_row_keeps_twenty_sessions_and_the_five_of_its_limit(lab: Lab) -> None:
    lab.sessions(5)
    first = lab.row(SPAWN).sessions
    for session in range(5, 26):
        lab.accept(lab.run(session, seed=session % 5))
    row = lab.row(SPAWN)
    assert len(row.sessions) == MOST_SESSIONS
    assert row.sessions[:5] == first
    assert row.sessions[-1].day == DAY + timedelta(days=25)
    assert lab.check(lab.run(30)).rows  # and its runs still bear it out


def test_a_slow_machine_adds_no_time(lab: Lab) -> None:
    lab.sessions(6)
    row = lab.row(SPAWN)
    slow = lab.run(7, {"engine_calls": 11}, ruler=6e6, factor=1.2)
    kinds = refused(lab, slow)
    assert kinds[SPAWN] is Refusal.SLOW
    assert lab.row(SPAWN) == row
    assert lab.row("engine_calls").limit == 11


def test_a_quick_run_makes_no_record(lab: Lab) -> None:
    for mode in (Mode.QUICK, Mode.BUDGET):
        with pytest.raises(BaselineError, match=f"--{mode.value}, and a record needs a default or full run"):
            lab.accept(lab.run(0, mode=mode))
    with pytest.raises(BaselineError, match="cut off"):
        lab.accept(lab.run(0, complete=False))
    assert load(lab.root, SLUG) is None


def test_another_effort_begins_again_only_where_it_is_named(lab: Lab) -> None:
    lab.sessions(2)
    full = lab.run(2, mode=Mode.FULL)
    assert refused(lab, full)[SPAWN] is Refusal.UNLIKE
    lab.accept(full, SPAWN, why="longer runs from now on")
    assert (lab.row(SPAWN).mode, len(lab.row(SPAWN).sessions)) == (Mode.FULL, 1)


# Rows that go


def test_a_row_leaves_the_record_only_by_its_name(lab: Lab) -> None:
    lab.sessions(1)
    row = lab.row("denies")
    edited(lab, Layer.SYSCALL, denials=row)
    file = lab.check(lab.run(1))
    assert row_of(file, "denials").state is State.REMOVED
    assert "rests on a run without a number of it" in row_of(file, "denials").evidence[-1]
    assert exit_code(file, strict=False) is Exit.UNCOVERED
    assert refused(lab, lab.run(1)) == {"denials": Refusal.GONE}
    lab.accept(lab.run(1), "denials", why="it was never measured")
    assert exit_code(lab.check(lab.run(2)), strict=False) is Exit.OK


def test_a_kpi_that_has_left_the_catalog_is_taken_off_by_name(lab: Lab, tmp_path: Path) -> None:
    lab.sessions(1)
    fewer = replace(lab.catalog, kpis=tuple(kpi for kpi in lab.catalog if kpi.id != "denies"))
    after = Lab(tmp_path, fewer)
    run = after.run(1)
    assert refused(after, run) == {"denies": Refusal.GONE}
    after.accept(run, "denies", why="nobody read it")
    assert "denies" not in {name for _, name, _ in after.record().rows}
    assert exit_code(after.check(after.run(2)), strict=False) is Exit.OK


def test_what_the_run_does_not_hold_is_told(lab: Lab) -> None:
    assert refused(lab, lab.run(0, without=("denies", SPAWN))) == {"denies": Refusal.GONE, SPAWN: Refusal.GONE}
    file = lab.check(lab.run(0, without=("denies", SPAWN)))
    assert "neither on record nor in this run" in row_of(file, "denies").evidence[0]
    assert exit_code(file, strict=False) is Exit.UNCOVERED


# Waivers


def test_an_ended_waiver_goes_with_its_need(lab: Lab) -> None:
    lab.sessions(2)
    row = lab.row("engine_calls")
    waiver = Waiver("known", DAY + timedelta(days=3))
    edited(lab, Layer.SYSCALL, engine_calls=replace(row, waiver=waiver))
    lab.accept(lab.run(2))
    assert lab.row("engine_calls").waiver == waiver  # it still runs
    assert refused(lab, lab.run(9, {"engine_calls": 13})) == {"engine_calls": Refusal.WORSE}
    assert lab.row("engine_calls").waiver == waiver  # it is needed
    lab.accept(lab.run(10))
    assert lab.row("engine_calls").waiver is None


# Hand edits, and files that are not what they were


def only_row(lab: Lab, name: str, layer: Layer, **changes: object) -> None:
    edited(lab, layer, **{name: replace(lab.row(name), **changes)})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "layer", "changes", "said"),
    [
        ("engine_calls", Layer.SYSCALL, {"limit": 99}, "its limit is 99 and its run says 12"),
        (SPAWN, Layer.TURN, {"limit": 99_999.0}, r"its limit 99999\.0 is looser than its sessions support"),
        (SPAWN, Layer.TURN, {"limit": 10.0}, r"its limit 10\.0 is tighter than its best session"),
        ("engine_calls", Layer.SYSCALL, {"direction": Direction.HIGHER}, "says direction higher and its run lower"),
        ("engine_calls", Layer.SYSCALL, {"workload": "ef" * 32}, "workload has another digest in its run"),
        (SPAWN, Layer.TURN, {"isolation": "mock"}, "says isolation mock and its run noop"),
        (SPAWN, Layer.TURN, {"mode": Mode.FULL}, "says mode full and its run default"),
        (
            "verdict_reason_distribution",
            Layer.SYSCALL,
            {"histogram": {"allow": 6, "deny": 6}},
            "histogram differs from that of its run",
        ),
        ("vdso_hit_rate[arm=isolated]", Layer.SYSCALL, {"numerator": 3, "denominator": 4}, "its numerator is 3"),
    ],
)
def test_what_its_own_run_does_not_bear_out_was_edited(
    lab: Lab, name: str, layer: Layer, changes: dict[str, object], said: str
) -> None:
    lab.sessions(6)
    only_row(lab, name, layer, **changes)
    with pytest.raises(BaselineError, match=said) as caught:
        lab.check(lab.run(7))
    assert f"[kpi.{name}] was edited by hand" in str(caught.value)
    assert "git checkout -- baselines" in str(caught.value)
    with pytest.raises(BaselineError, match=said):
        lab.accept(lab.run(7))


@pytest.mark.parametrize(
    "changes",
    [{"median": 1.0}, {"n": 25}, {"day": date(2030, 1, 1)}, {"boot": "ffffff"}],
    ids=("median", "n", "day", "boot"),
)
def test_a_session_that_its_run_does_not_bear_out(lab: Lab, changes: dict[str, object]) -> None:
    lab.sessions(6)
    first, *others = lab.row(SPAWN).sessions
    only_row(lab, SPAWN, Layer.TURN, sessions=(replace(first, **changes), *others))  # type: ignore[arg-type]
    with pytest.raises(BaselineError, match=f"a session says {next(iter(changes))}"):
        lab.check(lab.run(7))


def test_a_missing_run_file_is_named_with_what_needs_it(lab: Lab) -> None:
    lab.sessions(1)
    path = next((lab.root / "baselines" / SLUG / "runs").iterdir())
    path.unlink()
    with pytest.raises(BaselineError, match=r"syscall\.toml: \[kpi\..*it is missing; bring it back with `git checkout"):
        lab.check(lab.run(1))


@pytest.mark.parametrize("cut", [0, 100, -2])
def test_a_run_file_that_was_cut_short_is_named(lab: Lab, cut: int) -> None:
    lab.sessions(1)
    path = next((lab.root / "baselines" / SLUG / "runs").iterdir())
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(BaselineError, match="cut short or edited"):
        lab.check(lab.run(1))


def test_an_old_run_file_without_ruler_and_boot_stays_readable(lab: Lab) -> None:
    old = lab.run(0, ruler=None)
    old = replace(old, noise={"before": {}, "after": {}})
    lab.accept(old)
    assert lab.row("denies").sessions[0].boot == "unknown"
    assert exit_code(lab.check(lab.run(1)), strict=False) is Exit.OK


# Two writers, and many rows


def test_a_second_writer_is_turned_away_and_changes_nothing(lab: Lab) -> None:
    lab.sessions(1)
    before = lab.bytes()
    with writing(lab.root), pytest.raises(BaselineError, match=r"Somebody else is writing the record .*process \d+"):
        lab.accept(lab.run(1))
    assert lab.bytes() == before
    lab.accept(lab.run(1))
    assert lab.bytes() != before


def test_two_processes_at_once_leave_a_record_that_holds(lab: Lab) -> None:
    """Each of them wrote all of its session, or was turned away and said so."""
    lab.sessions(1)
    script = (
        "import sys; from datetime import date; from pathlib import Path\n"
        "from tests.harness.jobs.recorded import Lab\n"
        "from harness.record.baseline_read import BaselineError\n"
        "lab = Lab(Path(sys.argv[1])); day = int(sys.argv[2])\n"
        "lab.file = lambda run, name='': Lab.file(lab, run, f'run-{day}.json')\n"
        "try:\n    lab.accept(lab.run(day))\nexcept BaselineError as error:\n    print(error); sys.exit(9)\n"
    )
    words = [sys.executable, "-c", script, str(lab.root)]
    running = [subprocess.Popen([*words, str(day)], cwd=REPO, stdout=subprocess.PIPE, text=True) for day in (1, 2, 3)]
    ends = [(each.communicate()[0], each.returncode) for each in running]
    assert all(code == 0 or (code == 9 and "Somebody else" in said) for said, code in ends)
    written = [day for day, (_, code) in zip((1, 2, 3), ends, strict=True) if code == 0]
    assert {session.day for session in lab.row(SPAWN).sessions} == {DAY + timedelta(days=day) for day in (0, *written)}
    assert lab.check(lab.run(7)).rows


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch, *places: str) -> Iterator[dict[str, int]]:
    """How often each function was called."""
    import importlib

    calls = dict.fromkeys(places, 0)
    for place in places:
        module, _, name = place.rpartition(".")
        real = getattr(importlib.import_module(module), name)

        def spy(*args: object, _place: str = place, _real: object = real, **more: object) -> object:
            calls[_place] += 1
            return _real(*args, **more)  # type: ignore[operator]

        monkeypatch.setattr(place, spy)
    yield calls


def test_ten_thousand_rows_cost_one_reading_of_each_run(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: run files read and naming done grow with the rows, and nothing with their square."""
    run = lab.run(0)
    lab.accept(run)
    record = lab.record()
    file = record.layers[Layer.SYSCALL]
    row = file.rows["denies"]
    base = next(reading for reading in run.readings if reading.kpi == "denies")
    many = {f"denies runtime=r{n}": row for n in range(10_000)}
    wide = replace(run, readings=[*run.readings, *(replace(base, runtime=f"r{n}") for n in range(10_000))])
    name, blob = run_name(wide)
    rows = {**file.rows, **many}
    moved = {key: replace(each, sessions=(replace(each.sessions[0], run=name),)) for key, each in rows.items()}
    wider = replace(record, layers={Layer.SYSCALL: replace(file, rows=moved)})
    named: list[int] = []

    def of_reading(reading: object) -> str:
        named.append(1)
        return lab.names.of_reading(reading)  # type: ignore[arg-type]

    read: list[str] = []

    def reader(run_file: str) -> bytes:
        read.append(run_file)
        return blob

    pointed = Pointed(SLUG, reader, of_reading)
    require_borne_out(wider, pointed, lab.names.canonical)
    assert read == [name]
    assert len(named) == len(wide.readings)
    with counted(monkeypatch, "harness.judge.ratchet_row.shift_of", "harness.judge.ratchet.holm_level") as calls:
        from harness.judge.ratchet import judge_timed
        from harness.judge.ratchet_row import TimedRow

        timed = {n: TimedRow((1.0, 1.01, 0.99, 1.02, 0.98), (1.0,), Direction.LOWER) for n in range(10_000)}
        assert len(judge_timed(timed)) == 10_000
    assert calls == {"harness.judge.ratchet_row.shift_of": 10_000, "harness.judge.ratchet.holm_level": 2}
    assert len(encode(wider.layers[Layer.SYSCALL]).splitlines()) > 100_000
