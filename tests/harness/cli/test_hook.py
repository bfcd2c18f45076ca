"""``harness hook``: a process that decides one call."""

from __future__ import annotations

import io
import json
import os
import signal
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


CALL = """echo '{"tool": "book_flight"}'"""
HOOKS = ("-m harness hook", "-m harness.cli.hook", "-c 'from harness.cli.main import main; exit(main([\"hook\"]))'")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("hook", HOOKS)
@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        ("$H <&-", 2, "standard input is closed"),
        ("$H < /dev/zero", 2, "longer than 16,777,216 bytes"),
        ("$H --nonsense 2>&- <&-", 2, ""),
        (CALL + " | $H >/dev/full", 70, "verdict cannot be written: No space left"),
        (CALL + " | $H >&-", 70, "verdict cannot be written: standard output is closed"),
        (CALL + " | $H >&- 2>&-", 70, ""),
        ("$H --help >/dev/full", 70, "No space left"),
        ("$H --policy /dev/zero < /dev/null", 2, "it is longer than 16,777,216 bytes"),
        ("$H --policy /tmp < /dev/null", 2, "Is a directory"),
    ],
)
def test_without_a_verdict_there_is_a_sentence_and_never_0(
    command: str, code: int, says: str, hook: str, unbuffered: str, repo: Path, tmp_path: Path
) -> None:
    if "-c" in hook and "--" in command:
        hook = hook.replace('["hook"]', "sys.argv[1:]").replace("'from", "'import sys; from") + " hook"
    environment = {**os.environ, "PYTHONPATH": str(repo), "PYTHONUNBUFFERED": unbuffered}
    script = command.replace("$H", f"{sys.executable} {hook}")
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert says in done.stderr
    assert done.stderr.count("\n") == bool(says)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_is_gone_gets_no_0(unbuffered: str, repo: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as gone:
        done = subprocess.run(
            [sys.executable, "-m", "harness", "hook"], input='{"tool": "x"}', stdout=gone, stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(repo), "PYTHONUNBUFFERED": unbuffered}, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 70
    assert done.stderr.startswith("The verdict cannot be written: Broken pipe.")
    assert done.stderr.count("\n") == 1


def test_ctrl_c_while_it_waits(repo: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(repo)}
    command = [sys.executable, "-m", "harness", "hook", "--policy", "/dev/stdin"]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        assert started.stdin is not None
        started.stdin.write(b" " * (1 << 20))  # more than a pipe holds: once it is taken, the hook is reading
        started.stdin.flush()
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=60)
    assert (started.returncode, out, err) == (130, b"", b"")


@pytest.mark.parametrize(
    "text", [b'{"tool": "x", "args": ' + b"[" * depth + b"]" * depth + b"}" for depth in (900, 1 << 16)]
)
def test_a_call_that_is_nested_deeply_is_decided_or_refused(text: bytes, monkeypatch, capsys) -> None:
    code = run(monkeypatch, text)
    captured = capsys.readouterr()
    assert (code, bool(captured.out), captured.err.count("\n")) in ((0, True, 0), (2, False, 1))


def test_what_it_was_given_is_shown_inert(tmp_path: Path, monkeypatch, capsys) -> None:
    assert run(monkeypatch, b"{}", "--\x1b[31mx\n") == 2
    deep = tmp_path / "a\nb.toml"
    deep.write_text("allow = " + "[" * 3000 + "]" * 3000)
    assert run(monkeypatch, b"{}", "--policy", str(deep)) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 2
    assert "\x1b" not in err
    assert "recursion" in err


def test_an_input_that_has_nothing_yet_is_no_call(monkeypatch, capsys) -> None:
    class Empty:
        def read(self, _most: int) -> None:
            return None

    class Stdin:
        buffer = Empty()

    monkeypatch.setattr(sys, "stdin", Stdin())
    assert main([]) == 2
    assert "not JSON" in capsys.readouterr().err
