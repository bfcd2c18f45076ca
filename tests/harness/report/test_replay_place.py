"""Where something stands: a line only where the file has lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.formats.run_formats import NAMES
from harness.report.replay_place import place
from kpis.terms.trace import IssueCode


@pytest.mark.parametrize(
    ("file", "number", "source_format", "said"),
    [
        ("s.jsonl", 7, "claude-code", "s.jsonl:7"),
        ("s.json", 7, "codex", "s.json:7"),
        ("b.traj.json", 7, "mini-swe-agent", "b.traj.json, message 7"),
        ("b.traj", 7, "swe-agent", "b.traj, step 7"),
        ("trajectory.json", 7, "atif", "trajectory.json, step 7"),
        ("a.eval", 7, "inspect", "a.eval, event 7"),
        ("r.json", 7, "tau-bench", "r.json, simulation 7"),
        ("t.json", 7, "otel", "t.json, entry 7"),
        ("t.jsonl", 7, "otel", "t.jsonl:7"),
        ("session.json", 7, "gemini-cli", "session.json, entry 7"),
        ("b.traj.json", None, "mini-swe-agent", "b.traj.json"),
        (None, None, "codex", "(no file)"),
        (None, 7, "codex", "(no file):7"),
    ],
)
def test_a_place(file: str | None, number: int | None, source_format: str, said: str) -> None:
    assert source_format in NAMES
    assert place(file, number, source_format) == said


def test_a_finding_about_a_line_names_the_line() -> None:
    assert place("a.json", 7, "mini-swe-agent", IssueCode.E_BAD_LINE) == "a.json:7"
    assert place("a.json", 7, "mini-swe-agent", IssueCode.W_ORPHAN_RESULT) == "a.json, message 7"


def _message(role: str, text: str) -> dict[str, object]:
    return {"role": role, "content": text, "extra": {"returncode": 1} if role == "user" else {}}


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What replay prints of one document in which the same command fails five times, on one line of its file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    messages = [_message("system", "You are an agent."), _message("user", "Do it.")]
    for _ in range(5):
        messages += [_message("assistant", "```bash\nmake\n```"), _message("user", "<returncode>1</returncode> no")]
    document = {"trajectory_format": "mini-swe-agent-1", "messages": messages, "info": {"exit_status": "Submitted"}}
    (tmp_path / "b.traj.json").write_text(json.dumps(document))

    def replay(*words: str) -> str:
        main(["replay", "b.traj.json", *words])
        return capsys.readouterr().out

    return replay


@pytest.mark.parametrize("words", [("--evaluate",), ("--explain", "tool_errors")])
def test_a_document_has_messages_and_no_lines(told: Callable[..., str], words: tuple[str, ...]) -> None:
    out = told(*words)
    assert "b.traj.json, message 3" in out
    assert "b.traj.json:" not in out


def test_a_long_name_stays_whole_and_its_piece_comes_below(
    told: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = "a-folder-with-a-long-name-that-takes-most-of-a-line-of-text"
    (tmp_path / folder).mkdir()
    (tmp_path / "b.traj.json").rename(tmp_path / folder / "b.traj.json")
    main(["replay", folder, "--evaluate"])
    lines = capsys.readouterr().out.splitlines()
    at = lines.index(f"{'':<14}{folder}/b.traj.json")
    assert lines[at + 1] == f"{'':<16}message 3  bash, repeated call"
