"""What cannot be: times years from all others, an end before its start, a file of another format than was named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.formats.limits import Limits
from harness.jobs.replay_find import find
from harness.jobs.replay_group import sort_files
from harness.jobs.replay_read import read_group
from harness.jobs.replay_sound import LONGEST_RUN_MS, sound
from kpis.formulas.recorded.ledger import ledger_parts
from kpis.formulas.recorded.view import view_of
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Event, EventKind, IssueCode, Recording, Severity, ToolCall, Turn, UserKind
from tests.harness.jobs.session_files import busy, put
from tests.kpis.recorded.runs import call, request, run

NOW = 1_767_225_600_000
ASKED = [request(0, at=NOW), request(1, at=NOW + 60_000)]
TURN = Turn("main", 0, UserKind.HUMAN, NOW - 1_000)


def told(recorded: RecordedRun) -> list[str]:
    assert all(each.severity is Severity.ERROR and each.code is IssueCode.E_BAD_NUMBER for each in recorded.issues)
    return [each.message for each in recorded.issues]


def test_a_sound_run_is_handed_on_as_it_is() -> None:
    recorded = run(ASKED, [call(0, 0, t_start=NOW, t_end=NOW + 900)], turns=[TURN])
    assert sound(recorded) is recorded
    assert sound(run([])).issues == ()


@pytest.mark.parametrize("odd", [1, NOW * 10, NOW + 60_000 + LONGEST_RUN_MS, NOW - 1_000 - LONGEST_RUN_MS])
def test_one_broken_clock_leaves_the_ledger_of_the_others(odd: int) -> None:
    found = sound(run(ASKED, [call(0, 0, t_start=NOW, t_end=odd)], turns=[TURN]))
    assert told(found) == ["A record of a time or a duration years from all others of the run. It was left out."]
    assert (found.issues[0].file, found.issues[0].line) == ("a.jsonl", 2)
    assert (found.calls[0].t_start, found.calls[0].t_end) == (NOW, None)
    assert ledger_parts(view_of(found)).wall == 61_000


def test_times_of_turns_events_files_and_durations_are_held_to_the_same() -> None:
    late = NOW * 10
    found = sound(
        run(
            [*ASKED, request(2, at=NOW + 70_000, duration_ms=10**15)],
            turns=[TURN, Turn("main", 1, UserKind.HUMAN, late)],
            events=[Event(EventKind.HOOK, "main", t=late)],
            recordings=(Recording("test", t_start=NOW, t_end=late, file="a.jsonl"),),
        )
    )
    assert told(found) == ["4 records of a time or a duration years from all others of the run. It was left out."]
    assert ledger_parts(view_of(found)).wall == 71_000


def test_where_half_the_clocks_are_years_from_the_others_none_is_believed() -> None:
    found = sound(run([request(0, at=NOW), request(1, at=1)]))
    assert [each.t_last for each in found.requests] == [None, None]


def test_an_end_before_its_start_is_told_and_clocks_of_two_resolutions_are_not() -> None:
    def spans(start: int, end: int) -> RecordedRun:
        return sound(run(ASKED, [call(0, 0, t_start=start, t_end=end)], turns=[TURN]))

    found = spans(NOW + 5_000, NOW)
    assert told(found) == ["A record that ends before it starts. Both times were left out."]
    one: ToolCall = found.calls[0]
    assert (one.t_start, one.t_end) == (None, None)
    assert told(spans(NOW + 900, NOW)) == []


def test_a_file_none_of_whose_lines_the_named_format_knows_is_no_recording(tmp_path: Path) -> None:
    rows = [{"schema": "loopladder.trace/1", "run_id": "r"}, {"type": "request", "tokens": {"out_total": 5}}]
    put(tmp_path / "own.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    busy().save(tmp_path)
    for name in ("codex", "openai-log", "claude-code"):
        (group,) = sort_files(find([str(tmp_path / "own.jsonl")]), Limits(), name).groups
        found = read_group(group)
        assert (found.threads, found.requests) == ((), ()), name
        assert found.issues[0].code is IssueCode.E_UNKNOWN_FORMAT, name
        assert found.issues[0].message == f"{tmp_path / 'own.jsonl'} holds nothing that the format {name} writes."
