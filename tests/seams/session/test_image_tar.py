"""An image as an archive: the same bytes each time, and nothing from elsewhere that could do harm."""

from __future__ import annotations

import errno
import io
import os
import tarfile
import tempfile
from pathlib import Path

import pytest

from harness.probes.session._archives import archives
from seams.contract.image import HEADER, ImageRefusedError
from seams.session.image import SessionImages
from seams.session.image_header import END_OF_TIME
from seams.session.image_tar import MOST_ENTRIES, unpacked
from tests.seams.session.sessions import NOW, dumped, session

IMAGES = SessionImages()


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    IMAGES.pack(IMAGES.load(dumped(tmp_path / "image")), tmp_path / "image.tar")
    return tmp_path / "image.tar"


def made(*entries: tuple[str, bytes], **fields) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=fields.pop("format", tarfile.USTAR_FORMAT)) as tar:
        for name, data in entries:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            for field, value in fields.items():
                setattr(entry, field, value)
            tar.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def unpack(data: bytes, tmp_path: Path) -> Path:
    (tmp_path / "some.tar").write_bytes(data)
    IMAGES.unpack(tmp_path / "some.tar", tmp_path / "out")
    return tmp_path / "out"


def refused(data: bytes, tmp_path: Path) -> ImageRefusedError:
    before = sorted(each.name for each in tmp_path.iterdir())
    with pytest.raises(ImageRefusedError) as caught:
        unpack(data, tmp_path)
    left = sorted(each.name for each in tmp_path.iterdir() if each.name != "some.tar")
    assert left == [name for name in before if name != "some.tar"]
    return caught.value


def test_two_packs_are_equal_and_the_header_comes_first(archive: Path, tmp_path: Path) -> None:
    IMAGES.pack(IMAGES.load(tmp_path / "image"), tmp_path / "again.tar")
    assert archive.read_bytes() == (tmp_path / "again.tar").read_bytes()
    with tarfile.open(archive) as tar:
        members = tar.getmembers()
    parts = [part.name for part in IMAGES.verify(tmp_path / "image").parts]
    assert [each.name for each in members] == [HEADER, *parts]
    assert {(each.mode, each.uid, each.gid, each.uname, each.mtime) for each in members} == {(0o644, 0, 0, "", NOW)}


def test_an_archive_that_travelled_is_the_image(archive: Path, tmp_path: Path) -> None:
    IMAGES.unpack(archive, tmp_path / "out")
    assert IMAGES.verify(tmp_path / "out") == IMAGES.verify(tmp_path / "image")
    with pytest.raises(ImageRefusedError, match="out is there already; name a new folder"):
        IMAGES.unpack(archive, tmp_path / "out")


def test_no_bit_of_an_archive_can_be_changed(archive: Path, tmp_path: Path) -> None:
    """A bit of every third of a head and of a few of a body; of the checksums, which no sum covers, every bit."""
    data = bytearray(archive.read_bytes())
    with tarfile.open(archive) as tar:
        heads = [each.offset for each in tar.getmembers()]
    sums = {(head + place, bit) for head in heads for place in range(148, 156) for bit in range(8)}
    inside = {head + place for head in heads for place in range(512)}
    flips = {(at, at % 8) for at in range(len(data)) if at % (3 if at in inside else 64) == 0}
    for at, bit in sorted(flips | sums):
        data[at] ^= 1 << bit
        with tempfile.TemporaryDirectory(dir=tmp_path) as out, pytest.raises(ImageRefusedError):
            unpacked(io.BytesIO(data), Path(out))
            IMAGES.load(Path(out))
        data[at] ^= 1 << bit


@pytest.mark.parametrize("spelled", [b"%6o\0 ", b"%07o\0", b"%06o\0\0", b"%06o \0", b"%08o"])
def test_a_checksum_is_spelled_in_one_way(spelled: bytes, archive: Path, tmp_path: Path) -> None:
    data = archive.read_bytes()
    other = spelled % int(data[148:154], 8)
    assert (len(other), other != data[148:156]) == (8, True)
    assert tarfile.TarInfo.frombuf(data[:148] + other + data[156:512], "utf-8", "strict").name == HEADER
    assert "an entry 0 whose head is damaged" in str(refused(data[:148] + other + data[156:], tmp_path))


def test_another_tars_archive_of_the_same_files_is_taken(archive: Path, tmp_path: Path) -> None:
    files = [(each.name, each.read_bytes()) for each in (tmp_path / "image").iterdir()]
    for kind in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        out = unpack(made(*files, format=kind, mode=0o777, uid=1000, uname="somebody", mtime=5), tmp_path)
        assert IMAGES.verify(out) == IMAGES.verify(tmp_path / "image")
        for each in out.iterdir():
            assert each.stat().st_mode & 0o111 == 0
            each.unlink()
        out.rmdir()


def test_a_bad_archive_is_refused_by_the_name_of_its_entry(tmp_path: Path) -> None:
    files = {each.name: each.read_bytes() for each in dumped(tmp_path / "image").iterdir()}
    kinds = set()
    for kind, name, data in archives(files):
        if kind not in ("a part missing", "a part changed", "an entry too many"):  # an archive, but no image
            kinds.add(kind)
            found = refused(data, tmp_path)
            assert found.part == name or not name
    assert kinds == {
        "a path that leads out",
        "an entry twice",
        "too many entries",
        "a link",
        "a hard link",
        "a pipe",
        "cut",
        "emptied",
        "a byte of a head flipped",
    }


