"""Numbers with a unit that somebody typed: what no document may hold outside of generated blocks and code.

Looks at prose as a reader of the rendered page sees it: emphasis, tags, entities and the bars of a table do not part a
number from its unit. A number counts where a unit stands behind it (a time, a size, a share, a factor, a rate, tokens,
money) or a currency before it; a bare count does not, and neither does what stands in code, in the target of a link or
between the marks of a constant. Takes time in proportion to the text, whatever it holds. Refuses to know which numbers
are true: a free one is a fault whatever it says.
"""

from __future__ import annotations

import html
import re
from collections import deque
from collections.abc import Iterable, Iterator

from harness.report.authority_blocks import Document
from harness.report.authority_constants import CONSTANT

__all__ = ["free_numbers", "masked", "numbers_in"]

_UNITS = (
    # times
    r"(?:nano|micro|milli)?-?sec(?:ond)?s?|[nµμum]?s(?:ecs?)?|min(?:ute)?s?|h|hrs?|hours?|d|days?|weeks?|months?|years?|"
    # sizes
    r"[kmgt]i?b|b|bits?|(?:kilo|mega|giga|tera|kibi|mebi|gibi|tebi)?-?bytes?|"
    # shares and factors
    r"%|‰|per ?cents?|percentage[- ]points?|percentiles?|pp|bps|basis points?|\u00d7|x(?![ \t]*\d)|fold|"
    r"times (?:as|the|more|less|fewer|faster|slower|quicker|cheaper|dearer|larger|smaller|bigger|higher|lower|longer|"
    r"shorter|better|worse)|"
    # rates, tokens, money
    r"[kmgt]?hz|rps|qps|ops|instructions|tok(?:en)?s?|usd|eur|gbp|dollars?|euros?|cents?|pounds?|"
    r"(?:[a-z]+[ ]){0,2}(?:per[ ]|[a-z]*/[ ]?|an?[ ](?!sec))(?:[nµμm]?s|sec(?:ond)?|min(?:ute)?|h|hour|day)"
)
_GAP = r"[^\S\n]*+(?:[|-][^\S\n]*+|\n[^\S\n]*+)?"
_FREE = re.compile(
    rf"(?<![\w.,])(?:(?P<decade>(?:19|20)\d\ds)\b|"
    rf"(?:\d[\d,]*(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?(?:[^\S\n]*+(?:[kmgt]|thousand|million|billion)(?!\w))??"
    rf"(?:{_GAP}(?:{_UNITS})|[kmg]{_GAP}tok(?:en)?s?)(?!\w)|(?:[$€£¥]|(?:usd|eur|gbp)(?!\w))[^\S\n]?\d[\d,.]*)",
    re.IGNORECASE,
)
_TICKS = re.compile(r"`+|\n(?=[ \t]*\n)")
_TARGET = re.compile(r"(?<=\])\([^()\s]*(?:\s+\"[^\"]*\")?\)")
_TAG = re.compile(r"</?[a-z][^<>\n]{0,300}>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,10});", re.IGNORECASE)
_EMPHASIS = re.compile(r"(?<![^\W_])[*_~]+|[*_~]+(?![^\W_])|[\u00ad\u200b-\u200d\u2060\ufeff]")


def masked(prose: str) -> str:
    """``prose`` with blanks in the place of constants, code spans, comments and targets of links; lines stay lines."""
    for find in (CONSTANT.finditer, _code, _comments, _TARGET.finditer):
        prose = _without(prose, (found if isinstance(found, tuple) else found.span() for found in find(prose)))
    return prose


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts, at = [], 0
    for begin, end in spans:
        parts += [text[at:begin], re.sub(r"[^\n]", " ", text[begin:end])]
        at = end
    return "".join((*parts, text[at:]))


def _code(text: str) -> Iterator[tuple[int, int]]:
    """The code spans: from a run of backticks to the next one as long, in one paragraph."""
    paragraph = 0
    runs: list[tuple[tuple[int, int], tuple[int, int]]] = []
    ahead: dict[tuple[int, int], deque[int]] = {}
    for found in _TICKS.finditer(text):
        if found[0] == "\n":
            paragraph += 1
            continue
        ahead.setdefault((paragraph, len(found[0])), deque()).append(len(runs))
        runs.append((found.span(), (paragraph, len(found[0]))))
    after = 0
    for number, ((begin, _), kind) in enumerate(runs):
        if number < after:
            continue
        while ahead[kind] and ahead[kind][0] <= number:
            ahead[kind].popleft()
        if ahead[kind]:
            after = ahead[kind][0] + 1
            yield begin, runs[after - 1][0][1]


def _comments(text: str) -> Iterator[tuple[int, int]]:
    end = 0
    while (begin := text.find("<!--", end)) >= 0 and (closed := text.find("-->", begin + 4)) >= 0:
        end = closed + 3
        yield begin, end


def _rendered(text: str) -> str:
    """What a reader sees: without tags and marks of emphasis, and with entities as what they stand for."""
    text = _TAG.sub(" ", text)
    text = _ENTITY.sub(lambda found: html.unescape(found[0]).replace("\n", " "), text)
    return _EMPHASIS.sub(" ", text)


def free_numbers(document: Document) -> Iterator[tuple[int, str]]:
    """(line, what stands there) of each number with a unit that is not generated."""
    yield from _found(masked("\n".join(document.prose)))


def numbers_in(text: str) -> list[str]:
    """The numbers with a unit in ``text``, wherever it stands in a document."""
    return [number for _, number in _found(masked(text))]


def _found(text: str) -> Iterator[tuple[int, str]]:
    shown = _rendered(text)
    line, at = 1, 0
    for found in _FREE.finditer(shown):
        if found["decade"] is None:
            line, at = line + shown.count("\n", at, found.start()), found.start()
            yield line, " ".join(found[0].split())
