"""The time of runs in words: what is shown adds up, nothing is called zero, and overlap is added to none of it."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.record.replay import RunResult
from harness.report.page import console_on
from harness.report.replay_time import elapsed, render_turns, time_pieces
from kpis.formulas.recorded.evaluate import RunParts, metrics
from kpis.formulas.recorded.ledger import LedgerParts, TurnLedger

SPANS = ("model", "tool", "hook", "approval", "user_idle", "retry", "subagent_wait", "harness", "unattributed")
UNITS = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000}


def ledger(**spent: int) -> LedgerParts:
    overlap = {name: spent.pop(name) for name in ("tool_overlap", "agent_overlap") if name in spent}
    return LedgerParts(wall=sum(spent.values()), runs=1, runs_timed=1, **spent, **overlap)


def pieces(**spent: int) -> list[str]:
    return list(time_pieces(metrics(RunParts(ledger=ledger(**spent)))))


def ms_in(said: str) -> float:
    return sum(float(n) * UNITS[unit] for n, unit in re.findall(r"([\d.]+) (ms|s|min|h)\b", said))


@pytest.mark.parametrize(
    ("ms", "said"),
    [
        (7, "7 ms"), (640, "640 ms"), (500, "0.5 s"), (1_000, "1 s"), (3_500, "3.5 s"), (42_000, "42 s"),
        (185_000, "3 min 05 s"), (7_620_000, "2 h 07 min"),
    ],
)  # fmt: skip
def test_a_time_is_as_exact_as_it_is_short(ms: int, said: str) -> None:
    assert elapsed(ms) == said


def test_half_a_second_is_not_called_nothing() -> None:
    assert pieces(model=6_000, hook=500, tool=3_500) == ["wall 10 s:", "model 6 s", "tool 3.5 s", "hook 0.5 s"]


def test_what_ran_side_by_side_is_two_amounts_and_part_of_none() -> None:
    assert pieces(model=5_000, subagent_wait=17_000, tool_overlap=70_000, agent_overlap=80_000)[-1] == (
        "(in parallel, beyond the wall: tools 1 min 10 s, agents 1 min 20 s)"
    )
    assert pieces(model=5_000, tool_overlap=40) == ["wall 5 s:", "model 5 s"]


@given(st.lists(st.integers(0, 50_000_000), min_size=9, max_size=9))
def test_what_is_shown_adds_up_to_the_wall_that_is_shown(spent: list[int]) -> None:
    wall, *shares = pieces(**dict(zip(SPANS, spent, strict=True)))
    assert ms_in(" ".join(shares)) == pytest.approx(ms_in(wall))


def turns_of(
    *parts: LedgerParts, file: str | None = "desk/a.jsonl", verbose: bool = False, width: int = 80
) -> list[str]:
    turns = tuple(TurnLedger(at, 0, each, file, 7 + at if file else None) for at, each in enumerate(parts))
    run = RunResult("r", "claude-code", (), (), (), (), RunParts(), turns=turns)
    stream = io.StringIO()
    render_turns([run], console_on(stream, width), verbose=verbose)
    return stream.getvalue().splitlines()


def test_the_longest_turns_stand_in_the_order_in_which_they_were() -> None:
    shown = turns_of(*(ledger(model=1_000 * (1 + at % 17), tool=500) for at in range(17)))
    assert [row.split()[0] for row in shown[2:-1]] == [f"desk/a.jsonl:{7 + at}" for at in range(2, 17)]
    assert shown[-1] == "and 2 shorter ones; --verbose names all"
    assert max(map(len, shown)) <= 80
    assert len(turns_of(*[ledger(model=1)] * 17, verbose=True)) == 2 + 17


def test_a_row_of_a_turn_adds_up_and_a_dash_is_none() -> None:
    (row,) = turns_of(ledger(model=6_500, retry=4_000, user_idle=9_500))[2:]
    assert row.split() == ["desk/a.jsonl:7", "20", "s", "6.5", "s", "-", "9.5", "s", "4", "s"]
    (row,) = turns_of(ledger(model=6_500), file=None)[2:]
    assert row.startswith("run r ")


def test_of_a_long_path_the_end_is_kept_and_all_of_it_where_everything_is_asked_for() -> None:
    path = "home/someone/projects/" + "x" * 30 + "/a.jsonl"
    (row,) = turns_of(ledger(model=5), file=path)[2:]
    assert row.startswith("...xx")
    assert "/a.jsonl:7 " in row
    rows = turns_of(ledger(model=5), file=path, verbose=True)[2:]
    assert rows[0] == f"{path}:7"
    assert rows[1].split() == ["5", "ms", "5", "ms", "-", "-", "-"]


def test_of_no_turn_there_is_no_table() -> None:
    assert turns_of() == []


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_two_columns_touch(width: int) -> None:
    parts = LedgerParts(wall=4 * 640_000, model=640_000, tool=640_000, user_idle=640_000, unattributed=640_000)
    stream = io.StringIO()
    run = RunResult("r", "x", (), (), (), (), RunParts(), turns=(TurnLedger(0, 0, parts),))
    render_turns([run], console_on(stream, width), verbose=False)
    row = stream.getvalue().splitlines()[-1]
    assert re.findall(r"\d+ min \d\d s(?: |$)", row) == ["42 min 40 s ", *["10 min 40 s "] * 3, "10 min 40 s"]
