"""Texts that a pattern cannot do without: looking for them first spares most patterns most texts."""

from __future__ import annotations

__all__ = ["holds_any"]


def holds_any(text: str, anchors: tuple[str, ...]) -> bool:
    """Whether one of ``anchors`` is in ``text``."""
    for anchor in anchors:  # noqa: SIM110 - a generator costs more than the searches, and this runs for every pattern
        if anchor in text:
            return True
    return False
