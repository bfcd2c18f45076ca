"""Whether what a slice touches is the same on both sides. Compares digests; reads no file and trusts no silence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Touched", "compare"]


@dataclass(frozen=True, slots=True)
class Touched:
    """The verdict on two touched sets: ``changed`` on both sides, ``added`` by the head, ``removed`` from the base."""

    unchanged: bool
    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


def compare(base_touched: Mapping[str, str], head_touched: Mapping[str, str], spawns: bool) -> Touched:
    """Compare two maps of relative path to sha256.

    ``spawns``: the slice starts processes, whose files nobody has seen, so it is never unchanged. Neither is one that
    seems to touch nothing at all.
    """
    common = base_touched.keys() & head_touched.keys()
    changed = tuple(sorted(path for path in common if base_touched[path] != head_touched[path]))
    added = tuple(sorted(head_touched.keys() - base_touched.keys()))
    removed = tuple(sorted(base_touched.keys() - head_touched.keys()))
    same = bool(common) and not (changed or added or removed)
    return Touched(same and not spawns, changed, added, removed)
