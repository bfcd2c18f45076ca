"""One line of JSON that a stranger wrote, as plain values: a case, or a line of a corpus.

Refuses what two readers would read differently: a line that is not UTF-8, a key that an object has twice, a word that
is no number of JSON.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from harness.formats.limits import FormatError, Limits, check_depth, printable

__all__ = ["parsed"]


def parsed(line: bytes, limits: Limits, where: str, *, twins: bool = False) -> Any:
    """The value of ``line``; ``where`` is how its reader knows it.

    ``twins``: an object may have a key twice, and the last one counts.

    Raises:
        FormatError: it is no JSON in UTF-8, nests too deep, or has a key twice.
    """
    # The parser guesses other encodings, in which the brackets that are counted below would stand elsewhere.
    guessed = json.detect_encoding(line)
    if not guessed.startswith("utf-8"):
        raise FormatError(f"{where} is no UTF-8 (it looks like {guessed[:6].upper()})")
    check_depth(line, limits, where)
    try:
        text = line.decode(guessed, "surrogatepass")
    except UnicodeDecodeError:
        raise FormatError(f"{where} is no UTF-8") from None
    try:
        return json.loads(text, parse_constant=_no_number, object_pairs_hook=None if twins else _once)
    except FormatError as error:
        raise FormatError(f"{where} {error}") from None
    except json.JSONDecodeError as error:
        raise FormatError(f"{where} is no JSON ({error})") from None
    except ValueError:  # of the interpreter, which reads 4,300 digits and no more
        raise FormatError(f"{where} holds a whole number of more digits than are read") from None


def _no_number(word: str) -> float:
    raise FormatError(f"is no JSON ({word} is no number)")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twin, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise FormatError(f"has the key {printable(twin)} twice in one object")
    return members