@pytest.mark.parametrize(
    "code", [tarfile.DIRTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.GNUTYPE_SPARSE, b"x", b"L"]
)
def test_what_a_tar_can_do_besides_is_refused(code: bytes, tmp_path: Path) -> None:
    entry = tarfile.TarInfo("more")
    entry.type = code
    found = refused(entry.tobuf(tarfile.USTAR_FORMAT) + bytes(1024), tmp_path)
    assert found.part.rstrip("/") == "more"
    assert "is no regular file" in str(found)


@pytest.mark.parametrize("name", ["..", ".", "a\nb", "a\x1b[2J", "a\u202eb"])
def test_a_name_that_is_not_plain_is_refused(name: str, tmp_path: Path) -> None:
    assert "is no plain name" in str(refused(made((name, b"x")), tmp_path))


def test_sixteen_entries_are_the_most(tmp_path: Path) -> None:
    entries = [(f"part-{number}", b"x") for number in range(MOST_ENTRIES + 1)]
    assert len(list(unpack(made(*entries[:-1]), tmp_path).iterdir())) == MOST_ENTRIES == 16
    (tmp_path / "out").rename(tmp_path / "aside")
    found = refused(made(*entries), tmp_path)
    assert found.part == "part-16"
    assert "16 are the most" in str(found)


def test_a_size_that_is_too_large_is_refused_before_it_is_read(tmp_path: Path, monkeypatch) -> None:
    entry = tarfile.TarInfo("huge")
    entry.size = (512 << 20) + 1
    assert "536870912 are the most" in str(refused(entry.tobuf(tarfile.USTAR_FORMAT), tmp_path))
    monkeypatch.setattr("seams.session.image_tar.MOST_BYTES", 10)
    found = refused(made(("one", b"123456"), ("two", b"12345")), tmp_path)
    assert found.part == "two"


@pytest.mark.parametrize("size", [-1, -5, -512, -(1 << 62)])
def test_a_size_below_nothing_is_refused_and_nothing_is_read(size: int, tmp_path: Path) -> None:
    head = bytearray(tarfile.TarInfo(HEADER).tobuf(tarfile.USTAR_FORMAT))
    head[124:136] = size.to_bytes(12, "big", signed=True)  # in base 256
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    found = refused(bytes(head) + b"x" * 4_096 + bytes(1_024), tmp_path)
    assert (found.part, f"is said to have {size} bytes" in str(found)) == (HEADER, True)


def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on an archive does not fit onto the disk."""

    def fails(files, when, out) -> None:
        out.write(b"x" * 100)
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr("seams.session.image.packed", fails)


def test_an_archive_that_cannot_be_written_leaves_the_one_that_was_there(
    archive: Path, tmp_path: Path, monkeypatch
) -> None:
    before, loaded = archive.read_bytes(), IMAGES.load(tmp_path / "image")
    full(monkeypatch)
    for file in (archive, tmp_path / "new.tar"):
        with pytest.raises(OSError, match="no space left"):
            IMAGES.pack(loaded, file)
    assert archive.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["image", "image.tar"]


def test_an_archive_gets_its_name_in_one_step(archive: Path, tmp_path: Path) -> None:
    with archive.open("rb") as before:
        IMAGES.pack(IMAGES.load(tmp_path / "image"), archive)
        assert archive.stat().st_ino != os.fstat(before.fileno()).st_ino


def test_an_archive_replaces_a_file_and_what_a_link_leads_to_and_nothing_else(archive: Path, tmp_path: Path) -> None:
    loaded = IMAGES.load(tmp_path / "image")
    good = archive.read_bytes()
    archive.write_bytes(b"older")
    (tmp_path / "link").symlink_to(archive)
    IMAGES.pack(loaded, tmp_path / "link")
    assert archive.read_bytes() == good
    assert (tmp_path / "link").is_symlink()
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "image"):
        with pytest.raises(ImageRefusedError, match=f"{name} is there already and is no file"):
            IMAGES.pack(loaded, tmp_path / name)
    assert (tmp_path / "pipe").is_fifo()


def test_a_moment_that_no_archive_can_say_is_not_dumped(tmp_path: Path) -> None:
    with pytest.raises(ImageRefusedError, match=f"no archive can say one from {END_OF_TIME} on"):
        IMAGES.dump(session(), tmp_path / "late", now=END_OF_TIME)
    assert list(tmp_path.iterdir()) == []
    for when in (END_OF_TIME - 1, -5):
        IMAGES.dump(session(), tmp_path / "image", now=when)
        IMAGES.pack(IMAGES.load(tmp_path / "image"), tmp_path / "image.tar")
        with tarfile.open(tmp_path / "image.tar") as tar:
            assert {each.mtime for each in tar.getmembers()} == {max(when, 0)}


def test_whatever_stands_between_and_behind_the_entries_is_refused(archive: Path, tmp_path: Path) -> None:
    data = archive.read_bytes()
    first = 512 + (tmp_path / "image" / HEADER).stat().st_size
    assert refused(data[:first] + b"x" + data[first + 1 :], tmp_path).part == HEADER
    assert "does not end" in str(refused(data[:-1] + b"x", tmp_path))
    assert "does not end" in str(refused(data[:-512], tmp_path))
    assert "does not end" in str(refused(data + bytes(20_480), tmp_path))
    assert "head is damaged" in str(refused(b"x" + data[1:], tmp_path))
    assert refused(data[:700], tmp_path).part == HEADER
