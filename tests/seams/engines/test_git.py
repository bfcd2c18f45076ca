"""One runner of git for every seam: nothing of the repository's or the user's runs, and nothing is left running."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from seams.engines import git
from seams.engines.git import GitError, disarmed, find, names, run


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder


def program(place: Path, text: str) -> Path:
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(0o755)
    return place


def test_no_setting_of_the_users_or_the_machines_is_read(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = top.parent / "mine"
    mine.write_text("[user]\n\tname = me\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(mine))
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", str(mine))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "me")
    monkeypatch.setenv("GIT_DIR", str(mine))
    assert run(["config", "user.name"], top).code == 1
    assert run(["config", "core.hooksPath"], top).out == b"/dev/null\n"
    assert run(["config", "user.name"], top, settings={"user.name": "told"}).out == b"told\n"


def test_no_pager_no_prompt_and_no_monitor(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = top.parent / "ran"
    trap = str(program(top.parent / "trap", f"echo >> {ran}; cat"))
    for variable in ("GIT_PAGER", "PAGER", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_SSH_COMMAND", "GIT_EDITOR"):
        monkeypatch.setenv(variable, trap)
    for key in ("core.pager", "core.fsmonitor", "core.askPass", "pager.status"):
        subprocess.run(["git", "config", key, trap], cwd=top, check=True)
    (top / "new").write_text("x")
    assert find(top).ask("status", "--porcelain") == b"?? new\n"
    assert run(["ls-remote", "https://localhost:9/none"], top).code != 0
    assert not ran.exists()


def test_a_filter_is_switched_off_whatever_its_name(top: Path) -> None:
    for name in ("plain", "a=b", "c.d"):
        subprocess.run(["git", "config", f"filter.{name}.clean", "cat"], cwd=top, check=True)
    off = disarmed(top)
    assert {key for key in off if key.endswith(".clean")} == {
        f"filter.{name}.clean" for name in ("plain", "a=b", "c.d")
    }
    assert run(["config", "filter.a=b.clean"], top, settings=off).out == b"\n"


def test_a_folder_is_not_read_as_part_of_a_repository_around_it_unless_that_is_meant(top: Path) -> None:
    within = top / "within"
    within.mkdir()
    assert run(["rev-parse", "--show-toplevel"], within).code != 0
    assert run(["rev-parse", "--show-toplevel"], within, inside=True).out == os.fsencode(f"{top}\n")


def test_a_path_with_a_colon_is_not_read_as_part_of_a_repository_around_it(top: Path) -> None:
    within = top / "p:q" / "in"
    within.mkdir(parents=True)
    assert run(["rev-parse", "--show-toplevel"], within).code == 0, "git looks on beyond a colon"
    for place in (within, within.parent):
        with pytest.raises(GitError, match=r"is not the top folder of a git repository\. Look with: git -C"):
            find(place)
    subprocess.run(["git", "init", "--quiet", str(within)], check=True)
    assert find(within).folder == within.resolve()


def test_a_repository_whose_working_tree_lies_elsewhere_is_not_that_folders(top: Path) -> None:
    subprocess.run(["git", "config", "core.worktree", str(top.parent)], cwd=top, check=True)
    with pytest.raises(GitError, match="is not the top folder"):
        find(top)


def test_stores_that_are_bare_and_trees_that_are_linked_are_found(top: Path) -> None:
    within = top.parent / "a:b"
    within.mkdir()
    bare = within / "bare"
    subprocess.run(["git", "init", "--quiet", "--bare", str(bare)], check=True)
    assert find(bare).bare
    (bare / "p:q").mkdir()
    with pytest.raises(GitError, match="is not the top folder"):
        find(bare / "p:q")
    led = within / "led"
    led.mkdir()
    (led / ".git").write_text(f"gitdir: {bare}\n")
    linked = within / "linked"
    linked.mkdir()
    (linked / ".git").symlink_to(bare)
    assert find(led).bare
    assert find(linked).bare


@pytest.fixture
def aside(top: Path) -> tuple[str, str]:
    """(main's commit, a commit of another branch) of a repository whose main is some commits longer."""
    made = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "commit", "--quiet", "--allow-empty"]

    def commit(number: int) -> str:
        date = f"2024-01-0{number}T00:00:00Z"
        variables = os.environ | {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        subprocess.run([*made, "--message", str(number)], cwd=top, check=True, env=variables)
        return asked("rev-parse", "HEAD")

    def asked(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=top, check=True, capture_output=True, text=True).stdout.strip()

    base = commit(1)
    asked("checkout", "--quiet", "-b", "side")
    side = commit(2)
    asked("checkout", "--quiet", "-B", "main", base)
    return [commit(number) for number in range(3, 7)][-1], side


def fooled(top: Path, main: str, side: str) -> bool:
    words = ["git", "merge-base", "--is-ancestor", side, main]
    return subprocess.run(words, cwd=top, check=False, capture_output=True).returncode == 0


def test_a_graft_says_nothing_of_parents(top: Path, aside: tuple[str, str]) -> None:
    main, side = aside
    (top / ".git" / "info").mkdir(exist_ok=True)
    (top / ".git" / "info" / "grafts").write_text(f"{main} {side}\n")
    assert fooled(top, main, side)
    answer = find(top).run("merge-base", "--is-ancestor", side, main)
    assert (answer.code, answer.said) == (1, "")


def test_a_commit_graph_says_nothing_of_parents(top: Path, aside: tuple[str, str]) -> None:
    main, side = aside
    subprocess.run(["git", "commit-graph", "write", "--reachable"], cwd=top, check=True, capture_output=True)
    place = top / ".git" / "objects" / "info" / "commit-graph"
    held = bytearray(place.read_bytes())
    chunks = {bytes(held[at : at + 4]): int.from_bytes(held[at + 4 : at + 12]) for at in range(8, 8 + 12 * held[6], 12)}
    names_at, facts_at = chunks[b"OIDL"], chunks[b"CDAT"]
    order = [held[names_at + 20 * at : names_at + 20 * at + 20].hex() for at in range((facts_at - names_at) // 20)]
    # Not of main itself, which git reads whole because it is named.
    before = find(top).ask("rev-parse", f"{main}^").decode().strip()
    first_parent = facts_at + 36 * order.index(before) + 20
    held[first_parent : first_parent + 4] = order.index(side).to_bytes(4)
    place.chmod(0o644)
    place.write_bytes(held)
    assert fooled(top, main, side)
    assert find(top).run("merge-base", "--is-ancestor", side, main).code == 1


def test_it_may_be_given_less_time(top: Path) -> None:
    os.mkfifo(top / ".gitignore")
    (top / "new").write_text("x")
    with pytest.raises(GitError, match=r"had not ended within 0\.5 s"):
        find(top).ask("ls-files", "--others", "--exclude-standard", seconds=0.5)


def test_one_that_does_not_end_is_ended_with_what_it_started(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_ = top.parent / "bin"
    bin_.mkdir()
    left = top.parent / "pid"
    program(bin_ / "git", f"sleep 300 & echo $! > {left}; wait")
    monkeypatch.setenv("PATH", f"{bin_}:{os.environ['PATH']}")
    monkeypatch.setattr(git, "_SECONDS", 1.0)
    with pytest.raises(GitError, match=r"had not ended within 1 s.*Look with: git --version"):
        run(["status"], top)
    state = Path(f"/proc/{int(left.read_text())}/stat")
    until = time.monotonic() + 30.0
    while not ended(state) and time.monotonic() < until:  # it was told to end, and on a busy machine that takes a while
        time.sleep(0.01)
    assert ended(state)


def ended(state: Path) -> bool:
    """Whether the process behind ``/proc/PID/stat`` is gone, or nothing of it is left but its code."""
    try:
        return state.read_bytes().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_an_answer_that_is_too_long_is_refused(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(git, "_MOST", 10)
    with pytest.raises(GitError, match="wrote more than 10 bytes"):
        run(["help", "--all"], top)


def test_no_git_and_no_folder_are_told_apart(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(GitError, match=r"There is no folder .*nowhere that can be entered\. Look with: ls -d"):
        run(["status"], top / "nowhere")
    monkeypatch.setenv("PATH", str(top))
    with pytest.raises(GitError, match=r"cannot be started: .*Look with: git --version"):
        run(["status"], top)


def test_names_are_what_the_file_system_holds() -> None:
    assert names(b"a b\0c\nd\0\xff\0") == ["a b", "c\nd", os.fsdecode(b"\xff")]
    assert names(b"") == []
