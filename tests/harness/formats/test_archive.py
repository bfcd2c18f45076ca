"""Archives that were made to harm, or were harmed: what may be read is read, the rest is left out and told."""

from __future__ import annotations

import builtins
import io
import struct
import sys
import zipfile
import zlib
from typing import Any

import pytest
from hypothesis import given

from harness.formats import archive
from harness.formats.archive import MOST_MEMBERS, MOST_RATIO, Archive, Member, members, open_member
from harness.formats.limits import FormatError, Limits
from kpis.terms.trace import IssueCode

from .run_reading import damaged

SMALL = Limits(max_bytes=1 << 20)
NOISE = bytes((at * 2_654_435_761 >> 13) & 0xFF for at in range(5_000))


def packed(*named: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    blob = io.BytesIO()
    with zipfile.ZipFile(blob, "w", method) as made:
        for name, data in named:
            made.writestr(name, data, compress_type=method)
    return blob.getvalue()


def directory(data: bytes, at: int = 0) -> int:
    """Where the entry number ``at`` of the directory of members begins."""
    found = -1
    for _ in range(at + 1):
        found = data.index(b"PK\x01\x02", found + 1)
    return found


def patched(data: bytes, at: int, form: str, value: int) -> bytes:
    changed = bytearray(data)
    struct.pack_into(form, changed, at, value)
    return bytes(changed)


def inside(data: bytes, limits: Limits = SMALL) -> tuple[list[str], list[str]]:
    """The names that may be read, and why the others may not."""
    found = list(members(io.BytesIO(data), limits))
    issues = [each for each in found if not isinstance(each, Member)]
    assert all(each.code is IssueCode.E_ARCHIVE for each in issues)
    return [each.name for each in found if isinstance(each, Member)], [each.message for each in issues]


def test_members_are_read_as_they_were_written() -> None:
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        data = packed(("a.json", b"{}"), ("runs/b.json", NOISE), ("empty/", b""), method=method)
        assert inside(data) == (["a.json", "runs/b.json"], [])
        assert open_member(io.BytesIO(data), "runs/b.json", SMALL) == NOISE


def test_of_two_members_with_one_name_the_last_counts() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = packed(("a.json", b"old"), ("b.json", b"b"), ("a.json", b"new"))
    assert sorted(inside(data)[0]) == ["a.json", "b.json"]
    assert open_member(io.BytesIO(data), "a.json", SMALL) == b"new"


def test_a_bomb_is_left_out_by_its_ratio_and_by_its_size() -> None:
    data = packed(("bomb.json", b"0" * (3 << 20)), ("good.json", b"{}"))
    names, said = inside(data, Limits(max_bytes=8 << 20))
    assert (names, len(said)) == (["good.json"], 1)
    assert f"{MOST_RATIO} times" in said[0]
    names, said = inside(data)
    assert (names, len(said)) == (["good.json"], 1)
    assert "more than 1,048,576 bytes" in said[0]
    with pytest.raises(FormatError, match="cannot be unpacked"):
        open_member(io.BytesIO(data), "bomb.json", SMALL)


def test_what_shrinks_far_but_is_small_is_no_bomb() -> None:
    data = packed(("zeros.json", b"0" * 500_000))
    assert 500_000 / len(data) > MOST_RATIO
    assert inside(data) == (["zeros.json"], [])


@pytest.mark.parametrize(
    "name", ["../evil.json", "runs/../../evil.json", "/etc/evil.json", "..\\evil.json", "C:/evil.json", "\\\\host\\a"]
)
def test_a_name_that_leaves_the_archive(name: str) -> None:
    names, said = inside(packed((name, b"{}"), ("good.json", b"{}")))
    assert names == ["good.json"]
    assert "its name leaves the archive" in said[0]
    with pytest.raises(FormatError):
        open_member(io.BytesIO(packed((name, b"{}"))), zipfile.ZipInfo(name).filename, SMALL)


def test_a_member_without_a_name() -> None:
    data = packed(("x", b"{}"))
    at = directory(data)
    nameless = data[: at + 28] + struct.pack("<H", 0) + data[at + 30 : at + 46] + data[at + 47 :]
    end = nameless.rindex(b"PK\x05\x06")
    nameless = patched(nameless, end + 12, "<L", 46)
    assert inside(nameless)[0] == []
    assert "it has no name" in inside(nameless)[1][0]


def test_a_link() -> None:
    link = zipfile.ZipInfo("link.json")
    link.external_attr = 0o120777 << 16
    names, said = inside(packed((link, b"/etc/passwd"), ("good.json", b"{}")))
    assert names == ["good.json"]
    assert "it is a link" in said[0]


def test_an_encrypted_member() -> None:
    data = packed(("secret.json", b"{}"), ("good.json", b"{}"))
    data = patched(patched(data, 6, "<H", 1), directory(data) + 8, "<H", 1)
    names, said = inside(data)
    assert names == ["good.json"]
    assert "it is encrypted" in said[0]


def test_a_method_that_nothing_here_unpacks() -> None:
    for method in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        names, said = inside(packed(("a.json", NOISE), method=method))
        assert names == []
        assert "packed in a way that is not read here" in said[0]


def test_sixty_thousand_members() -> None:
    data = packed(*((f"{at}", b"") for at in range(60_000)), method=zipfile.ZIP_STORED)
    with pytest.raises(FormatError, match=f"60,000 members, more than {MOST_MEMBERS:,}"):
        inside(data)


def test_a_directory_that_would_fill_a_memory_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_MOST_DIRECTORY", 1_000)
    data = packed(*((f"{at}", b"") for at in range(30)))

    def never(*_: Any) -> Any:
        raise AssertionError("the directory was read")

    monkeypatch.setattr(zipfile, "ZipFile", never)
    with pytest.raises(FormatError, match="far more than"):
        inside(data)
    end = data.rindex(b"PK\x05\x06")
    long = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 30, 30, 5_000, end) + b"PK\x06\x07" + bytes(16)
    with pytest.raises(FormatError, match="far more than"):
        inside(patched(data[:end] + long + data[end:], end + len(long) + 12, "<L", 0xFFFFFFFF))


