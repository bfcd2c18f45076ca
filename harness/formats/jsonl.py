"""Lines of a JSON Lines file that a program was still writing, or that was cut, padded or edited.

Shared by the readers of sessions. It refuses to decode: it says where a line is, whether it may be torn, and what had
to be left out; torn and bad lines are issues, never exceptions.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

from harness.formats.limits import Limits, check_depth
from kpis.terms.trace import Issue, IssueCode, Severity

__all__ = ["BOM", "LineLog", "RawLine", "first_objects", "raw_lines"]

BOM = b"\xef\xbb\xbf"
_NAMED_LINES = 5


@dataclass(frozen=True, slots=True)
class RawLine:
    """One line without its end; ``number`` counts from 1. ``open_end``: the file stops here without a line feed."""

    number: int
    body: bytes
    open_end: bool


class LineLog:
    """What became of the lines, and the issues about them."""

    __slots__ = ("_bad", "_long", "_nul", "_torn", "_why", "lines", "padded")

    def __init__(self) -> None:
        self.lines = 0
        self.padded = False
        self._bad: list[int] = []
        self._long: list[int] = []
        self._nul: list[int] = []
        self._torn: int | None = None
        self._why = ""

    @property
    def bad_lines(self) -> int:
        """How many lines could not be read, the torn one included."""
        return len(self._bad) + len(self._long) + (self._torn is not None)

    def long(self, number: int) -> None:
        """Line ``number`` is over the limit and was left out."""
        self._long.append(number)

    def nul(self, number: int) -> None:
        """Line ``number`` holds nothing but NUL bytes: padding, where it is the last one."""
        self._nul.append(number)

    def bad(self, line: RawLine, why: str = "") -> None:
        """``line`` is no JSON object: torn if the file ends in it, else bad. The first ``why`` is told."""
        if line.open_end:
            self._torn = line.number
        else:
            if why and not self._bad:
                self._why = f" Line {line.number}: {why}."
            self._bad.append(line.number)

    def issues(self, file: str | None = None) -> Iterator[Issue]:
        """One issue a kind of fault, naming the first few lines; ``file`` is the name that they carry."""
        if self._bad:
            yield Issue(
                Severity.ERROR,
                IssueCode.E_BAD_LINE,
                f"{_counted(self._bad)} nothing that this format writes and {_were(self._bad)} left out.{self._why}",
                self._bad[0],
                file,
            )
        if self._long:
            yield Issue(
                Severity.ERROR,
                IssueCode.E_LONG_LINE,
                f"{_counted(self._long)} longer than the limit and {_were(self._long)} left out.",
                self._long[0],
                file,
            )
        if self._torn is not None:
            yield Issue(
                Severity.ERROR,
                IssueCode.E_TORN_LINE,
                f"The file ends in the middle of line {self._torn}, which was left out.",
                self._torn,
                file,
            )
        inside = [number for number in self._nul if number < self.lines]
        if inside:
            yield Issue(
                Severity.WARNING,
                IssueCode.E_TORN_LINE,
                f"{_counted(inside)} nothing but NUL bytes, as after a crash, and {_were(inside)} left out.",
                inside[0],
                file,
            )
        if self._torn is None and (self.padded or len(inside) < len(self._nul)):
            yield Issue(
                Severity.WARNING,
                IssueCode.E_TORN_LINE,
                f"The file ends in NUL bytes after line {self.lines}, as after a crash; they were left out.",
                self.lines or None,
                file,
            )


def _were(numbers: list[int]) -> str:
    return "was" if len(numbers) == 1 else "were"


def _counted(numbers: list[int]) -> str:
    named = ", ".join(map(str, numbers[:_NAMED_LINES])) + (", ..." if len(numbers) > _NAMED_LINES else "")
    return f"Line {named} is" if len(numbers) == 1 else f"{len(numbers)} lines ({named}) are"


def raw_lines(data: bytes, limits: Limits, log: LineLog) -> Iterator[RawLine]:
    """The lines of ``data`` that hold something, without byte order mark, line ends and NUL padding.

    Raises:
        FormatError: a line nests deeper than the limit.
    """
    body = data.rstrip(b"\0")
    log.padded = len(body) != len(data)
    start = len(BOM) if body.startswith(BOM) else 0
    stream = io.BytesIO(body)
    stream.seek(start)
    for number, raw in enumerate(stream, 1):
        log.lines = number
        if len(raw) > limits.max_line:
            log.long(number)
            continue
        line = raw.strip()
        if not line:
            continue
        # A line that is no object is bad whatever its depth; only what goes to the parser needs the check.
        if line[:1] == b"{":
            check_depth(line, limits, f"Line {number}")
        yield RawLine(number, line, not raw.endswith(b"\n"))


def first_objects(head: bytes, most: int = 20) -> list[bytes]:
    """Up to ``most`` complete lines of ``head`` that begin like an object: what a format is recognised by."""
    lines = head.removeprefix(BOM).split(b"\n", 4 * most)
    whole = lines if head.endswith(b"\n") or len(lines) == 1 else lines[:-1]
    return [line.strip() for line in whole if line.lstrip()[:1] == b"{"][:most]
