"""``harness hook``: a process that decides one call."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli.hook import main
from harness.report import naming


def run(monkeypatch: pytest.MonkeyPatch, text: bytes, *argv: str) -> int:
    class Stdin:
        buffer = io.BytesIO(text)

    monkeypatch.setattr(sys, "stdin", Stdin())
    return main(list(argv))


@pytest.mark.parametrize(
    ("argv", "kind"),
    [((), "DENY"), (("--world", "default"), "DENY"), (("--world=airline",), "ALLOW")],
)
def test_the_world_is_named_in_words(argv: tuple[str, ...], kind: str, monkeypatch, capsys) -> None:
    assert run(monkeypatch, b'{"tool": "book_flight"}', *argv) == 0
    out = capsys.readouterr().out
    assert json.loads(out)["kind"] == kind
    assert out.count("\n") == 1


def test_a_policy_file(tmp_path: Path, monkeypatch, capsys) -> None:
    file = tmp_path / "own.toml"
    file.write_text('allow = ["launch"]')
    assert run(monkeypatch, b'{"tool": "launch"}', "--policy", str(file)) == 0
    assert json.loads(capsys.readouterr().out) == {"kind": "ALLOW", "reason": "NONE", "by": "monitor"}


@pytest.mark.parametrize(
    ("text", "argv", "said"),
    [
        (b"{", (), "not JSON"),
        (b"[]", (), '"tool"'),
        (b"{}", ("--world", "submarine"), "no world 'submarine'"),
        (b"{}", ("--world",), "needs a value"),
        (b"{}", ("--world=",), "needs a value"),
        (b"{}", ("--verbose",), "does not know --verbose"),
        (b"{}", ("--policy", "nowhere.toml"), "cannot be read"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_2(text: bytes, argv: tuple[str, ...], said: str, monkeypatch, capsys):
    assert run(monkeypatch, text, *argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert captured.err.rstrip().endswith("Try: python -m harness hook --help")
    assert captured.err.count("\n") == 1


def test_a_bad_policy_file_is_named(tmp_path: Path, monkeypatch, capsys) -> None:
    file = tmp_path / "own.json"
    file.write_text('{"deny": {"x": "WHIM"}}')
    assert run(monkeypatch, b'{"tool": "x"}', "--policy", str(file)) == 2
    assert "own.json" in capsys.readouterr().err
    file.write_bytes(b"\xff\xff")
    assert run(monkeypatch, b'{"tool": "x"}', "--policy", str(file)) == 2


def test_help(monkeypatch, capsys) -> None:
    assert run(monkeypatch, b"", "--help") == 0
    assert capsys.readouterr().out.startswith("usage: python -m harness hook [--world default|airline] [--policy FILE]")


def test_help_names_the_script_that_was_started(monkeypatch, capsys) -> None:
    monkeypatch.setattr(naming, "_program", "loopladder")
    assert run(monkeypatch, b"", "--help") == 0
    assert capsys.readouterr().out.startswith("usage: loopladder hook ")
    assert run(monkeypatch, b"", "--verbose") == 2
    assert capsys.readouterr().err.endswith("Try: loopladder hook --help\n")


def test_it_loads_only_what_a_decision_needs(repo: Path) -> None:
    program = (
        "import sys, harness.cli.hook\n"
        "heavy = {'argparse', 'asyncio', 'hashlib', 'msgspec', 'numpy', 'pydantic', 'pyperf', 'rich', 'scipy',\n"
        "         'subprocess', 'tomllib', 'pathlib', 'seams.syscall.kernel', 'seams.syscall.vdso', 'seams.engines'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    command = [sys.executable, "-P", "-s", "-B", "-S", "-c", program]
    done = subprocess.run(command, env={"PYTHONPATH": str(repo)}, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_as_a_process(repo: Path) -> None:
    command = [sys.executable, "-P", "-s", "-B", "-m", "harness.cli.hook", "--world", "airline"]
    done = subprocess.run(
        command, input=b'{"tool":"delete_account"}', env={"PYTHONPATH": str(repo)}, capture_output=True, check=False
    )
    assert (done.returncode, json.loads(done.stdout)["reason"]) == (0, "POLICY_BLOCK")
