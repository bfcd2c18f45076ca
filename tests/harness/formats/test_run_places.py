"""A session that moves to another folder or branch on its way: each answer belongs to where it was given."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.formats.claude_run import ClaudeCodeRun
from harness.formats.claude_run_places import Places
from kpis.formulas.recorded.carried import carried_parts
from kpis.formulas.recorded.view import view_of
from kpis.prices import shipped_prices
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Place

from .run_reading import read_files
from .runs import answer, call, prompt
from .test_codex_run import MAIN, Rollout, read


def session(*here: tuple[str | None, str | None]) -> bytes:
    """One answer in each place (folder, branch); a None is not written."""
    lines = [prompt("u", None, 0)]
    for at, (cwd, branch) in enumerate(here):
        said: dict[str, Any] = {"cwd": cwd, "gitBranch": branch}
        kept = {key: value for key, value in said.items() if value is not None}
        lines.append(answer(f"a{at}", "u", f"m{at}", at + 1, fresh=10, **kept))
    return b"".join(lines)


def requests_by(run: RecordedRun, key: str) -> dict[str, int]:
    found = carried_parts(view_of(run), shipped_prices(), key)
    return {name: row.calls for name, row in found.rows.items()}


def told(*files: bytes) -> RecordedRun:
    return read_files(ClaudeCodeRun(), {f"s{at}.jsonl": data for at, data in enumerate(files)})


MOVES = (("/p", "main"), ("/p", "feature"), ("/p", "feature"), ("/q", "feature"), ("/p", "main"))


def test_each_answer_is_of_its_own_branch_and_folder() -> None:
    run = told(session(*MOVES))
    assert requests_by(run, "branch") == {"main": 2, "feature": 3}
    assert requests_by(run, "project") == {"/p": 4, "/q": 1}
    (recording,) = run.recordings
    assert [place.line for place in recording.places] == [3, 5, 6]


def test_a_session_that_stays_names_no_change() -> None:
    (recording,) = told(session(*[("/p", "main")] * 3)).recordings
    assert (recording.project, recording.branch, recording.places) == ("/p", "main", ())
    first = prompt("u0", None, 0, cwd="/p", gitBranch="main")
    (recording,) = told(first + session(*[("/p", "main")] * 3)).recordings
    assert (recording.project, recording.branch, recording.places) == ("/p", "main", ())


def test_what_a_line_leaves_out_goes_on_and_an_empty_branch_is_none() -> None:
    run = told(session(("/p", "main"), (None, None), ("/q", ""), ("/q", None)))
    assert requests_by(run, "branch") == {"main": 2, "(not recorded)": 2}
    assert requests_by(run, "project") == {"/p": 2, "/q": 2}


def test_a_branch_that_appears_beside_the_same_folder_is_seen() -> None:
    run = told(session(("/p", None), ("/p", None), ("/p", "main")))
    assert requests_by(run, "branch") == {"(not recorded)": 2, "main": 1}


def test_what_a_tool_was_given_is_no_place() -> None:
    block = call("c", "Bash", cwd="/tool", gitBranch="trap")
    lines = [
        prompt("u", None, 0),
        answer("a", "u", "m1", 1, content=[block], cwd="/p", gitBranch="main"),
        answer("b", "a", "m2", 2, content=[call("d", "Bash", cwd="/p", gitBranch="main")], cwd="/q", gitBranch="dev"),
    ]
    assert requests_by(told(b"".join(lines)), "branch") == {"main": 1, "dev": 1}


def test_files_that_say_nothing_take_what_all_others_share() -> None:
    silent = prompt("v", None, 50) + answer("z", "v", "mz", 51, fresh=10)
    assert requests_by(told(session(("/p", "main")), silent), "branch") == {"main": 2}
    assert requests_by(told(session(*MOVES), silent), "branch") == {"main": 2, "feature": 3, "(not recorded)": 1}


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_an_answer_that_stays_is_compared_and_not_decoded(separators: tuple[str, str]) -> None:
    places = Places()
    for number in range(1, 4):
        told_here = {"n": "x" * number, "cwd": "/p", "sessionId": "s", "version": "1", "gitBranch": "main", "slug": "a"}
        raw = json.dumps(told_here, separators=separators).encode() + b"\n"
        assert raw.startswith(places.said, len(raw) - places.back) is (number > 1)
        places.look(raw, number)
    assert places.changes == [Place(1, "/p", "main")]


def test_codex_says_the_folder_of_each_turn() -> None:
    rollout = Rollout(git={"branch": "main"}).ask("a").answer(100)
    rollout.line("turn_context", cwd="/home/someone/shop", model="m").ask("b").answer(200)
    rollout.line("session_meta", id=MAIN, cwd="/home/someone/shop", git={"branch": "dev"})
    run = read(rollout.ask("c").answer(300))
    assert requests_by(run, "project") == {"desk": 1, "shop": 2}
    assert requests_by(run, "branch") == {"main": 2, "dev": 1}
