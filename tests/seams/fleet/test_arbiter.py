"""Leases on file trees: what intersects, what is outside, what is left after a release."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.fleet_arbiter import Ruling
from seams.fleet.arbiter import LONGEST, TreeArbiter, offer


def rulings(arbiter: TreeArbiter, *trees: str) -> list[Ruling]:
    return [arbiter.acquire("somebody", [tree]).ruling for tree in trees]


def test_one_is_the_other_or_contains_it() -> None:
    assert rulings(TreeArbiter(), "src/a", "src/a", "src", "src/a/b/c", "src/ab", "lib", ".") == [
        Ruling.ADMITTED,
        Ruling.HELD,
        Ruling.HELD,
        Ruling.HELD,
        Ruling.ADMITTED,
        Ruling.ADMITTED,
        Ruling.HELD,
    ]


def test_the_root_is_in_everybodys_way() -> None:
    arbiter = TreeArbiter()
    whole = arbiter.acquire("all", ["./"])
    assert whole.lease is not None
    assert whole.lease.trees == (".",)
    assert rulings(arbiter, "a", "a/b", ".") == [Ruling.HELD] * 3
    assert arbiter.release(whole.lease.number)
    assert rulings(arbiter, "a") == [Ruling.ADMITTED]


def test_who_is_in_the_way_is_named_by_number_once() -> None:
    arbiter = TreeArbiter()
    for name in ("one", "two", "three"):
        arbiter.acquire(name, [f"src/{name}", f"docs/{name}"])
    found = arbiter.acquire("four", ["docs", "src/two/deep"])
    assert [lease.holder for lease in found.in_the_way] == ["one", "two", "three"]
    assert found.lease is None
    assert [lease.number for lease in arbiter.live()] == [1, 2, 3]


def test_all_trees_or_none() -> None:
    arbiter = TreeArbiter()
    arbiter.acquire("one", ["a"])
    assert arbiter.acquire("two", ["b", "a/x"]).ruling is Ruling.HELD
    assert rulings(arbiter, "b") == [Ruling.ADMITTED]


def test_a_holders_own_lease_is_in_its_way_too() -> None:
    arbiter = TreeArbiter()
    assert arbiter.acquire("one", ["a"]).ruling is Ruling.ADMITTED
    assert arbiter.acquire("one", ["a/b"]).ruling is Ruling.HELD


def test_trees_are_understood_and_those_within_others_dropped() -> None:
    found = TreeArbiter().acquire("one", ["b//c/", "./a/../a/x", "a", "b/c/d", "a"])
    assert found.lease is not None
    assert found.lease.trees == ("a", "b/c")


OUTSIDE = ["..", "../a", "a/../..", "a/../../b", "/", "/etc/passwd", "", "a\0b", "x" * (LONGEST + 1)]


@pytest.mark.parametrize("tree", OUTSIDE)
def test_what_leaves_the_root_or_is_no_path_is_refused(tree: str) -> None:
    arbiter = TreeArbiter()
    for trees in ([tree], ["fine", tree], [tree, "fine"]):
        assert arbiter.acquire("one", trees).ruling is Ruling.OUTSIDE
    assert arbiter.live() == ()
    assert rulings(arbiter, "fine") == [Ruling.ADMITTED]


def test_what_is_no_text_is_outside_too() -> None:
    for trees in ([7], 7, 2.5, b"src", object()):
        arbiter = TreeArbiter()
        assert arbiter.acquire("one", trees).ruling is Ruling.OUTSIDE  # type: ignore[arg-type]
        assert arbiter.live() == ()


@pytest.mark.parametrize("trees", ["src", "", ".", "a", b"src"])
def test_a_text_is_no_sequence_of_trees(trees: str) -> None:
    arbiter = TreeArbiter()
    assert arbiter.acquire("one", trees).ruling is Ruling.OUTSIDE
    assert arbiter.live() == ()
    assert rulings(arbiter, "src", "c") == [Ruling.ADMITTED] * 2


def test_a_lease_on_nothing_is_none() -> None:
    assert TreeArbiter().acquire("one", []).ruling is Ruling.EMPTY


def test_a_lease_that_is_not_live_cannot_be_given_back() -> None:
    arbiter = TreeArbiter()
    lease = arbiter.acquire("one", ["a/b/c"]).lease
    assert lease is not None
    assert [arbiter.release(number) for number in (lease.number, lease.number, 99, -1)] == [True, False, False, False]


@pytest.mark.parametrize("number", [True, 1.0, "1", None, [1], float("nan")])
def test_what_is_no_number_of_a_lease_gives_none_back(number: object) -> None:
    arbiter = TreeArbiter()
    lease = arbiter.acquire("one", ["a"]).lease
    assert lease is not None
    assert lease.number == 1
    assert arbiter.release(number) is False  # type: ignore[arg-type]
    assert arbiter.live() == (lease,)


def test_links_are_followed_where_there_is_a_root(tmp_path: Path) -> None:
    (tmp_path / "work" / "src").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "work" / "alias").symlink_to("src")
    (tmp_path / "work" / "out").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "work" / "loop").symlink_to("loop")
    arbiter = TreeArbiter(tmp_path / "work")
    assert rulings(arbiter, "out", "out/new", "loop/x", "src/../../elsewhere")[:2] == [Ruling.OUTSIDE] * 2
    assert rulings(arbiter, "src/../../elsewhere", "src/new.py", "alias/new.py", "alias", "not/yet/there") == [
        Ruling.OUTSIDE,
        Ruling.ADMITTED,
        Ruling.HELD,
        Ruling.HELD,
        Ruling.ADMITTED,
    ]
    # Spelled alone, the same two paths are two trees: no disk was looked at.
    assert rulings(TreeArbiter(), "src/new.py", "alias/new.py") == [Ruling.ADMITTED, Ruling.ADMITTED]


PARTS = st.lists(st.sampled_from("abc"), min_size=0, max_size=4).map(lambda parts: "/".join(parts) or ".")


def within(one: str, other: str) -> bool:
    a, b = ([] if tree == "." else tree.split("/") for tree in (one, other))
    return all(x == y for x, y in zip(a, b, strict=False))


@given(st.lists(st.tuples(st.lists(PARTS, min_size=1, max_size=3), st.booleans()), max_size=40))
def test_it_agrees_with_a_list_that_compares_every_pair(steps: list[tuple[list[str], bool]]) -> None:
    arbiter, live = offer("none"), {}
    for trees, give_back in steps:
        if give_back and live:
            number = min(live)
            del live[number]
            assert arbiter.release(number)
        wanted = {n for n, held in live.items() if any(within(a, b) for a in held for b in trees)}
        found = arbiter.acquire("one", trees)
        assert {lease.number for lease in found.in_the_way} == wanted
        assert (found.lease is not None) == (not wanted)
        if found.lease is not None:
            live[found.lease.number] = trees
        assert {lease.number for lease in arbiter.live()} == set(live)
    for number in live:
        assert arbiter.release(number)
    assert not arbiter._top.children
    assert arbiter._top.lease is None
    assert rulings(arbiter, ".") == [Ruling.ADMITTED]


def test_a_very_deep_tree_is_one_too() -> None:
    arbiter = TreeArbiter()
    deep = "/".join("d" * 1 for _ in range(2000))
    lease = arbiter.acquire("one", [deep]).lease
    assert lease is not None
    assert arbiter.acquire("two", ["d"]).ruling is Ruling.HELD
    assert arbiter.release(lease.number)
    assert arbiter.acquire("two", ["d"]).ruling is Ruling.ADMITTED
