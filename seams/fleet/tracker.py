"""The export of a tracker, one issue a line of JSON, read without trust: what is no issue is counted and named by line.

A line that is broken stands for an issue of which nothing is known, so it is a gap in what is covered and never a
closed or an open one. Nothing of a line but its number, its state and its reason is kept.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

__all__ = ["LONGEST", "Export", "Issue", "read"]

LONGEST = 16 * 1024 * 1024
"""Bytes of a line; an issue with all its comments is far below."""

_HIGHEST = 10**18
_NAMED = 5
"""Broken lines that are named; the others are counted."""


class Issue(NamedTuple):
    """``planned`` is False of one that was closed because nobody means to do it."""

    number: int
    closed: bool
    planned: bool


class Export(NamedTuple):
    """Issues by number; ``lines`` is how many lines there were, ``faults`` are sentences on those that are none."""

    issues: dict[int, Issue]
    lines: int
    faults: tuple[str, ...]
    pulls: int = 0


def read(path: str, limit: int) -> Export:
    """The first ``limit`` lines of an export. Empty lines are none; pull requests are counted and left out.

    Raises:
        OSError: the file cannot be read.
    """
    issues: dict[int, Issue] = {}
    broken: list[tuple[int, str]] = []
    lines = pulls = at = 0
    with open(path, "rb") as file:  # noqa: PTH123 - a str, as the contract has it
        while lines < limit and (line := file.readline(LONGEST + 1)):
            at += 1
            if not line.strip():
                continue
            lines += 1
            if len(line) > LONGEST:
                broken.append((at, f"is longer than {LONGEST:,} bytes"))
                while line and not line.endswith(b"\n"):
                    line = file.readline(LONGEST)
                continue
            found = _issue(line)
            if found is None:
                pulls += 1
            elif isinstance(found, str):
                broken.append((at, found))
            elif issues.setdefault(found.number, found) != found:
                broken.append((at, f"says of issue {found.number} something else than a line before"))
    faults = [f"Line {number} of the export {why}." for number, why in broken[:_NAMED]]
    if len(broken) > _NAMED:
        faults.append(f"So {'is' if len(broken) == _NAMED + 1 else 'are'} {len(broken) - _NAMED} more of its lines.")
    return Export(issues, lines, tuple(faults), pulls)


def _issue(line: bytes) -> Issue | str | None:
    """The issue of a line, why there is none, or None of a pull request."""
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):
        return "is not JSON"
    if not isinstance(row, dict):
        return "is no object"
    pull = row.get("pull_request")
    if pull is True or isinstance(pull, dict):
        return None
    if pull is not None and pull is not False:
        return "has a pull_request that is neither an object nor true or false"
    number, state = row.get("number"), row.get("state")
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number < _HIGHEST:
        return "has no whole number above 0 as its number"
    if not isinstance(state, str) or state.lower() not in ("open", "closed"):
        return "has a state that is neither open nor closed"
    reason = row.get("stateReason") or row.get("state_reason") or ""
    if not isinstance(reason, str):
        return "has a reason that is no text"
    return Issue(number, state.lower() == "closed", reason.lower() != "not_planned")
