"""What counts as an answer: the worker's own line alone, whatever else comes through its pipes."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.measure.answer import Answer, read_answer
from harness.measure.heard import Heard
from tests.harness.measure.jobs import ask


def test_what_a_probe_prints_is_counted_and_kept_out(repo: Path, tmp_path: Path) -> None:
    answer = ask("Prints", repo, tmp_path)
    assert answer.undefined is None
    assert answer.printed > 400_000
    assert len(answer.output) <= 64 * 1024


def test_a_fork_of_the_probe_does_not_answer(repo: Path, tmp_path: Path) -> None:
    answer = ask("Forks", repo, tmp_path)
    assert answer.undefined is None
    assert answer.result["slice"] == "batch"


@pytest.mark.parametrize(
    "probe", ["SaysFive", "SaysNothing", "SaysUndefined", "SaysBytes", "SaysATally", "ChildSpeaks"]
)
def test_only_the_worker_answers_for_itself(probe: str, repo: Path, tmp_path: Path) -> None:
    answer = ask(probe, repo, tmp_path)
    assert answer.undefined is not None
    assert answer.undefined[0] == "crashed"
    assert answer.undefined[1].endswith("before it answered; something else wrote to the pipe for its answer.")


def test_what_stands_before_the_answer_does_not_spoil_it(repo: Path, tmp_path: Path) -> None:
    answer = ask("SaysTooEarly", repo, tmp_path)
    assert answer.undefined is None
    assert answer.result["slice"] == "batch"


@pytest.mark.parametrize(("probe", "timed"), [("SaysNoEnd", True), ("AnswersAtLength", False)])
def test_an_answer_without_end_is_cut_off(probe: str, timed: bool, repo: Path, tmp_path: Path) -> None:
    answer = ask(probe, repo, tmp_path, timed=timed, estimand="call-mean" if timed else "count")
    assert answer.undefined == ("bad-value", "Its answer is longer than 16 MiB.")


@pytest.mark.parametrize(
    "line", [b"5", b"[]", b'{"undefined": {}}', b'{"undefined": 5}', b"NaN", b"[" * 100_000, b"\xff"]
)
def test_a_line_with_the_token_that_is_no_answer_is_a_crash(line: bytes, tmp_path: Path) -> None:
    heard = Heard("token", line=line)
    answer = Answer()
    read_answer(answer, heard, 0, 1.0)
    assert answer.undefined is not None
    assert answer.undefined[0] == "crashed"
