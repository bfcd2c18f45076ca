"""Progress: one line on a terminal, nothing in a pipe, nothing left behind."""

from __future__ import annotations

import errno
import io
import os
import pty
import re
import select
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from harness.report.progress import Progress, duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def terminal_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


def seen(text: str) -> str:
    """What a terminal shows on the last line in the end."""
    line = text.rpartition("\n")[2]
    return line.rpartition("\x1b[2K")[2]


def test_a_pipe_hears_nothing() -> None:
    stream = io.StringIO()
    with Progress(60, stream) as progress:
        progress.show("a_kpi", 0, 3)
        progress.say("A sentence.")
    assert stream.getvalue() == ""


def test_a_dumb_terminal_hears_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    stream = Terminal()
    with Progress(60, stream) as progress:
        progress.show("a_kpi", 0, 3)
    assert stream.getvalue() == ""


def test_the_line_names_the_point_what_is_done_and_what_is_left() -> None:
    stream = Terminal()
    with Progress(185, stream) as progress:
        progress.show("a_kpi n=100", 0, 3)
        assert seen(stream.getvalue()) == "a_kpi n=100  0/3  about 3 min 05 s left"
        progress.show("b", 1, 3)
        assert seen(stream.getvalue()).startswith("b  1/3")
        progress.say("Something was void.")
        assert "Something was void.\n" in stream.getvalue()
        assert seen("\n" + stream.getvalue()).endswith("left")
    assert seen(stream.getvalue()) == ""


def test_a_long_sentence_is_wrapped_between_words() -> None:
    stream = Terminal()
    words = " ".join(["--budget"] * 40)
    with Progress(60, stream) as progress:
        progress.say(words)
    lines = stream.getvalue().replace("\r\x1b[2K", "").splitlines()
    assert len(lines) > 3
    assert max(map(len, lines)) <= 80
    assert " ".join(lines) == words


def test_a_process_without_standard_error_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with Progress(60) as progress:
        progress.show("a_kpi", 0, 3)
        progress.say("A sentence.")
    assert progress.remaining(0, 3) == 60


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ValueError])
def test_nothing_is_left_behind_whatever_ends_it(error: type[BaseException]) -> None:
    stream = Terminal()
    with pytest.raises(error), Progress(60, stream) as progress:
        progress.show("a_kpi", 1, 3)
        raise error
    assert seen(stream.getvalue()) == ""
    progress.close()
    assert seen(stream.getvalue()) == ""


def test_a_long_or_hostile_point_stays_on_one_line() -> None:
    stream = Terminal()
    with Progress(60, stream) as progress:
        progress.show("\x1b[2Jx\r\n" + "y" * 500, 0, 3)
        line = seen(stream.getvalue())
    assert len(line) < 80
    assert line.startswith("x y")
    assert line.endswith("...  0/3  about 1 min 00 s left")
    assert "\x1b[2J" not in stream.getvalue()


def test_the_rest_is_the_plans_at_first_and_the_clocks_in_the_end() -> None:
    now = [100.0]
    progress = Progress(60, io.StringIO(), clock=lambda: now[0])
    assert progress.remaining(0, 10) == 60
    now[0] += 10
    assert progress.remaining(1, 10) == pytest.approx(0.9 * 54 + 0.1 * 90)
    now[0] += 80
    assert progress.remaining(9, 10) == pytest.approx(0.1 * 6 + 0.9 * 10)
    assert progress.remaining(10, 10) == 0
    assert progress.remaining(12, 10) == 0


def test_a_terminal_that_goes_away_does_not_stop_the_run() -> None:
    tried: list[str] = []

    class Gone(Terminal):
        def write(self, text: str) -> int:
            tried.append(text)
            raise OSError(errno.EIO, "Input/output error")

    with Progress(60, Gone()) as progress:
        progress.show("a_kpi", 0, 3)
        progress.show("b_kpi", 1, 3)
        progress.say("Still here.")
    assert len(tried) == 1, "a terminal that is gone is written to no more"
    closed = Terminal()
    closed.close()
    Progress(60, closed).show("a_kpi", 0, 3)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0 s"), (0.4, "0 s"), (59.4, "59 s"), (60, "1 min 00 s"), (3599.6, "1 h 00 min"), (7620, "2 h 07 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


CHILD = """
import os, signal, sys
from harness.report.progress import Progress
try:
    with Progress(60) as progress:
        progress.show("a_kpi", 1, 3)
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_ctrl_c_on_a_real_terminal_leaves_an_empty_line(repo: Path) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 40))
    env = {**os.environ, "PYTHONPATH": str(repo), "TERM": "xterm"}
    ended = subprocess.run([sys.executable, "-c", CHILD], cwd=repo, env=env, stderr=theirs, check=False)
    os.close(theirs)
    text = b""
    while select.select([ours], [], [], 5)[0]:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed and drained
            break
        if not part:
            break
        text += part
    os.close(ours)
    assert ended.returncode == 130
    assert b"a_kpi  1/3" in text
    assert seen(text.decode()) == ""
    assert all(len(line) < 40 for line in re.split(r"\x1b\[2K|[\r\n]", text.decode()))
