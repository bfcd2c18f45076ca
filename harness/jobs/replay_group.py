"""Sorts files into recorded runs: the format of each by its content, then the files that belong together.

A session and its sub-agents, a fork and its parent are one run. Two files with the same bytes are one file. The runs
come in the order in which they began, because what two of them share belongs to the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import BinaryIO, TypeVar

from harness.formats.archive import Member, members
from harness.formats.limits import FormatError, Limits, printable
from harness.formats.run_format import Origin, RunFormat
from harness.formats.run_formats import detect_run, reader
from harness.jobs.replay_find import Finding, Found
from harness.jobs.replay_open import Piece, open_piece
from kpis.terms.trace import Issue, IssueCode, Severity

__all__ = ["Group", "Sorted", "sort_files"]

_HEAD = 1 << 16
_LONG_HEAD = 1 << 22
"""What is looked at where the first line is longer than :data:`_HEAD`: a prompt with a picture in it."""

_Result = TypeVar("_Result")

_ZIP = b"PK\x03\x04"


@dataclass(slots=True)
class Group:
    """The files of one run."""

    key: str
    format: str
    pieces: list[Piece] = field(default_factory=list)
    started: int | None = None

    @property
    def bytes(self) -> int:
        """Of all files together."""
        return sum(piece.size for piece in self.pieces)


@dataclass(slots=True)
class Sorted:
    """All runs, in the order in which they began; what stood in the way; how many files were no recordings."""

    groups: list[Group] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    passed_over: int = 0


def sort_files(finding: Finding, limits: Limits, forced: str | None = None) -> Sorted:
    """The runs among the files of ``finding``. ``forced`` names the format of them all.

    Raises:
        KeyError: there is no format of the name ``forced``.
    """
    result = Sorted(issues=list(finding.issues))
    origins: list[tuple[Piece, RunFormat, Origin, bytes]] = []
    likely: str | None = None
    for piece, head in _pieces(finding.files, limits, result):
        taken = reader(forced) if forced is not None else detect_run(head, piece.name, likely)
        if taken is None:
            _unknown(result, piece)
            continue
        likely = taken.name
        origins.append((piece, taken, taken.origin(head, piece.name), sha256(head).digest()))
    result.groups = _grouped(_distinct(origins, limits, result.issues))
    return result


def _pieces(files: Iterable[Found], limits: Limits, result: Sorted) -> Iterator[tuple[Piece, bytes]]:
    """Every file with its head, and in the place of a zip archive that is in no format of its own its members."""
    for found in files:
        whole = Piece(found, size=found.size)
        head = _read(_head, whole, limits, result)
        if head is not None and (not head.startswith(_ZIP) or detect_run(head, found.name) is not None):
            yield whole, head
        elif head is not None:
            for each in _read(_inside, whole, limits, result) or ():
                if isinstance(each, Issue):
                    result.issues.append(replace(each, file=found.name))
                    continue
                piece = Piece(found, each.name, each.size)
                head = _read(_head, piece, limits, result)
                if head is not None:
                    yield piece, head


def _read(read: Callable[[BinaryIO, Limits], _Result], piece: Piece, limits: Limits, result: Sorted) -> _Result | None:
    """What ``read`` makes of ``piece``; None, and an issue, where it cannot be opened or unpacked."""
    try:
        with open_piece(piece, limits, ahead=_HEAD) as blob:
            return read(blob, limits)
    except OSError as error:
        _issue(result, IssueCode.E_UNREADABLE, piece, f"cannot be read: {error.strerror or error}")
    except FormatError as error:
        result.issues.append(Issue(Severity.ERROR, IssueCode.E_ARCHIVE, str(error), file=piece.name))
    return None


def _inside(blob: BinaryIO, limits: Limits) -> list[Member | Issue]:
    return list(members(blob, limits))


def _head(blob: BinaryIO, limits: Limits) -> bytes:
    head = blob.read(_HEAD)
    if len(head) == _HEAD and b"\n" not in head:
        head += blob.read(min(_LONG_HEAD, limits.max_line) - _HEAD)
    return head


def _issue(result: Sorted, code: IssueCode, piece: Piece, said: str) -> None:
    result.issues.append(Issue(Severity.ERROR, code, f"{printable(piece.name, 200)} {said}.", file=piece.name))


def _unknown(result: Sorted, piece: Piece) -> None:
    """A file that was given by name is missed; below a folder there may be anything."""
    if piece.found.named and piece.member is None:
        _issue(result, IssueCode.E_UNKNOWN_FORMAT, piece, "is in no known format of recorded runs")
    else:
        result.passed_over += 1


def _distinct(
    origins: Sequence[tuple[Piece, RunFormat, Origin, bytes]], limits: Limits, issues: list[Issue]
) -> Iterator[tuple[Piece, RunFormat, Origin]]:
    """Each file once; a second one with the same bytes is told and left out."""
    alike: dict[tuple[int, bytes], list[Piece]] = {}
    for piece, taken, origin, head in origins:
        others = alike.setdefault((piece.size, head), [])
        twin = next((other for other in others if _same(other, piece, limits)), None)
        if twin is None:
            others.append(piece)
            yield piece, taken, origin
        else:
            said = f"{printable(piece.name, 200)} holds the same bytes as {printable(twin.name, 200)} and counts once."
            issues.append(Issue(Severity.NOTE, IssueCode.W_COPIED_HISTORY, said, file=piece.name))


def _same(one: Piece, other: Piece, limits: Limits) -> bool:
    try:
        return _digest(one, limits) == _digest(other, limits)
    except (OSError, FormatError):
        return False


def _digest(piece: Piece, limits: Limits) -> bytes:
    found = sha256()
    with open_piece(piece, limits) as blob:
        while chunk := blob.read(1 << 20):
            found.update(chunk)
    return found.digest()


def _grouped(origins: Iterable[tuple[Piece, RunFormat, Origin]]) -> list[Group]:
    """One group a run; runs of one lineage are one, under the key of its root."""
    known = list(origins)
    parents = {(taken.name, origin.run): origin.parent for _, taken, origin in known if origin.parent is not None}
    roots: dict[tuple[str, str], str] = {}
    groups: dict[tuple[str, str], Group] = {}
    for piece, taken, origin in known:
        key = _root(taken.name, origin.run, parents, roots)
        group = groups.setdefault((taken.name, key), Group(key, taken.name))
        group.pieces.append(piece)
        if origin.started is not None:
            group.started = origin.started if group.started is None else min(group.started, origin.started)
    for group in groups.values():
        group.pieces.sort(key=lambda piece: piece.name)
    latest = float("inf")
    return sorted(
        groups.values(), key=lambda each: (latest if each.started is None else each.started, each.format, each.key)
    )


def _root(name: str, run: str, parents: Mapping[tuple[str, str], str | None], roots: dict[tuple[str, str], str]) -> str:
    """The first ancestor; in a forged lineage that runs in a circle, its smallest name. ``roots`` keeps all."""
    way: dict[str, None] = {run: None}
    last = run
    while (parent := parents.get((name, last))) is not None and (name, last) not in roots:
        if parent in way:
            circle = list(way)
            last = min(circle[circle.index(parent) :])
            break
        way[parent] = None
        last = parent
    root = roots.get((name, last), last)
    for each in way:
        roots[(name, each)] = root
    return root
