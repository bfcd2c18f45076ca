"""Touched sets: equal is unchanged, unless nothing was seen or something ran unseen."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.subject.touched import Touched, compare


def test_what_differs_is_named_by_kind() -> None:
    base = {"a": "1", "b": "1", "c": "1"}
    assert compare(base, {"a": "1", "b": "2", "d": "1"}, False) == Touched(False, ("b",), ("d",), ("c",))
    assert compare(base, dict(base), False) == Touched(True)


def test_a_slice_that_starts_processes_or_touches_nothing_is_never_unchanged() -> None:
    assert compare({"a": "1"}, {"a": "1"}, True) == Touched(False)
    assert compare({}, {}, False) == Touched(False)


_SETS = st.dictionaries(st.sampled_from("abcde"), st.sampled_from("12"))


@given(_SETS, _SETS, st.booleans())
def test_the_parts_tell_one_side_from_the_other(base: dict[str, str], head: dict[str, str], spawns: bool) -> None:
    found = compare(base, head, spawns)
    rebuilt = {path: digest for path, digest in base.items() if path not in found.removed}
    rebuilt.update({path: head[path] for path in (*found.changed, *found.added)})
    assert rebuilt == head
    assert found.unchanged == (base == head and bool(base) and not spawns)
    swapped = compare(head, base, spawns)
    assert (swapped.added, swapped.removed, swapped.changed) == (found.removed, found.added, found.changed)
