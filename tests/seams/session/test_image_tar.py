"""An image as an archive: the same bytes each time, and nothing from elsewhere that could do harm."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from harness.probes.session._archives import archives
from seams.contract.image import HEADER, ImageRefusedError
from seams.session.image import SessionImages
from seams.session.image_tar import MOST_ENTRIES
from tests.seams.session.sessions import NOW, dumped

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


def test_whatever_stands_between_and_behind_the_entries_is_refused(archive: Path, tmp_path: Path) -> None:
    data = archive.read_bytes()
    first = 512 + (tmp_path / "image" / HEADER).stat().st_size
    assert refused(data[:first] + b"x" + data[first + 1 :], tmp_path).part == HEADER
    assert "does not end" in str(refused(data[:-1] + b"x", tmp_path))
    assert "does not end" in str(refused(data[:-512], tmp_path))
    assert "does not end" in str(refused(data + bytes(20_480), tmp_path))
    assert "head is damaged" in str(refused(b"x" + data[1:], tmp_path))
    assert refused(data[:700], tmp_path).part == HEADER
