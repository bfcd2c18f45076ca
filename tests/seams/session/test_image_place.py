"""The place of an image: what is replaced there, who may write at once, and what a killed writer leaves."""

from __future__ import annotations

import errno
import os
import signal
import threading
from pathlib import Path

import pytest

from seams.contract.image import HEADER, ImageRefusedError, Session
from seams.session import image_place
from seams.session.image import SessionImages
from seams.session.image_files import hidden
from seams.session.image_header import SESSION
from seams.session.image_place import beside
from tests.seams.session.sessions import NOW, dumped

IMAGES = SessionImages()


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def no_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file system has no single step for it."""
    monkeypatch.setattr(image_place, "_exchanged", lambda one, other: False)


def killed(place: Path, at: str) -> None:
    """Dump into ``place`` in a child that is killed right after ``image_place`` or ``Path`` did ``at``."""
    child = os.fork()
    if not child:
        owner = Path if at == "rename" else image_place
        real = getattr(owner, at)

        def last(*given):
            real(*given)
            os.kill(os.getpid(), signal.SIGKILL)

        setattr(owner, at, last)
        IMAGES.dump(Session("newer"), place, now=NOW)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL


@pytest.mark.parametrize(
    "more",
    [
        {"notes.txt": b"a diary"},
        {"sub/notes.txt": b"a diary"},
        {"session.json/notes.txt": b"a diary"},
        {HEADER: b'{"my":"dataset"}'},
        {HEADER: b"[]"},
        {HEADER: b"\xff"},
        {HEADER: b""},
    ],
    ids=["a file more", "a folder more", "a folder by a part's name", "another's JSON", "a list", "no text", "empty"],
)
def test_a_folder_that_is_not_an_image_alone_is_left_as_it_is(more: dict[str, bytes], tmp_path: Path) -> None:
    place = dumped(tmp_path / "image")
    for name, data in more.items():
        if "/" in name:
            (place / SESSION).unlink()
            (place / name).parent.mkdir()
        (place / name).write_bytes(data)
    before = {each: each.read_bytes() for each in place.rglob("*") if each.is_file()}
    with pytest.raises(ImageRefusedError, match="image is there already and is no image; name another folder, or rem"):
        dumped(place)
    assert {each: each.read_bytes() for each in place.rglob("*") if each.is_file()} == before
    assert names(tmp_path) == ["image"]


def test_an_image_of_another_version_or_a_damaged_one_is_replaced(tmp_path: Path) -> None:
    place = dumped(tmp_path / "image")
    header = (place / HEADER).read_bytes()
    for data in (header.replace(b"image.v1", b"image.v0"), header.replace(b"desk-7", b"desk-8")):
        (place / HEADER).write_bytes(data)
        (place / SESSION).write_bytes(b"")
        IMAGES.verify(dumped(place))


@pytest.mark.parametrize("at", ["_exchanged", "_forced"])
def test_a_writer_that_is_killed_leaves_a_whole_image_and_the_next_one_clears_up(at: str, tmp_path: Path) -> None:
    place = dumped(tmp_path / "image")
    killed(place, at)
    assert len(names(tmp_path)) == 3  # the image, what was new or old, and the lock
    assert IMAGES.verify(place).id == ("newer" if at == "_exchanged" else "desk-7")
    IMAGES.dump(Session("last"), place, now=NOW)
    assert IMAGES.verify(place).id == "last"
    assert names(tmp_path) == ["image"]


def test_where_nothing_can_be_exchanged_a_kill_leaves_the_old_image_which_is_named_and_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = dumped(tmp_path / "image")
    no_exchange(monkeypatch)
    real = Path.rename

    def only_out(self: Path, target: Path) -> Path:
        if self != place:
            raise OSError(errno.ENOTEMPTY, "not empty")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", only_out)
    monkeypatch.setattr(image_place, "_put", lambda new, at: at.rename(hidden(at).old))
    killed(place, "_put")
    monkeypatch.undo()
    assert not place.exists()
    with pytest.raises(ImageRefusedError, match=r"left the image of before as .*/\.image\.dump-old, and the next one"):
        IMAGES.load(place)
    IMAGES.verify(hidden(place).old)
    broken = Session("s", model=5)  # type: ignore[arg-type]
    with pytest.raises(ImageRefusedError, match="has 5 as its model"):
        IMAGES.dump(broken, place, now=NOW)
    assert IMAGES.verify(place).id == "desk-7"
    assert names(tmp_path) == ["image"]


def test_without_an_exchange_an_image_is_replaced_in_two_moves_or_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = dumped(tmp_path / "image")
    no_exchange(monkeypatch)
    IMAGES.dump(Session("newer"), place, now=NOW)
    assert (IMAGES.verify(place).id, names(tmp_path)) == ("newer", ["image"])
    real = Path.rename

    def fails(self: Path, target: Path) -> Path:
        if self == hidden(place).new and not place.exists():
            raise OSError(errno.EIO, "the disk fails")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(OSError, match="the disk fails"):
        IMAGES.dump(Session("last"), place, now=NOW)
    assert (IMAGES.verify(place).id, names(tmp_path)) == ("newer", ["image"])


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_system_without_an_exchange_is_no_error_and_a_failing_one_is(code: int, tmp_path: Path, monkeypatch) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_bytes(b"")
    assert image_place._exchanged(tmp_path / "one", tmp_path / "other")
    assert (names(tmp_path / "one"), names(tmp_path / "other")) == (["other"], ["one"])
    with pytest.raises(FileNotFoundError):
        image_place._exchanged(tmp_path / "one", tmp_path / "none")
    monkeypatch.setattr("ctypes.get_errno", lambda: code)
    assert not image_place._exchanged(tmp_path / "one", tmp_path / "none")
    monkeypatch.setattr("ctypes.CDLL", lambda *given, **named: object())
    assert not image_place._exchanged(tmp_path / "one", tmp_path / "other")


def test_writers_to_one_place_take_turns(tmp_path: Path) -> None:
    place, faults = tmp_path / "image", []

    def write(who: int) -> None:
        try:
            for number in range(15):
                IMAGES.dump(Session(f"{who}-{number}"), place, now=NOW, durable=False)
        except Exception as error:  # shown below, in the test's own thread
            faults.append(error)

    threads = [threading.Thread(target=write, args=(who,)) for who in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert faults == []
    assert IMAGES.verify(place).id in {f"{who}-14" for who in range(3)}
    assert names(tmp_path) == ["image"]


def test_a_lock_that_its_last_holder_took_along_is_none(tmp_path: Path, monkeypatch) -> None:
    lock, real = hidden(tmp_path / "image").lock, image_place._opened
    opened: list[int] = []

    def late(path: Path, place: Path) -> int:
        opened.append(real(path, place))
        if len(opened) == 1:
            path.unlink()  # the holder before ends between the opening and the locking
        return opened[-1]

    monkeypatch.setattr(image_place, "_opened", late)
    with beside(tmp_path / "image"):
        assert len(opened) == 2
        assert os.path.samestat(os.fstat(opened[1]), lock.lstat())
    assert names(tmp_path) == []


def test_a_writer_that_does_not_end_is_not_waited_for_without_end(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(image_place, "_PATIENCE_S", 0.0)
    with beside(tmp_path / "image") as new:
        new.mkdir()
        with pytest.raises(ImageRefusedError, match="image is being written by somebody else"):
            dumped(tmp_path / "image")
        assert new.is_dir()
    IMAGES.verify(dumped(tmp_path / "image"))


@pytest.mark.parametrize("which", ["new", "old", "lock"])
@pytest.mark.parametrize("kind", ["folder", "link", "file"])
def test_what_somebody_keeps_by_a_hidden_name_stays(which: str, kind: str, tmp_path: Path) -> None:
    place, theirs = tmp_path / "image", tmp_path / "theirs"
    (theirs / "deep").mkdir(parents=True)
    (theirs / "deep" / "diary.txt").write_bytes(b"a diary")
    own = getattr(hidden(place), which)
    if kind == "folder":
        theirs.rename(own)
    elif kind == "link":
        own.symlink_to(theirs)
    elif which == "lock":
        own.write_bytes(b"a diary")
    else:
        os.mkfifo(own)
    if (which, kind) == ("old", "folder"):
        dumped(tmp_path / "elsewhere").rename(place)  # or it would be taken for the image that stood there
    before = names(tmp_path)
    with pytest.raises(ImageRefusedError, match=r"somebody's; move it, or name another|cannot be written: "):
        dumped(place)
    assert [each for each in names(tmp_path) if each != hidden(place).lock.name] == [
        each for each in before if each != hidden(place).lock.name
    ]
    assert own.is_symlink() or own.exists()
    assert which != "lock" or own.is_symlink() or own.is_dir() or own.read_bytes() == b"a diary"


@pytest.mark.parametrize("name", [".", "..", "sub/..", "a\0b", "x" * 250])
def test_a_place_without_a_name_or_with_none_that_can_be_is_refused(name: str, tmp_path: Path, monkeypatch) -> None:
    loaded = IMAGES.load(dumped(tmp_path / "image"))
    IMAGES.pack(loaded, tmp_path / "image.tar")
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    for write in (
        lambda place: IMAGES.dump(Session("s"), place, now=NOW),
        lambda place: IMAGES.pack(loaded, place),
        lambda place: IMAGES.unpack(Path("image.tar"), place),
    ):
        with pytest.raises(ImageRefusedError, match=r"names no file or folder|cannot be written: File name too long"):
            write(Path(name))
    assert names(tmp_path) == ["image", "image.tar", "sub"]


@pytest.mark.parametrize(("mask", "mode"), [(0o077, 0o700), (0o027, 0o750), (0o022, 0o755)])
def test_a_folder_is_as_open_as_its_owner_lets_new_ones_be(mask: int, mode: int, tmp_path: Path) -> None:
    IMAGES.pack(IMAGES.load(dumped(tmp_path / "first")), tmp_path / "image.tar")
    before = os.umask(mask)
    try:
        dumped(tmp_path / "image")
        IMAGES.unpack(tmp_path / "image.tar", tmp_path / "out")
    finally:
        os.umask(before)
    for name in ("image", "out"):
        assert (tmp_path / name).stat().st_mode & 0o777 == mode
