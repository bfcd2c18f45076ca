"""What a saved turn is worth: counts of settled calls become turns, and turns become tokens, dollars and time.

A model from end to end: every turn is assumed to be of one size and one price, and nothing here was on a clock. The
inputs are plain counts, so the model cannot be mixed up with the replay that counted them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

__all__ = ["ELISION", "FORCED", "KNOBS", "TURNS", "net", "sensitivity", "turns_saved"]

KNOBS: Mapping[str, float] = MappingProxyType(
    {
        "prompt_tokens": 1200,
        "completion_tokens": 120,
        "usd_per_mtok_in": 3,
        "usd_per_mtok_out": 15,
        "ms_per_turn": 1500,
    }
)
"""One assumed turn: 1320 tokens, .0054 dollars, 1.5 seconds."""

TURNS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "local-fast": MappingProxyType({**KNOBS, "prompt_tokens": 600, "ms_per_turn": 400}),
        "hosted-flash": KNOBS,
        "frontier": MappingProxyType({**KNOBS, "prompt_tokens": 4000, "ms_per_turn": 4000}),
    }
)
"""Other turns that could be assumed: a small local model, the usual one, a large one. Prices and completion stay."""

FORCED = ("grammar", "dedup")
"""Classes whose calls would have cost a turn otherwise: a repair, and a read that was already answered."""

ELISION = ("pure", "static")
"""Classes whose calls only skipped the engine."""

_KINDS: Mapping[str, tuple[str, ...]] = {"all": FORCED + ELISION, "forced": FORCED, "elision": ELISION}


def turns_saved(classes: Mapping[str, int], kind: str = "all") -> int:
    """Turns saved among calls counted by class; ``kind`` is ``all``, ``forced`` or ``elision``.

    Raises:
        KeyError: another kind.
    """
    return sum(classes.get(name, 0) for name in _KINDS[kind])


def net(turns: int, knobs: Mapping[str, float] = KNOBS) -> dict[str, Any]:
    """``turns`` at the price of ``knobs``: ``{"turns", "tokens" (tok), "dollars" (usd), "latency_ms" (ms)}``.

    A turn is its prompt and its completion: each has its own price a million tokens, and together they are its tokens.

    Raises:
        KeyError: a knob is missing.
    """
    prompt, completion = knobs["prompt_tokens"], knobs["completion_tokens"]
    per_turn = prompt / 1e6 * knobs["usd_per_mtok_in"] + completion / 1e6 * knobs["usd_per_mtok_out"]
    return {
        "turns": turns,
        "tokens": turns * (prompt + completion),
        "dollars": turns * per_turn,
        "latency_ms": turns * knobs["ms_per_turn"],
    }


def sensitivity(turns: int) -> dict[str, dict[str, Any]]:
    """:func:`net` of ``turns`` at each turn of ``TURNS``: how far the amounts hang on what is assumed."""
    return {name: net(turns, knobs) for name, knobs in TURNS.items()}
