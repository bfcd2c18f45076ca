"""A file of settings, or of accuracy, in TOML: plain values that JSON can hold as well.

Refuses the rest by its place, since rules, hashes and answers are made for JSON: a date, an infinity, a whole number
beyond every double.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

from harness.formats.limits import FormatError, printable
from kpis.rules.thresholds import is_number

__all__ = ["tables_in"]


def tables_in(body: bytes) -> dict[str, Any]:
    """The tables of ``body``.

    Raises:
        FormatError: it is no TOML, or not all of it is JSON; its text goes on from the name of the file.
    """
    try:
        document = tomllib.loads(body.decode("utf-8"))
        fault = next(_unheld(document, ""), None)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"is no TOML ({error})") from None
    except RecursionError:
        raise FormatError("nests too deep and was not read") from None
    except ValueError:  # of the interpreter, which reads 4,300 digits and no more
        raise FormatError("holds a whole number of more digits than are read") from None
    if fault is not None:
        raise FormatError(fault)
    return document


def _unheld(value: object, at: str) -> Iterator[str]:
    """What JSON cannot hold of ``value``, which stands at ``at``."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from _unheld(member, f"{at}.{key}" if at else key)
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from _unheld(member, f"{at}[{number}]")
    elif not isinstance(value, str | bool | int | float):
        yield f"gives {printable(at)} a {type(value).__name__}, which JSON does not have: write it as a text"
    elif isinstance(value, int | float) and not isinstance(value, bool) and not is_number(value):
        yield f"gives {printable(at)} no finite number"
