"""Texts that a pattern cannot do without: looking for them first spares most patterns most texts."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["AnchorSet", "holds_any"]


def holds_any(text: str, anchors: tuple[str, ...]) -> bool:
    """Whether one of ``anchors`` is in ``text``."""
    for anchor in anchors:  # noqa: SIM110 - a generator costs more than the searches, and this runs for every pattern
        if anchor in text:
            return True
    return False


class AnchorSet:
    """Many anchors, looked for at once: one that holds another is looked for only where the shorter one is.

    ``stems`` are parts that several of the anchors share, and nothing else.
    """

    def __init__(self, anchors: Iterable[str], stems: Iterable[str] = ()) -> None:
        self._anchors = frozenset(anchors)
        every = sorted({*self._anchors, *stems} - {""}, key=lambda anchor: (len(anchor), anchor))
        self._under: dict[str, list[str]] = {}
        for anchor in every:
            root = next((root for root in self._under if root in anchor), anchor)
            self._under.setdefault(root, []).append(anchor)

    def within(self, text: str) -> set[str]:
        """Those of the anchors that are in ``text``; the empty one always is."""
        roots = [root for root in self._under if root in text]
        found = {anchor for root in roots for anchor in self._under[root] if anchor in text}
        return (found | {""}) & self._anchors
