"""Where in a recording something stands: a line of a file of lines, else the piece of the document that it is in.

A recording that is one JSON document has no lines worth naming, and its readers count its pieces. Which they are
follows from the format, and where a format comes in both shapes, from the ending of the file's name.
"""

from __future__ import annotations

from kpis.terms.trace import IssueCode

__all__ = ["name_and_piece", "place"]

_PIECES = {
    "mini-swe-agent": "message",
    "swe-agent": "step",
    "atif": "step",
    "inspect": "event",
    "tau-bench": "simulation",
}
"""Formats that are never a file of lines, with what their readers count."""

_EITHER = frozenset({"otel", "langfuse", "langsmith", "gemini-cli", "openhands", "claude-managed-agents", "openai-log"})
_LINES = (".jsonl", ".ndjson", ".log", ".txt")
"""How files of lines are called. Of one that is called otherwise an entry may be a line, and a line is an entry."""

_OF_LINES = frozenset({IssueCode.E_TORN_LINE, IssueCode.E_BAD_LINE, IssueCode.E_LONG_LINE})
"""Findings about the lines themselves, whatever stands in them."""


def place(file: str | None, number: int | None, source_format: str, code: IssueCode | None = None) -> str:
    """``run.jsonl:7``, or ``run.traj.json, message 7``; ``number`` counts from 1 as the reader of the format does.

    ``code`` is that of a finding, if it is one that stands there.
    """
    name, piece = name_and_piece(file, number, source_format, code)
    return f"{name}, {piece}" if piece else name


def name_and_piece(
    file: str | None, number: int | None, source_format: str, code: IssueCode | None = None
) -> tuple[str, str]:
    """The parts of a :func:`place`: what an editor opens, and the piece of a document, empty where there is none."""
    name = file or "(no file)"
    if number is None:
        return name, ""
    piece = _PIECES.get(source_format)
    if piece is None and source_format in _EITHER and not name.endswith(_LINES):
        piece = "entry"
    return (f"{name}:{number}", "") if piece is None or code in _OF_LINES else (name, f"{piece} {number}")
