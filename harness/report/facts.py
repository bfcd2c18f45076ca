"""The facts of a workload as words: how much of what is in it, and what the recording says of its tokens.

A recording's own word for a turn need not be the ladder's: in a Claude Code session a turn begins with a prompt, and
the ladder's turn is an agent step. Refuses to fill a gap: what is unknown is left out and never reads zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["facts_in_words"]

_PROMPT_TURNS = ("claude-code",)
"""The formats whose ``turns`` are prompts."""

_COUNTS = {
    "prompts": ("prompt", "prompts"),
    "steps": ("turn (agent step)", "turns (agent steps)"),
    "turns": ("turn", "turns"),
    "requests": ("request", "requests"),
    "tool_calls": ("tool call", "tool calls"),
    "calls": ("call", "calls"),
    "tools": ("tool", "tools"),
    "calls_with_class": ("call with a class", "calls with a class"),
    "threads": ("thread", "threads"),
    "messages": ("message", "messages"),
    "messages_left_out": ("message left out", "messages left out"),
    "bytes": ("byte", "bytes"),
}
_TOKENS = {"fresh_in": "fresh in", "cache_read": "read from cache", "cache_write": "written to cache", "out": "out"}
_GAPS = {
    "requests_without_usage": ("request without usage", "requests without usage"),
    "placeholder_outputs": ("placeholder output", "placeholder outputs"),
}


def facts_in_words(facts: Mapping[str, Any]) -> str:
    """``format calls, 12 tool calls, 7 tools, world default``; empty where there are none.

    Left out are what is unknown (None) and a zero of what went wrong. Token totals are the recording's own and
    are marked so, with ``at least`` where a request that reported none makes them a lower bound.
    """
    known = {key: value for key, value in facts.items() if value is not None and key not in (*_TOKENS, *_GAPS, "basis")}
    words = [f"format {known.pop('format')}"] if "format" in known else []
    if "turns" in known:
        turns = known.pop("turns")
        if facts.get("format") in _PROMPT_TURNS:
            known["prompts"] = turns
        elif "steps" not in known:  # where both are there, they count the same thing
            known["turns"] = turns
    for key, names in _COUNTS.items():
        if _is_count(known.get(key)):
            value = known.pop(key)
            if value or key not in ("messages_left_out", "calls_with_class"):
                words.append(_counted(value, names))
    words += [f"{key} {value:,}" if _is_count(value) else f"{key} {value}" for key, value in sorted(known.items())]
    return "; ".join(filter(None, (", ".join(words), _tokens_in_words(facts))))


def _tokens_in_words(facts: Mapping[str, Any]) -> str:
    totals = [f"{facts[key]:,} {name}" for key, name in _TOKENS.items() if _is_count(facts.get(key))]
    if not totals:
        return "tokens unknown" if any(key in facts for key in _TOKENS) else ""
    gaps = [_counted(facts[key], names) for key, names in _GAPS.items() if _is_count(facts.get(key)) and facts[key]]
    bound, why = (" at least", f" ({', '.join(gaps)})") if gaps else ("", "")
    return f"tokens reported:{bound} {', '.join(totals)}{why}"


def _counted(value: int, words: tuple[str, str]) -> str:
    return f"{value:,} {words[0] if value == 1 else words[1]}"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
