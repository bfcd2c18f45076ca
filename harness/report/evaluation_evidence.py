"""What a rule rests on, for people: a stretch of the text underlined in its line, and everything else as a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from harness.report.inert import inert
from kpis.terms.evaluation import Citation, Count, EvidenceItem, Pattern, Span, ToolCallAt
from kpis.terms.evaluation_words import MOST_EVIDENCE

__all__ = ["left_out", "told", "underlined"]

_LEAST = 8
"""UTF-16 units of text on either side of a stretch that are shown however narrow the terminal is."""
_LONGEST = 64
"""Columns of a stretch that are shown; of a narrow terminal what is left beside the text around it."""
_MARK = "-"


def told(item: Citation | Count | Pattern | ToolCallAt) -> str:
    """One piece of evidence that is no stretch of a text."""
    match item:
        case Pattern():
            return f"{item.name}: {item.count}"
        case ToolCallAt():
            return f"call {item.index}, {item.tool_name}: {item.label}"
        case Citation():
            return f"{item.url}: {item.status}"
        case Count():
            held = "" if item.threshold is None else f" against {item.threshold:g}"
            source = "" if item.source is None else f" ({item.source.value})"
            return f"{item.stat} {item.value:g} {item.unit}{held}{source}"


def left_out(evidence: tuple[EvidenceItem, ...], shown: int) -> str | None:
    """How many pieces come after the first ``shown``. Of a full list nobody knows how many it was cut from."""
    left = len(evidence) - shown
    if left <= 0:
        return None
    if len(evidence) < MOST_EVIDENCE:
        return f"and {left} more"
    return f"and {left} more at least: an answer names no more than {MOST_EVIDENCE}"


def underlined(text: str, span: Span, room: int) -> Iterator[Text]:
    """The stretch in its line of at most ``room`` columns, marks below it, and its label beside or below these.

    Places count UTF-16 units, marks the columns of a terminal.
    """
    units = text.encode("utf-16-le", "surrogatepass")

    def part(start: int, end: int) -> str:
        return inert(units[2 * max(0, start) : 2 * end].decode("utf-16-le", "replace"))

    whole, label = part(span.start, span.end), inert(span.label)
    longest = max(2 * _LEAST, min(_LONGEST, room - 2 * _LEAST))
    cut = whole if cell_len(whole) <= longest else set_cell_size(whole, longest - 3) + "..."
    width, wide = cell_len(cut), cell_len(label)
    around = max(_LEAST, (room - width) // 2)
    beside = room - width - 1 - wide  # columns before the stretch that leave room for the label behind the marks
    left = min(around, beside) if beside >= _LEAST else around
    before, after = part(span.start - left, span.start), part(span.end, span.end + around)
    while cell_len(before) > left:  # a character may take two columns
        before = before[1:]
    while cell_len(after) > around:
        after = after[:-1]
    line = Text(before)
    line.append(cut, style="underline")
    line.append(after)
    yield line
    at = cell_len(before)
    marks = " " * at + _MARK * max(1, width)
    if at <= beside:
        yield Text(f"{marks} {label}")
    else:
        yield Text(marks)
        yield Text(" " * max(0, min(at, room - wide)) + label)
