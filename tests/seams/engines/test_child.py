"""One question to one child: bounded in time and bytes, whatever the child does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from seams.engines.child import ChildError, ask


def python(program: str, **more):
    return ask([sys.executable, "-I", "-S", "-c", program], **{"seconds": 60.0, "most": 10_000_000, **more})


def test_what_it_is_fed_and_what_it_writes_and_how_it_ends() -> None:
    answer = python(
        "import sys; print(sys.stdin.read()[::-1], end=''); sys.stderr.write('no'); sys.exit(3)", feed=b"abc"
    )
    assert answer == (3, b"cba", "no")


def test_more_than_a_pipe_holds_goes_in_and_out_at_the_same_time() -> None:
    feed = b"0123456789abcde\n" * 200_000
    assert python("import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line)", feed=feed).out == feed


def test_one_that_does_not_read_is_no_fault() -> None:
    assert python("print('here')", feed=b"x" * 1_000_000) == (0, b"here\n", "")


def test_of_a_loud_standard_error_the_end_is_kept() -> None:
    said = python("import sys; sys.stderr.write('x' * 1_000_000 + 'last')").said
    assert said.endswith("xlast")
    assert len(said) < 10_000


def test_one_that_writes_too_much_is_ended() -> None:
    with pytest.raises(ChildError, match="more than 1,000 bytes"):
        python("while True: print('x' * 100)", most=1_000)


@pytest.mark.parametrize(
    "program", ["import time; time.sleep(300)", "import os, time; os.close(1); os.close(2); time.sleep(300)"]
)
def test_one_that_does_not_end_is_ended(program: str) -> None:
    with pytest.raises(ChildError, match=r"within 0\.5 s"):
        python(program, seconds=0.5)


@pytest.mark.parametrize("command", [["no such program"], ["a\0b"], [str(Path(__file__).parent)]])
def test_one_that_cannot_be_started_is_said(command: list[str]) -> None:
    with pytest.raises(ChildError, match="cannot be started"):
        ask(command, seconds=1.0, most=1)


def test_it_gets_the_environment_and_the_folder_that_it_is_given(tmp_path: Path) -> None:
    answer = python("import os; print(os.getcwd(), os.environ.get('ONE'))", cwd=tmp_path, environment={"ONE": "1"})
    assert answer.out.decode().split() == [str(tmp_path), "1"]
