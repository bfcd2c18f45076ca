"""Both sides on disk: what they hold, what may not run, and that the user's repository stays as it was."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.subject import SubjectError
from harness.subject.scratch import PREFIX
from harness.subject.trees import materialise
from tests.harness.subject.repository import Repo, fingerprint, listing


def test_a_dirty_tree(work: Repo, temporary: Path) -> None:
    base = work.commit(
        {
            "kept.py": "1",
            "edited.py": "1",
            "staged.py": "1",
            "deleted.py": "1",
            "gone/x.py": "1",
            ".gitignore": "*.log\n",
        }
    )
    work.write({"edited.py": "2", "staged.py": "2", "src/new.py": "n", "run.log": "ignored", "forced.log": "f"})
    work.git("add", "staged.py")
    work.git("add", "--force", "forced.log")
    work.write({"staged.py": "3"})
    (work.top / "deleted.py").unlink()
    shutil.rmtree(work.top / "gone")
    before = fingerprint(work.top)
    with materialise(work.project(), work.base()) as sides:
        assert fingerprint(work.top) == before
        assert listing(sides.base[0]) == {
            "kept.py": b"1",
            "edited.py": b"1",
            "staged.py": b"1",
            "deleted.py": b"1",
            "gone/x.py": b"1",
            ".gitignore": b"*.log\n",
        }
        assert listing(sides.head[0]) == {
            "kept.py": b"1",
            "edited.py": b"2",
            "staged.py": b"3",
            "src/new.py": b"n",
            "forced.log": b"f",
            ".gitignore": b"*.log\n",
        }
        for first, second in (sides.base, sides.head):
            assert listing(first) == listing(second)
            assert not first.samefile(second)
        assert len({len(str(root)) for root in sides.roots}) == 1
        assert len({*sides.roots}) == 4
        assert {root.parent for root in sides.roots} == {sides.folder}
        assert (sides.warnings, sides.unfiltered) == ((), ())
        assert not (sides.base[0] / "gone" / "x.py").samefile(sides.base[1] / "gone" / "x.py")
    assert list(temporary.iterdir()) == []
    assert work.git("rev-parse", "HEAD") == base


def test_modes_and_links(work: Repo, request: pytest.FixtureRequest) -> None:
    work.write({"tool": "#!/bin/sh\n", "plain": "x", "sub/inner": "y"})
    (work.top / "tool").chmod(0o755)
    (work.top / "sub" / "up").symlink_to("../plain")
    (work.top / "folder").symlink_to("sub")
    (work.top / "dangling").symlink_to("nowhere")
    work.commit()
    (work.top / "plain").chmod(0o600)
    # Left behind by a clone on another file system; here both would be wrong.
    work.git("config", "core.symlinks", "false")
    work.git("config", "core.fileMode", "false")
    mask = os.umask(0o077)
    request.addfinalizer(lambda: os.umask(mask))
    with materialise(work.project(), work.base()) as sides:
        for root in sides.roots:
            assert stat.S_IMODE((root / "tool").stat().st_mode) == 0o755
            assert stat.S_IMODE((root / "plain").stat().st_mode) == 0o644
            assert str((root / "sub" / "up").readlink()) == "../plain"
            assert (root / "folder" / "inner").read_text() == "y"
            assert str((root / "dangling").readlink()) == "nowhere"


def test_a_tracked_folder_that_became_a_link_is_not_followed(work: Repo) -> None:
    work.commit({"d/f": "1", "other/f": "2"})
    shutil.rmtree(work.top / "d")
    (work.top / "d").symlink_to("other")
    with materialise(work.project(), work.base()) as sides:
        assert listing(sides.head[0]) == {"d": "-> other", "other/f": b"2"}
        assert listing(sides.base[0]) == {"d/f": b"1", "other/f": b"2"}


@pytest.mark.parametrize("target", ["/etc/hostname", "../outside", "sub/../../work/x", "hop/../../x", "../a/x"])
def test_a_link_out_of_the_tree_is_refused_by_name(work: Repo, temporary: Path, target: str) -> None:
    work.commit({"x": "1", "sub/deep/y": "1"})
    (work.top / "hop").symlink_to("sub")
    assert work.base()
    (work.top / "bad link").symlink_to(target)
    with (
        pytest.raises(SubjectError, match=r"The symbolic link 'bad link' of the head leads out .*'/bad link' >> "),
        materialise(work.project(), work.base()),
    ):
        pass
    work.commit()
    (work.top / "bad link").unlink()
    with (
        pytest.raises(SubjectError, match=r"'bad link' of the base \w+ leads .* git log --oneline -- 'bad link'$"),
        materialise(work.project(), work.base()),
    ):
        pass
    assert list(temporary.iterdir()) == []


HOSTILE = [
    b"a b",
    b"line\nbreak",
    b"\xff\xfe",
    b"-rf",
    b'quo"te',
    b"tab\t",
    b"*",
    b"A",
    b"a",
    b":(top)x",
    b"back\\slash",
]


def test_hostile_names(work: Repo) -> None:
    names = [os.fsdecode(name) for name in HOSTILE]
    for name in names:
        folder = work.top / "tracked" / name
        folder.mkdir(parents=True)
        (folder / name).write_bytes(os.fsencode(name))
    work.commit()
    for name in names:
        (work.top / name).write_bytes(os.fsencode(name))
    with materialise(work.project(), work.base()) as sides:
        tracked = {f"tracked/{name}/{name}": os.fsencode(name) for name in names}
        for root in sides.base:
            assert listing(root) == tracked
        for root in sides.head:
            assert listing(root) == tracked | {name: os.fsencode(name) for name in names}


def test_names_that_differ_in_case_are_two(work: Repo) -> None:
    work.commit({"lower": "1"})
    work.git("config", "core.ignoreCase", "true")
    work.write({"LOWER": "2"})
    with materialise(work.project(), work.base()) as sides:
        assert listing(sides.base[0]) == {"lower": b"1"}
        assert listing(sides.head[0]) == {"lower": b"1", "LOWER": b"2"}


def test_a_project_inside_a_repository(work: Repo) -> None:
    work.commit({"apps/one/src/pkg/__init__.py": "1", "shared/data": "d"})
    work.write({"apps/one/new.py": "2"})
    with materialise(work.project("apps/one"), work.base()) as sides:
        assert listing(sides.base[0]) == {"src/pkg/__init__.py": b"1"}
        assert set(listing(sides.head[1])) == {"src/pkg/__init__.py", "new.py"}
        assert (sides.head[0] / "../../shared/data").read_text() == "d"


def test_a_project_that_is_new(work: Repo) -> None:
    work.commit({"readme": "x"})
    work.write({"apps/one/pkg.py": "1"})
    with materialise(work.project("apps/one"), work.base()) as sides:
        assert listing(sides.base[1]) == {}
        assert listing(sides.head[1]) == {"pkg.py": b"1"}


def test_a_project_that_git_ignores(work: Repo) -> None:
    work.commit({".gitignore": "apps/\n"})
    work.write({"apps/one/pkg.py": "1"})
    with (
        pytest.raises(SubjectError, match=r"git ignores everything .* git status --ignored$"),
        materialise(work.project("apps/one"), work.base()),
    ):
        pass


def test_a_linked_working_tree(work: Repo, tmp_path: Path) -> None:
    work.commit({"a.py": "1"})
    work.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "linked"))
    linked = Repo.__new__(Repo)
    linked.top = tmp_path / "linked"
    linked.write({"a.py": "2"})
    before = fingerprint(work.top / ".git")
    with materialise(linked.project(), linked.base("main")) as sides:
        assert listing(sides.base[0]) == {"a.py": b"1"}
        assert listing(sides.head[0]) == {"a.py": b"2"}
    assert fingerprint(work.top / ".git") == before


def test_nothing_of_the_user_runs_and_nothing_of_git_changes(work: Repo, tmp_path: Path) -> None:
    """Hooks, a monitor and filters would each leave a mark; a split index would leave its half in .git."""
    mark = tmp_path / "mark"
    work.commit({"a.py": "1", "b.dat": "2", ".gitattributes": "*.dat filter=touchy\n"})
    script = f"#!/bin/sh\necho \"$0\" >> '{mark}'\nexit 0\n"
    hooks = work.top / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-checkout", "post-index-change", "fsmonitor-watchman", "reference-transaction", "pre-auto-gc"):
        (hooks / hook).write_text(script)
        (hooks / hook).chmod(0o755)
    work.git("config", "core.hooksPath", str(hooks))
    work.git("config", "core.fsmonitor", str(hooks / "fsmonitor-watchman"))
    for kind in ("smudge", "clean", "process"):
        work.git("config", f"filter.touchy.{kind}", f"sh -c 'echo {kind} >> {mark}; cat'")
    work.git("config", "filter.touchy.required", "true")
    work.git("config", "core.splitIndex", "true")
    work.git("config", "core.untrackedCache", "true")
    mark.unlink(missing_ok=True)
    work.write({"b.dat": "3", "a.py": "4", "c.dat": "5"})
    os.utime(work.top / "a.py", (1, 1))
    before = fingerprint(work.top)
    with materialise(work.project(), work.base()) as sides:
        assert (sides.base[0] / "b.dat").read_text() == "2"
        assert (sides.head[0] / "b.dat").read_text() == "3"
        assert (sides.head[0] / "c.dat").read_text() == "5"
        assert sides.unfiltered == ("b.dat",)
    assert not mark.exists()
    assert fingerprint(work.top) == before


def test_attributes_are_those_of_the_commit(work: Repo) -> None:
    work.commit({".gitattributes": "*.txt text eol=crlf\n", "a.txt": "one\ntwo\n"})
    work.write({".gitattributes": "*.txt -text\n", "a.txt": "one\n"})
    with materialise(work.project(), work.base()) as sides:
        assert (sides.base[0] / "a.txt").read_bytes() == b"one\r\ntwo\r\n"
        assert (sides.head[0] / "a.txt").read_bytes() == b"one\n"


def test_an_embedded_repository_is_left_out_and_named(work: Repo) -> None:
    work.commit({"a": "1"})
    Repo(work.top / "vendored").commit({"b": "1"})
    with materialise(work.project(), work.base()) as sides:
        assert listing(sides.head[0]) == {"a": b"1"}
        assert len(sides.warnings) == 1
        assert sides.warnings[0].startswith("'vendored/' are repositories inside this one")


def test_a_temporary_folder_inside_the_repository(work: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    work.commit({"a": "1"})
    work.write({"tmp/other": "x"})
    monkeypatch.setattr("tempfile.tempdir", str(work.top / "tmp"))
    with materialise(work.project(), work.base()) as sides:
        assert sides.folder.parent == work.top / "tmp"
        assert listing(sides.head[0]) == {"a": b"1"}


@pytest.mark.parametrize("index", ["--sparse-index", "--no-sparse-index"])
def test_a_sparse_working_tree_is_whole_on_both_sides(work: Repo, index: str) -> None:
    work.commit({"in/a": "1", "out/b": "1", "out/deep/c d": "1"})
    work.git("sparse-checkout", "set", "--cone", index, "in")
    if index == "--no-sparse-index":
        work.git("config", "core.splitIndex", "true")
    assert not (work.top / "out").exists()
    before = fingerprint(work.top)
    with materialise(work.project(), work.base()) as sides:
        assert (
            listing(sides.head[0])
            == listing(sides.base[0])
            == {
                "in/a": b"1",
                "out/b": b"1",
                "out/deep/c d": b"1",
            }
        )
    assert fingerprint(work.top) == before


def test_a_partial_clone_is_not_fetched_for(work: Repo, tmp_path: Path) -> None:
    old = work.commit({"a": "1"})
    work.commit({"a": "2"})
    work.git("config", "uploadpack.allowFilter", "true")
    work.git("config", "uploadpack.allowAnySHA1InWant", "true")
    work.git("clone", "--quiet", "--filter=blob:none", f"file://{work.top}", str(tmp_path / "partial"))
    partial = Repo(tmp_path / "partial")
    before = fingerprint(partial.top / ".git")
    with (
        pytest.raises(
            SubjectError, match=rf"partial clone, and it lacks 1 files .* git archive --output=/dev/null {old}$"
        ),
        materialise(partial.project(), partial.base(old)),
    ):
        pass
    assert fingerprint(partial.top / ".git") == before
    partial.git("archive", "--output=/dev/null", old)
    with materialise(partial.project(), partial.base(old)) as sides:
        assert listing(sides.base[0]) == {"a": b"1"}


def test_an_unreadable_file_is_named(work: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    work.commit({"a": "1"})
    monkeypatch.setattr("os.access", lambda *words, **more: False)
    with pytest.raises(SubjectError, match=r"work/a cannot be read"), materialise(work.project(), work.base()):
        pass


@pytest.mark.parametrize("where", ["shutil.copyfile", "shutil.copytree"])
def test_a_full_disk(work: Repo, temporary: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    work.commit({"a": "1"})

    def full(source: object, target: object, **more: object) -> None:
        fault = OSError(28, os.strerror(28), str(target))
        raise shutil.Error([(source, target, str(fault))]) if where.endswith("tree") else fault

    monkeypatch.setattr(where, full)
    with (
        pytest.raises(SubjectError, match=r"There is no room in .* export TMPDIR=/path/with/room$"),
        materialise(work.project(), work.base()),
    ):
        pass
    assert list(temporary.iterdir()) == []


def test_a_full_disk_under_git(work: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """git says which file it could not write; why, it did not say on a disk that was full indeed."""
    work.commit({"a": "1"})
    base = work.base()
    real = shutil.which("git")
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(
        f'#!/bin/sh\ncase "$*" in *checkout-index*) echo "error: unable to write file a" >&2; '
        f'exit 128;; esac\nexec {real} "$@"\n'
    )
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{fake.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(SubjectError, match=r"said: error: unable to write file a\."), materialise(work.project(), base):
        pass
    monkeypatch.setattr("shutil.disk_usage", lambda place: SimpleNamespace(free=4096))
    with pytest.raises(SubjectError, match="There is no room in"), materialise(work.project(), base):
        pass


def test_the_letters_can_be_crossed(work: Repo) -> None:
    work.commit({"a": "1"})
    with materialise(work.project(), work.base(), letters="dbac") as sides:
        assert [root.name for root in sides.roots] == ["d", "b", "a", "c"]
        assert sides.folder.name.startswith(PREFIX)
    for letters in ("abc", "aabc", "ab/c"):
        with pytest.raises(ValueError, match="four different letters"):
            materialise(work.project(), work.base(), letters=letters).__enter__()
