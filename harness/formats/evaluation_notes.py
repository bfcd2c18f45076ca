"""Questions back about the keys of a case that nobody reads: where one is close to a known key that is not there.

Such a key may be meant for whoever sent the case, so that it is no fault; but the answer is other than it would be if
it had been read, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from harness.formats.limits import printable
from kpis.errors import did_you_mean

__all__ = ["CALL_KEYS", "TOKEN_KEYS", "notes_on", "notes_on_calls"]

CALL_KEYS = frozenset({"tool_name", "input", "output", "error", "latency_ms"})
TOKEN_KEYS = frozenset({"prompt_tokens", "completion_tokens", "total_tokens"})
"""What a call of a trajectory, and the tokens, may say."""

_MEANT = {
    **dict.fromkeys(("arguments", "args", "parameters", "params", "tool_input"), "input"),
    **dict.fromkeys(("result", "response", "content", "tool_output"), "output"),
}
"""What other formats call a member of a call."""

_FAILURES = frozenset({"is_error", "isError"})
_BY_VALUE = _FAILURES | _MEANT.keys()
"""Keys of which it depends on the call whether there is anything to ask."""

_MOST_LOOKED_AT = 20
_LONGEST_KEY = 40
"""Unknown keys of an object, and characters of one, that are compared with the known ones."""


def notes_on(
    members: Mapping[str, Any], unknown: Iterable[str], known: Iterable[str], where: str = ""
) -> Iterator[str]:
    """A sentence for each of the first ``unknown`` keys that may be one of ``known``; ``where`` ends with a dot."""
    missing = tuple([key for key in known if members.get(key) is None])
    for key in islice(unknown, _MOST_LOOKED_AT):
        if len(key) <= _LONGEST_KEY and (hint := _hint(key, missing)):
            yield f"The key {where}{printable(key)} is not read{hint}."


def notes_on_calls(calls: Iterable[Any]) -> Iterator[str]:
    """The same for the calls of a trajectory; a key is asked about once, where it first stands."""
    seen: set[str] = set()
    for at, members in enumerate(calls):
        if members.keys() <= CALL_KEYS:
            continue
        for key in [key for key in members if key not in CALL_KEYS and key not in seen]:
            note = _note(key, members, f"tool_calls[{at}].")
            if note is not None or key not in _BY_VALUE:
                seen.add(key)
            if note is not None:
                yield note
            if len(seen) >= _MOST_LOOKED_AT:
                return


def _note(key: str, members: Mapping[str, Any], where: str) -> str | None:
    if key in _FAILURES:
        failed = members[key] is True and members.get("error") is None
        return f"The key {where}{key} is not read: what a call failed with stands in its error." if failed else None
    if (meant := _MEANT.get(key)) is not None:
        return f"The key {where}{key} is not read (did you mean {meant}?)." if members.get(meant) is None else None
    return next(notes_on(members, [key], sorted(CALL_KEYS), where), None)


@lru_cache(maxsize=1024)
def _hint(key: str, missing: tuple[str, ...]) -> str:
    return did_you_mean(key, missing)
