"""Design constants in prose: text between two marks that must equal a constant of the code.

The form is ``<!--=package.module:NAME format-->TEXT<!--=-->``; a reader of the rendered page sees TEXT alone. The code
is the one source, and the authority writes TEXT. Refuses a format that it does not know. Imports nothing: what a name
stands for is handed in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterator
from typing import Any

__all__ = ["CONSTANT", "FORMATS", "ConstantError", "constant_faults", "constants_filled", "constant_text"]

CONSTANT = re.compile(
    r"<!--=(?P<module>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_][\w.]*)(?:[ ]+(?P<format>[\w-]+))?-->"
    r"(?P<text>(?:(?!<!--).)*)<!--=-->",
    re.DOTALL,
)
_LOST = re.compile(r"<!--=")

FORMATS: dict[str, Callable[[Any], str]] = {
    "plain": lambda value: f"{value:,}" if isinstance(value, int) else f"{value:.6g}",
    "percent": lambda value: f"{100 * value:.6g} %",
    "rest-percent": lambda value: f"{100 * (1 - value):.6g} %",
    "log-percent": lambda value: f"{100 * math.expm1(value):.6g} %",
    "ms": lambda value: f"{1000 * value:.6g} ms",
    "s": lambda value: f"{value:.6g} s",
    "min": lambda value: f"{value / 60:.6g} min",
    "hours": lambda value: f"{value:.6g} h",
    "MiB": lambda value: f"{value / 2**20:.6g} MiB",
}
"""How a constant is written: a fraction as per cent, what is missing to one, a logarithm, seconds, bytes."""

Lookup = Callable[[str, str], Any]
"""(module, name) to the constant; raises LookupError where there is none."""


class ConstantError(ValueError):
    """A constant that cannot be written; the message is the reason, without a full stop."""


def constant_text(module: str, name: str, form: str | None, lookup: Lookup) -> str:
    """The text of a constant.

    Raises:
        ConstantError: there is no such constant or format, or the constant is no number.
    """
    form = form or "plain"
    if form not in FORMATS:
        raise ConstantError(f"there is no format {form}; the formats are {', '.join(FORMATS)}")
    try:
        value = lookup(module, name)
    except LookupError:
        raise ConstantError(f"there is no constant {module}:{name}") from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConstantError(f"{module}:{name} is no number")
    return FORMATS[form](value)


def _line(text: str, found: re.Match[str]) -> int:
    return text.count("\n", 0, found.start()) + 1


def constant_faults(text: str, lookup: Lookup, code: Container[int] = ()) -> Iterator[tuple[int, str]]:
    """(line, sentence without a full stop) of each constant that is not what the code says.

    Lines of ``code``, in which a mark shows and says nothing, are passed over.
    """
    for found in CONSTANT.finditer(text):
        line = _line(text, found)
        if line in code:
            continue
        try:
            wanted = constant_text(found["module"], found["name"], found["format"], lookup)
        except ConstantError as error:
            yield line, str(error)
            continue
        if " ".join(found["text"].split()) != wanted:
            given = " ".join(found["text"].split())
            yield line, f"reads {given!r} where {found['module']}:{found['name']} is {wanted!r}"
    for lost in _LOST.finditer(CONSTANT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)):
        if _line(text, lost) not in code:
            yield _line(text, lost), "has the mark of a constant without its beginning or end"


def constants_filled(text: str, lookup: Lookup, code: Container[int] = ()) -> str:
    """``text`` with every constant outside of ``code`` as the code has it; what cannot be written stays as it is."""

    def written(found: re.Match[str]) -> str:
        if _line(text, found) in code:
            return found[0]
        try:
            wanted = constant_text(found["module"], found["name"], found["format"], lookup)
        except ConstantError:
            return found[0]
        if " ".join(found["text"].split()) == wanted:  # a line may break inside
            return found[0]
        return found[0].replace(f"-->{found['text']}<!--", f"-->{wanted}<!--", 1)

    return CONSTANT.sub(written, text)
