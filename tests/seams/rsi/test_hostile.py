"""Candidates that hang, fork, make daemons, delete and signal: a verdict, nothing lost, nothing left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seams.engines import git
from seams.rsi.changes import unaltered
from seams.rsi.confine import interface
from seams.rsi.errors import LoopError
from seams.rsi.loop import ReferenceLoop
from tests.seams.rsi.repository import PYTHON, Repo, alive, contents, metric, running

LOOP = ReferenceLoop()
LOOSE = ReferenceLoop(confine=False)
CONFINED = pytest.mark.skipif(interface() < 3, reason="this kernel cannot confine a process (no Landlock)")
SCOPED = pytest.mark.skipif(interface() < 6, reason="this kernel does not keep signals in (Landlock below 6)")

# Writes the pid where the test can read it: the candidate's tree is gone by then, so into its output.
SLEEPER = "import os, sys, time; sys.stderr.write('pid=%d ' % os.getpid()); sys.stderr.flush(); time.sleep(600)"

# Without a shell between: the parent of the candidate's code is the warden.
DIRECT = [*PYTHON, "-c", "exec(open('run.py').read()); print('KPI=' + open('metric').read())"]


def pids(note: str | None) -> list[int]:
    return [int(word[4:]) for word in (note or "").replace(":", " ").split() if word.startswith("pid=")]


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 20
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(pid)


@pytest.mark.parametrize(
    "code",
    [
        SLEEPER,
        f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEPER}",
        f"import os; os.setpgid(0, 0) if os.getpid() != os.getpgrp() else None; os.fork(); {SLEEPER}",
        f"import os; os.fork() or os.setsid(); {SLEEPER}",
        f"import os, signal; os.fork() or os.kill(os.getpid(), signal.SIGSTOP); {SLEEPER}",
    ],
)
def test_what_hangs_is_ended_with_all_that_it_started(repo_of_one: Repo, code: str) -> None:
    (row,) = LOOP.run(repo_of_one.charge(limit_s=1.0), [running(code)]).rows
    assert (row.measured, row.suite_green, row.truth_clean, row.decision) == (False, False, False, "REVERT")
    assert "did not end within 1 s" in (row.note or "")
    found = pids(row.note)
    assert found
    assert all(gone(pid) for pid in found)


@pytest.mark.parametrize(
    "daemonise",
    [
        "os.fork() and os._exit(0)",
        "os.fork() and os._exit(0); os.setsid()",
        "os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0); os.setsid()",
    ],
)
def test_a_daemon_fails_its_command_and_is_ended(repo_of_one: Repo, daemonise: str) -> None:
    code = f"import os\nif os.fork() == 0:\n    {daemonise}\n    {SLEEPER}\nimport time; time.sleep(.3)"
    (row,) = LOOP.run(repo_of_one.charge(), [running(code)]).rows
    assert (row.measured, row.decision) == (False, "REVERT")
    assert "left 1 process running" in (row.note or "")
    (pid,) = pids(row.note)
    assert gone(pid)


def test_many_children_are_all_ended(repo_of_one: Repo) -> None:
    code = "import os, time\nfor _ in range(40):\n    if os.fork() == 0: time.sleep(600)\n"
    (row,) = LOOP.run(repo_of_one.charge(), [running(code)]).rows
    assert "left 40 processes running" in (row.note or "")


def test_children_that_end_by_themselves_are_no_fault(repo_of_one: Repo) -> None:
    code = "import subprocess; subprocess.run(['sh', '-c', 'sleep 0.01 & exit'])"
    (row,) = LOOP.run(repo_of_one.charge(), [running(code)]).rows
    assert (row.measured, row.suite_green, row.truth_clean) == (True, True, True), row.note


def test_a_flood_of_output_is_drained(repo_of_one: Repo) -> None:
    code = "import sys\nfor _ in range(300): sys.stdout.write('x' * 100_000)\nprint()"
    (row,) = LOOP.run(repo_of_one.charge(), [running(code)]).rows
    assert (row.measured, row.suite_green) == (True, True), row.note


def victims(repo: Repo) -> list[Path]:
    repo.commit({".gitignore": "ignored\n"})
    (repo.top / "ignored").write_text("the only copy")
    return [repo.top / "ignored", repo.top / "metric", repo.top / ".git" / "config", repo.top / ".git" / "HEAD"]


def destroyer(*paths: Path) -> str:
    return "\n".join(f"try: __import__('os').remove({str(path)!r})\nexcept OSError: pass" for path in paths)


@CONFINED
def test_a_confined_candidate_deletes_nothing_outside_its_tree(repo_of_one: Repo) -> None:
    elsewhere = repo_of_one.folder / "elsewhere"
    elsewhere.write_text("precious")
    code = destroyer(*victims(repo_of_one), elsewhere, repo_of_one.journal)
    code += f"\n__import__('shutil').rmtree({str(repo_of_one.top)!r}, ignore_errors=True)"
    code += f"\ntry: open({str(elsewhere)!r}, 'w')\nexcept OSError: pass"
    code += f"\ntry: __import__('os').rename({str(elsewhere)!r}, 'mine')\nexcept OSError: pass"
    code += f"\ntry: __import__('os').truncate({str(elsewhere)!r}, 0)\nexcept OSError: pass"
    before = contents(repo_of_one.top)
    result = LOOP.run(repo_of_one.charge(), [running(code), metric(2)])
    assert [row.decision for row in result.rows] == ["REVERT", "KEEP"]
    assert result.halted is None
    after = contents(repo_of_one.top)
    assert {path: after.get(path) for path in before} == before
    assert elsewhere.read_text() == "precious"


def test_an_unconfined_candidate_that_deletes_outside_ends_the_loop_and_is_named(repo_of_one: Repo) -> None:
    ignored = victims(repo_of_one)[0]
    given = [metric(2), running(destroyer(ignored)), metric(3)]
    result = LOOSE.run(repo_of_one.charge(), given)
    assert [(row.decision, row.truth_clean) for row in result.rows] == [("KEEP", True), ("REVERT", False)]
    assert result.halted is not None
    assert f"{ignored} changed outside the candidate's tree" in result.halted
    assert result.halted.endswith("status")
    assert repo_of_one.git("show", "rsi:metric") == "2"


@pytest.mark.parametrize("what", ["journal", "branch", "page"])
def test_an_unconfined_candidate_that_writes_outside_ends_the_loop(repo_of_one: Repo, what: str) -> None:
    place = {
        "journal": repo_of_one.journal,
        "branch": repo_of_one.top / ".git" / "refs" / "heads" / "sneaky",
        "page": repo_of_one.top / "README.md",
    }[what]
    # Put back as it was, size, second and all: the time of the last change of state stays.
    code = f"p = {str(place)!r}\nopen(p, 'a').write('x')\nimport os; os.truncate(p, 0); open(p, 'w').write('a page\\n')"
    result = LOOSE.run(repo_of_one.charge(), [running(code), metric(3)])
    assert (len(result.rows), result.rows[0].decision) == (1, "REVERT")
    assert place.name in (result.halted or "")


@CONFINED
def test_somebody_elses_change_does_not_end_a_confined_loop(repo_of_one: Repo) -> None:
    command = [sys.executable, "-c", f"open({str(repo_of_one.top / 'README.md')!r}, 'a').write('x')"]

    class Editor:
        """Edits the page while the candidate runs: a child, begun before and waited for after."""

        def proposed(self, cycle: int) -> None:
            self.child = subprocess.Popen(["sh", "-c", 'sleep 0.3; exec "$0" "$@"', *command])

        def decided(self, cycle: int) -> None:
            self.child.wait()

    code = "import time; time.sleep(1)"
    result = LOOP.run(repo_of_one.charge(), [running(code)], Editor())
    assert result.halted is None
    assert "by somebody else" in (result.rows[0].note or "")
    assert result.rows[0].truth_clean


@SCOPED
def test_a_candidate_that_signals_everybody_reaches_nobody(repo_of_one: Repo) -> None:
    bystander = subprocess.Popen(["sleep", "600"])
    try:
        code = (
            f"import os, signal\nfor pid in ({bystander.pid}, os.getppid(), {os.getpid()}):\n"
            "    try: os.kill(pid, signal.SIGKILL)\n    except PermissionError: pass\n    else: raise SystemExit(5)"
        )
        (row,) = LOOP.run(repo_of_one.charge(measure=DIRECT), [running(code)]).rows
        assert (row.measured, row.suite_green) == (True, True), row.note
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_an_unconfined_candidate_that_kills_its_warden_is_a_verdict(repo_of_one: Repo) -> None:
    code = f"import os\nos.kill(os.getppid(), {int(signal.SIGKILL)})\nimport time; time.sleep(600)"
    # The shell between them is what the warden started, so the interpreter has to be that itself.
    python = [
        sys.executable,
        "-S",
        "-s",
        "-B",
        "-c",
        "exec(open('run.py').read()); print('KPI=' + open('metric').read())",
    ]
    result = LOOSE.run(repo_of_one.charge(measure=python), [running(code), metric(2)])
    assert [row.decision for row in result.rows] == ["REVERT", "KEEP"]
    assert "the warden was ended from outside" in (result.rows[0].note or "")


def test_folders_that_cannot_be_written_to_are_removed(repo_of_one: Repo) -> None:
    code = "import os\nos.makedirs('a/b/c'); open('a/b/c/d', 'w')\nfor p in ('a/b/c', 'a/b', 'a'): os.chmod(p, 0o500)"
    (row,) = LOOP.run(repo_of_one.charge(), [running(code)]).rows
    assert "a/b/c/d changed besides" in (row.note or "")


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "instead",
    ["os.mkfifo('run.py')", "os.symlink('/dev/zero', 'run.py')", "os.mkdir('run.py')", "os.truncate(own, 1 << 40)"],
)
def test_what_stands_in_the_place_of_the_declared_file_is_not_waited_for(repo_of_one: Repo, instead: str) -> None:
    code = f"import os\nown = os.open('run.py', os.O_RDWR)\nos.remove('run.py')\n{instead}\n"
    # The suite looks at nothing, so that nothing but the loop itself would have read it.
    result = LOOP.run(repo_of_one.charge(suite=[]), [running(code), metric(2)])
    assert [row.decision for row in result.rows] == ["REVERT", "KEEP"], result.halted
    assert not result.rows[0].truth_clean


def test_a_file_that_cannot_be_read_at_once_is_not_what_was_put_there(tmp_path: Path) -> None:
    edits = {"lease": b"12345678"}
    place = tmp_path / "lease"
    place.write_bytes(b"12345678")
    assert unaltered(tmp_path, edits, "lease")
    place.write_bytes(b"12345679")
    assert not unaltered(tmp_path, edits, "lease")
    os.truncate(place, 1 << 40)
    assert not unaltered(tmp_path, edits, "lease")
    (tmp_path / "same").write_bytes(b"12345678")
    for stands in (lambda: os.mkfifo(place), lambda: place.symlink_to("/dev/zero"), lambda: place.symlink_to("same")):
        place.unlink()
        stands()
        assert not unaltered(tmp_path, edits, "lease")
    assert not unaltered(tmp_path, {"lease": None}, "lease")
    place.unlink()
    assert not unaltered(tmp_path, edits, "lease")
    assert unaltered(tmp_path, {"lease": None}, "lease")
    assert not unaltered(tmp_path, {}, "lease")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", [".gitignore", "d/.gitattributes", "d/.git/HEAD", "pipe"])
def test_a_pipe_where_git_would_wait_is_a_verdict(repo_of_one: Repo, name: str) -> None:
    code = f"import os\nos.makedirs(os.path.dirname({name!r}) or '.', exist_ok=True)\nos.mkfifo({name!r})"
    result = LOOP.run(repo_of_one.charge(), [running(code), metric(2)])
    assert [row.decision for row in result.rows] == ["REVERT", "KEEP"], result.halted
    assert f"{name} is a pipe or a device" in (result.rows[0].note or "")


@pytest.mark.parametrize(("depth", "why"), [(1_500, "/d/f changed besides run.py"), (4_000, "cannot be looked into")])
def test_folders_that_are_nested_too_deep_end_nothing(repo_of_one: Repo, depth: int, why: str) -> None:
    code = f"import os\nfor _ in range({depth}): os.mkdir('d'); os.chdir('d')\nopen('f', 'w')"
    measure = ["sh", "-c", '"$0" -S -s -B run.py && echo KPI=1', sys.executable]
    result = LOOP.run(repo_of_one.charge(measure=measure), [running(code)])
    (row,) = result.rows
    assert (row.decision, row.truth_clean, result.halted) == ("REVERT", False, None)
    assert why in (row.note or "")
    assert LOOP.run(repo_of_one.charge(), [metric(2)]).kept == 1


def test_a_tree_that_git_cannot_list_is_a_verdict(repo_of_one: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "_MOST", 10_000)
    code = "for number in range(100): open(f'{number:0200}', 'w')"
    result = LOOP.run(repo_of_one.charge(), [running(code), metric(2)])
    assert [row.decision for row in result.rows] == ["REVERT", "KEEP"], result.halted
    assert "the tree cannot be read back" in (result.rows[0].note or "")
    assert not result.rows[0].truth_clean


def test_a_suite_that_leaves_a_pipe_is_refused(repo_of_one: Repo) -> None:
    with pytest.raises(LoopError, match=r"pipe is a pipe or a device, so no candidate's tree.*Look with: git show"):
        LOOP.run(repo_of_one.charge(suite=[["mkfifo", "pipe"]]), [metric(2)])


def test_a_tree_that_is_no_tree_any_more_is_removed(repo_of_one: Repo) -> None:
    code = "import os, shutil\nfor n in os.listdir('.'): (shutil.rmtree if os.path.isdir(n) else os.remove)(n)"
    (row,) = LOOP.run(repo_of_one.charge(), [running(code)]).rows
    assert (row.measured, row.decision) == (False, "REVERT")


def test_an_interrupt_in_the_middle_of_a_cycle_leaves_nothing(repo_of_one: Repo) -> None:
    class Interrupting:
        def proposed(self, cycle: int) -> None:
            signal.setitimer(signal.ITIMER_REAL, 0.4)

        def decided(self, cycle: int) -> None:
            return None

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            LOOP.run(repo_of_one.charge(), [running("import time; time.sleep(600)")], Interrupting())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert repo_of_one.journal.read_bytes() == b""
    assert LOOP.run(repo_of_one.charge(), [metric(2)]).kept == 1


def test_a_journal_on_a_full_disk_ends_the_loop_and_what_was_kept_stays(repo_of_one: Repo) -> None:
    result = LOOP.run(repo_of_one.charge(journal=Path("/dev/full")), [metric(2), metric(3)])
    assert (result.cycles, result.kept, result.final) == (1, 1, 2.0)
    assert "The journal /dev/full cannot be written" in (result.halted or "")
    assert repo_of_one.git("rev-parse", "rsi") == result.tip
