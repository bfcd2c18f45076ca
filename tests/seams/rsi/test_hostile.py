"""Candidates that hang, fork, make daemons, delete and signal: a verdict, nothing lost, nothing left running."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from seams.contract.rsi_loop import Trend
from seams.engines import git
from seams.rsi import journal, session, worktrees
from seams.rsi.changes import unaltered
from seams.rsi.confine import interface
from seams.rsi.errors import LoopError
from seams.rsi.loop import ReferenceLoop
from seams.rsi.strays import ended
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


TOUCHES = {
    "page": "os.chmod('{top}/README.md', 0o755)",
    "head": "os.chmod('{top}/.git/HEAD', 0o400)",
    "folder": "os.chmod('{top}/d', 0o700)",
    "store": "os.chmod('{top}/.git', 0o711)",
    "journal": "os.chmod('{journal}', 0o400)",
    "own entry": "os.chmod(open('.git').read().split()[1], 0o500)",
    "scratch": "os.chmod('..', 0o755)",
    "lock": "os.chmod('../lock', 0o644)",
    "index": "os.chmod('../index', 0o600 if os.stat('../index').st_mode & 0o77 else 0o644)",
}


@CONFINED
@pytest.mark.parametrize("what", TOUCHES)
def test_a_confined_candidate_that_changes_a_mode_outside_ends_the_loop_and_is_named(
    repo_of_one: Repo, what: str
) -> None:
    repo_of_one.commit({"d/file": "x"})
    (repo_of_one.top / "d").chmod(0o755)
    code = "import os\n" + TOUCHES[what].format(top=repo_of_one.top, journal=repo_of_one.journal)
    result = LOOP.run(repo_of_one.charge(), [metric(2), running(code), metric(3)])
    assert [(row.decision, row.truth_clean) for row in result.rows] == [("KEEP", True), ("REVERT", False)]
    assert "which confinement does not cover" in (result.rows[1].note or "")
    assert "the mode or the owner of " in (result.halted or "")
    assert "somebody else" not in (result.rows[1].note or "")
    named = (result.halted or "").rpartition("Look with: ls -ld ")[2]
    assert Path(named).name in {"README.md", "HEAD", "d", ".git", "journal.jsonl", "lock", "index"} or "rsi-" in named


@pytest.mark.parametrize("what", TOUCHES)
def test_how_to_look_at_a_mode_that_an_unconfined_candidate_changed(repo_of_one: Repo, what: str) -> None:
    repo_of_one.commit({"d/file": "x"})
    (repo_of_one.top / "d").chmod(0o755)
    code = "import os\n" + TOUCHES[what].format(top=repo_of_one.top, journal=repo_of_one.journal)
    result = LOOSE.run(repo_of_one.charge(), [metric(2), running(code)])
    changed, _, look = (result.halted or "").partition(" changed outside the candidate's tree. Look with: ls -ld ")
    assert look, result.halted
    assert look in changed


@pytest.mark.parametrize("loop", [pytest.param(LOOP, marks=CONFINED), LOOSE])
@pytest.mark.parametrize("what", ["+i metric", "+a metric", "+i .", "+a .", "+i d"])
def test_what_a_candidate_makes_immutable_in_its_tree_is_removed(
    repo_of_one: Repo, temporary: Path, loop: ReferenceLoop, what: str
) -> None:
    repo_of_one.commit({"d/file": "x"})
    code = f"import subprocess\nif subprocess.run(['chattr', *{what.split()!r}]).returncode: raise SystemExit(9)"
    session = loop.open(repo_of_one.charge())
    row = session.cycle(running(code))
    if not row.measured:
        session.close()
        pytest.skip("a process of this user may set no such attribute here")
    left = [place.name for scratch in temporary.iterdir() for place in scratch.iterdir() if place.is_dir()]
    assert [name for name in left if not name.startswith("home-")] == []
    assert session.cycle(metric(2)).kept
    assert session.close().halted is None


def test_a_tree_that_cannot_be_removed_is_named_and_ends_the_loop(
    repo_of_one: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = LOOP.open(repo_of_one.charge())

    with monkeypatch.context() as patch:
        patch.setattr(worktrees, "_forget", lambda repository, place: False)
        row = session.cycle(metric(2))
    assert row.kept
    stays = (row.note or "").removeprefix("its tree ").removesuffix(" stays, since it cannot be removed")
    assert Path(stays).is_dir()
    assert session.over
    halted = session.close().halted
    assert halted == f"The tree of '2' cannot be removed and stays at {stays}. Look with: ls -la {stays}"
    assert repo_of_one.git("show", "rsi:metric") == "2"
    # It was only for a while: what went with the session's folder leaves an entry, which the next loop removes.
    assert LOOP.run(repo_of_one.charge(branch="next"), [metric(2)]).kept == 1


def test_a_baselines_tree_that_cannot_be_removed_is_named(repo_of_one: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(worktrees, "_forget", lambda repository, place: False)
        for begin in (LOOP.open, LOOP.track):
            with pytest.raises(
                LoopError, match=r"was measured cannot be removed and stays at (.*)\. Look with: ls -la \1"
            ):
                begin(repo_of_one.charge())
    assert LOOP.track(repo_of_one.charge()).trend is Trend.FIRST


def test_a_candidate_that_makes_the_loops_own_folder_immutable_ends_the_loop_in_a_sentence(repo_of_one: Repo) -> None:
    code = "import subprocess\nif subprocess.run(['chattr', '+i', '..']).returncode: raise SystemExit(9)"
    result = LOOP.run(repo_of_one.charge(), [running(code), metric(2)])
    if "status 9" in (result.rows[0].note or ""):
        pytest.skip("a process of this user may set no such attribute here")
    assert [(row.decision, row.truth_clean) for row in result.rows] == [("REVERT", False)]
    assert "stays, since it cannot be removed" in (result.rows[0].note or "")
    assert "cannot be removed and stays at" in (result.halted or "")


@CONFINED
@pytest.mark.parametrize(
    "how",
    [
        "os.utime('{top}/README.md', (0, 0))",
        "os.utime('{top}/d', (0, 0))",
        "os.utime('{top}/.git/HEAD', (0, 0))",
        "os.setxattr('{top}/README.md', 'user.x', b'1')",
    ],
)
def test_a_confined_candidate_that_sets_times_or_attributes_outside_is_not_clean(repo_of_one: Repo, how: str) -> None:
    repo_of_one.commit({"d/file": "x"})
    code = "import os\ntry: " + how.format(top=repo_of_one.top) + "\nexcept OSError: raise SystemExit(9)"
    result = LOOP.run(repo_of_one.charge(), [running(code), metric(2)])
    if "status 9" in (result.rows[0].note or ""):
        pytest.skip("there are no such attributes on this file system")
    assert [(row.decision, row.truth_clean) for row in result.rows] == [("REVERT", False), ("KEEP", True)]
    assert "in times or attributes, which confinement does not cover" in (result.rows[0].note or "")


@CONFINED
@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to the superuser")
@pytest.mark.parametrize("place", ["", ".git", ".git/worktrees", ".git/refs", "d"])
def test_a_confined_candidate_that_closes_a_folder_outside_ends_the_loop_in_a_sentence(
    repo_of_one: Repo, place: str
) -> None:
    repo_of_one.commit({"d/file": "x"})
    target = repo_of_one.top / place
    mode = repo_of_one.top.stat().st_mode & 0o777
    try:
        result = LOOP.run(repo_of_one.charge(), [running(f"import os\nos.chmod({str(target)!r}, 0)"), metric(2)])
    finally:
        target.chmod(mode)
    assert [row.decision for row in result.rows] == ["REVERT"]
    assert f"the mode or the owner of {target}" in (result.halted or "")
    assert "somebody else" not in (result.rows[0].note or "")
    assert LOOP.run(repo_of_one.charge(), [metric(2)]).kept == 1, "what was left is removed by the next loop"


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


KILLS = f"os.kill(os.getppid(), {int(signal.SIGKILL)})"


def test_an_unconfined_candidate_that_kills_its_warden_is_a_verdict(repo_of_one: Repo) -> None:
    code = f"import os\n{KILLS}\nimport time; time.sleep(600)"
    # The shell between them is what the warden started, so the interpreter has to be that itself.
    result = LOOSE.run(repo_of_one.charge(measure=DIRECT), [running(code), metric(2)])
    assert [row.decision for row in result.rows] == ["REVERT", "KEEP"]
    assert "the warden was ended from outside" in (result.rows[0].note or "")


@pytest.mark.parametrize(
    "hides",
    ["os.chdir('/')", "pass", "os.environ.clear(); os.execv(sys.executable, [sys.executable, '-c', WAITS])"],
)
def test_what_runs_on_when_the_warden_was_killed_is_found_and_ended(
    repo_of_one: Repo, hides: str, tmp_path: Path
) -> None:
    into = tmp_path / "pid"
    waits = f"import os, time; open({str(into)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    child = f"    os.setsid()\n    {hides}\n    exec(WAITS)\n"
    code = (
        f"import os, sys, time\nWAITS = {waits!r}\nif os.fork() == 0:\n{child}"
        f"while not (os.path.exists({str(into)!r}) and open({str(into)!r}).read()): time.sleep(.01)\n{KILLS}\n"
    )
    row, other = LOOSE.run(repo_of_one.charge(measure=DIRECT), [running(code), metric(2)]).rows
    assert (row.decision, other.decision) == ("REVERT", "KEEP")
    assert "that it left had to be ended" in (row.note or "")
    assert gone(int(into.read_text()))


def test_nobody_else_is_ended_when_the_warden_was_killed(repo_of_one: Repo, tmp_path: Path) -> None:
    # As a user's own processes are: in the repository, and in a folder whose name begins like the trial's.
    with subprocess.Popen(["sleep", "600"], cwd=repo_of_one.top, env={"HOME": str(tmp_path)}) as bystander:
        try:
            assert ended(tmp_path / "home", (tmp_path / "tree", tmp_path / "home")) == 0
            LOOSE.run(
                repo_of_one.charge(measure=DIRECT), [running(f"import os\n{KILLS}\nimport time; time.sleep(600)")]
            )
            assert bystander.poll() is None
        finally:
            bystander.kill()


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
    result = LOOP.run(repo_of_one.charge(suite=[["true"]]), [running(code), metric(2)])
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


def test_a_journal_on_a_full_disk_ends_the_loop_and_keeps_nothing_without_a_row(
    repo_of_one: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []

    def fsync(handle: int) -> None:
        written.append(handle)
        if len(written) > 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(journal, "os", SimpleNamespace(**{**vars(os), "fsync": fsync}))
    result = LOOP.run(repo_of_one.charge(), [metric(2), metric(3), metric(4)])
    assert (result.cycles, result.kept, result.final) == (1, 1, 2.0)
    assert "cannot be written: No space left on device" in (result.halted or "")
    assert repo_of_one.git("rev-parse", "rsi") == result.tip == result.rows[0].commit
    assert repo_of_one.git("show", "rsi:metric") == "2"


def test_a_loop_that_is_killed_once_a_row_is_written_has_its_commit(
    repo_of_one: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*words: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(session, "move", killed)
    with pytest.raises(KeyboardInterrupt):
        LOOP.run(repo_of_one.charge(), [metric(2)])
    (row,) = journal.read(repo_of_one.journal).rows
    assert (row.kept, repo_of_one.branches()) == (True, {"main"})
    assert repo_of_one.git("show", f"{row.commit}:metric") == "2"