def test_members_that_overlap() -> None:
    data = packed(("a.json", NOISE), ("b.json", b"{}"), method=zipfile.ZIP_STORED)
    second = directory(data, 1)
    overlapping = patched(patched(data, second + 20, "<L", 2 * len(NOISE)), second + 24, "<L", 2 * len(NOISE))
    with pytest.raises(FormatError, match="overlap"):
        inside(overlapping)


def test_a_wrong_checksum() -> None:
    data = packed(("a.json", NOISE), ("b.json", b"{}"))
    wrong = patched(data, directory(data) + 16, "<L", zlib.crc32(b"other"))
    assert inside(wrong)[0] == ["a.json", "b.json"]
    with pytest.raises(FormatError, match="cannot be unpacked"):
        open_member(io.BytesIO(wrong), "a.json", SMALL)
    assert open_member(io.BytesIO(wrong), "b.json", SMALL) == b"{}"


@pytest.mark.parametrize("said", [10, 5_001, 900_000])
def test_a_header_that_lies_about_the_size(said: int) -> None:
    data = packed(("a.json", NOISE))
    lying = patched(patched(data, directory(data) + 24, "<L", said), 22, "<L", said)
    try:
        found = open_member(io.BytesIO(lying), "a.json", SMALL)
    except FormatError as error:
        assert "cannot be unpacked" in str(error)
    else:  # more was promised than there is
        assert found == NOISE
        assert said > len(NOISE)


def test_what_is_no_archive_and_what_is_no_member() -> None:
    whole = packed(("a.json", NOISE))
    for data in (b"", b"PK\x03\x04", b"{}", whole[:-30], whole[:100]):
        with pytest.raises(FormatError, match="unzip -t FILE"):
            inside(data)
    with pytest.raises(FormatError, match="there is none of its name"):
        open_member(io.BytesIO(whole), "b.json", SMALL)


def zstd_packed(name: str, data: bytes, *, claimed: int | None = None, crc: int | None = None) -> bytes:
    """An archive with one member that is packed with Zstandard, which Python cannot write before 3.14."""
    zstandard = pytest.importorskip("zstandard")
    body = zstandard.ZstdCompressor().compress(data)
    plain = packed((name, body), method=zipfile.ZIP_STORED)
    for at in (0, directory(plain)):
        base = at + (8 if at == 0 else 10)
        plain = patched(plain, base, "<H", 93)
        plain = patched(plain, base + 6, "<L", zlib.crc32(data) if crc is None else crc)
        plain = patched(plain, base + 14, "<L", len(data) if claimed is None else claimed)
    return plain


def test_a_member_packed_with_zstandard() -> None:
    data = zstd_packed("a.json", NOISE * 3)
    assert inside(data) == (["a.json"], [])
    assert open_member(io.BytesIO(data), "a.json", SMALL) == NOISE * 3
    shifted = io.BytesIO(data)
    archive_of_it = Archive(shifted, SMALL)
    assert archive_of_it.read("a.json") == archive_of_it.read("a.json")


def test_a_zstandard_member_that_lies() -> None:
    for lying in (
        zstd_packed("a.json", NOISE, claimed=10),
        zstd_packed("a.json", NOISE, crc=1),
        zstd_packed("a.json", b"\0" * (2 << 20), claimed=1_000),
        zstd_packed("a.json", NOISE).replace(b"\x28\xb5\x2f\xfd", b"\x28\xb5\x2f\xfe"),
    ):
        with pytest.raises(FormatError, match="A member of the archive"):
            open_member(io.BytesIO(lying), "a.json", SMALL)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python unpacks it by itself")
def test_a_zstandard_member_without_a_decoder(monkeypatch: pytest.MonkeyPatch) -> None:
    data = zstd_packed("a.json", NOISE)
    real = builtins.__import__

    def without(name: str, *more: Any) -> Any:
        if name == "zstandard":
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(FormatError, match=r"pip install zstandard$"):
        open_member(io.BytesIO(data), "a.json", SMALL)


@given(damaged(packed(("a.json", NOISE[:300]), ("runs/b.json", b"{}" * 40))))
def test_damaged_archives(data: bytes) -> None:
    try:
        opened = Archive(io.BytesIO(data), SMALL)
    except FormatError:
        return
    for each in opened.members():
        if isinstance(each, Member):
            try:
                assert len(opened.read(each.name)) <= SMALL.max_bytes
            except FormatError:
                continue
