"""What the usage of one file's requests has in common that a reader of its sums must know: counted, told once each.

A dialect brings its own table of findings and its own arithmetic; how findings are kept and told is the same for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import ClassVar

from kpis.terms.trace import Issue, IssueCode, Provenance, Severity

__all__ = ["Said", "UsageFindings", "derived"]

Said = Mapping[str, tuple[Severity, IssueCode, str]]
"""A finding by its key: how grave it is, its code, and what it says of the requests."""


@cache
def derived(*parts: str) -> Mapping[str, Provenance]:
    """The provenance of token parts that were computed; one object for equal parts."""
    return MappingProxyType(dict.fromkeys(parts, Provenance.DERIVED))


class UsageFindings:
    """The findings of one file, each with how many requests it holds of and the line of the first."""

    __slots__ = ("_file", "_found")

    said: ClassVar[Said]

    def __init__(self, file: str) -> None:
        self._file = file
        self._found: dict[str, tuple[int, int]] = {}

    def note(self, what: str, line: int) -> None:
        """``what`` (a key of :attr:`said`) holds of the request at ``line``."""
        count, first = self._found.get(what, (0, line))
        self._found[what] = count + 1, min(first, line)

    def issues(self) -> Iterator[Issue]:
        """One issue a finding, at the first request that it holds of."""
        for what, (severity, code, said) in self.said.items():
            if what in self._found:
                count, line = self._found[what]
                yield Issue(severity, code, f"{count:,} request{'s' * (count != 1)}: {said}", line, self._file)
