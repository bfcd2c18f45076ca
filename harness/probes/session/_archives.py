"""Archives of an image that nobody should take: made of its files by the library's own tar, each wrong in one way."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator, Mapping
from io import BytesIO

__all__ = ["archives"]

_SUM = range(148, 156)
"""Where the checksum of an entry stands in its head: spelled otherwise, it may be the same, and the archive whole."""


def archives(files: Mapping[str, bytes]) -> Iterator[tuple[str, str, bytes]]:
    """Bad archives of an image: what is wrong, the name to be refused or blank, and the bytes."""
    first = next(iter(files))

    def made(entries: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
        out = BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT, encoding="utf-8") as tar:
            for entry, data in entries:
                entry.size = len(data)
                tar.addfile(entry, BytesIO(data))
        return out.getvalue()

    plain = [(tarfile.TarInfo(name), data) for name, data in files.items()]
    whole = made(plain)
    for name in ("../out", "/tmp/out", "sub/out", "..", "c:out", "a\\out"):
        yield "a path that leads out", name, made([*plain, (tarfile.TarInfo(name), b"x")])
    yield "an entry twice", first, made([*plain, (tarfile.TarInfo(first), files[first])])
    yield "too many entries", "", made([*plain, *((tarfile.TarInfo(f"more-{at}"), b"") for at in range(17))])
    yield "an entry too many", "notes.txt", made([*plain, (tarfile.TarInfo("notes.txt"), b"x")])
    for kind, code in (("a link", tarfile.SYMTYPE), ("a hard link", tarfile.LNKTYPE), ("a pipe", tarfile.FIFOTYPE)):
        entry = tarfile.TarInfo("link")
        entry.type, entry.linkname = code, "/etc/hostname"
        yield kind, "link", made([*plain, (entry, b"")])
    for name in files:
        yield "a part missing", name, made([each for each in plain if each[0].name != name])
        if not files[name]:
            continue  # of an empty part there is nothing to be changed
        changed = files[name][:-1] + bytes([files[name][-1] ^ 1])
        yield (
            "a part changed",
            name,
            made([(tarfile.TarInfo(key), changed if key == name else files[key]) for key in files]),
        )
    # An archive is filled up with zeros, so that half of the file may be all of a small image: cut the first body.
    yield "cut", "", whole[: tarfile.BLOCKSIZE + len(files[first]) // 2]
    yield "emptied", "", b""
    for at in range(tarfile.BLOCKSIZE):
        if at not in _SUM:
            yield "a byte of a head flipped", "", whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :]
