"""The order in which changed functions are named, on authored counts."""

from __future__ import annotations

import random
from typing import Any

import pytest

from harness.judge.where import SCATTERS, Cause, Function, where


def entry(
    digest: str | None = "d", *, calls: float = 1, opcodes: float = 10, line: int = 1, set_up: bool = False
) -> Any:
    return {"digest": digest, "calls": calls, "opcodes": opcodes, "line": line, "set_up": set_up}


def answer(functions: dict[str, Any], builtins: dict[str, float] | None = None, **more: Any) -> dict[str, Any]:
    return {"loops": 8, "functions": functions, "builtins": builtins or {}, **more}


def named(found: tuple[Function, ...]) -> list[tuple[str, Cause]]:
    return [(each.name, each.cause) for each in found]


def test_equal_sides_name_nothing() -> None:
    side = answer({"a.py:f": entry()}, {"builtins.len": 3}, native={"eval": 100.0})
    assert where(side, side) == ()


def test_edited_code_comes_first_then_calls_then_opcodes() -> None:
    base = answer(
        {"a.py:edited": entry("1"), "a.py:called": entry(calls=5), "lib.py:longer": entry(None), "a.py:same": entry()},
        {"builtins.len": 1},
    )
    head = answer(
        {
            "a.py:edited": entry("2"),
            "a.py:called": entry(calls=6, opcodes=12),
            "lib.py:longer": entry(None, opcodes=99_999),
            "a.py:same": entry(line=70),
        },
        {"builtins.len": 900},
    )
    assert named(where(base, head)) == [
        ("edited", Cause.EDITED),
        ("builtins.len", Cause.CALLS),
        ("called", Cause.CALLS),
        ("longer", Cause.OPCODES),
    ]


def test_within_a_cause_what_grew_most_comes_first_and_for_a_gain_what_shrank_most() -> None:
    base = answer({f"a.py:{name}": entry("1", opcodes=50) for name in "fgh"})
    head = answer({f"a.py:{name}": entry("2", opcodes=size) for name, size in zip("fgh", (40, 90, 60), strict=True)})
    assert [each.name for each in where(base, head)] == ["g", "h", "f"]
    assert [each.name for each in where(base, head, slower=False)] == ["f", "h", "g"]


def test_code_that_runs_on_one_side_only_is_called_more_or_less() -> None:
    found = where(answer({"a.py:old": entry()}), answer({"a.py:new": entry("e", calls=3)}))
    assert [(each.name, each.base, each.head) for each in found] == [("new", 0, 3), ("old", 1, 0)]
    assert where(answer({}), answer({"a.py:Class": entry(calls=0, opcodes=0, set_up=True)})) == ()


def test_a_function_that_moved_to_another_file_is_the_same_function() -> None:
    assert where(answer({"a.py:f": entry()}), answer({"b/c.py:f": entry(line=9)})) == ()
    found = where(answer({"a.py:f": entry()}), answer({"b/c.py:f": entry("e")}))
    assert {each.file for each in found} == {"a.py", "b/c.py"}


def test_one_moved_function_is_paired_once() -> None:
    found = where(answer({"a.py:f": entry()}), answer({"b.py:f": entry(), "c.py:f": entry()}))
    assert [(each.file, each.base, each.head) for each in found] == [("c.py", 0, 1)]


def test_native_functions_are_named_only_where_nothing_else_moved() -> None:
    still = {"a.py:f": entry()}
    native = {"base": {"eval": 10_000.0, "alloc": 500.0}, "head": {"eval": 10_001.0, "alloc": 900.0, "copy": 40.0}}
    found = where(answer(still, native=native["base"]), answer(still, native=native["head"]))
    assert named(found) == [("alloc", Cause.NATIVE), ("copy", Cause.NATIVE)]
    moved = {"a.py:f": entry(calls=2)}
    found = where(answer(still, native=native["base"]), answer(moved, native=native["head"]))
    assert named(found) == [("f", Cause.CALLS)]


def test_set_up_code_comes_after_what_the_calls_do_and_before_native() -> None:
    base, head = entry("1", calls=0, opcodes=0, set_up=True), entry("2", calls=0, opcodes=0, set_up=True)
    found = where(answer({"a.py:C": base}, native={"eval": 1.0}), answer({"a.py:C": head}, native={"eval": 9.0}))
    assert named(found) == [("C", Cause.SET_UP), ("eval", Cause.NATIVE)]
    found = where(answer({"a.py:C": base, "a.py:f": entry()}), answer({"a.py:C": head, "a.py:f": entry(opcodes=11)}))
    assert named(found) == [("f", Cause.OPCODES), ("C", Cause.SET_UP)]


def test_what_scatters_on_a_side_has_not_moved_until_it_moves_further() -> None:
    base = answer({"a.py:poll": entry(calls=4)}, {"poll": 4}, scatter={"a.py:poll": 0.25, "poll": 0.5})
    near = answer({"a.py:poll": entry(calls=4.5, opcodes=11)}, {"poll": 4.75}, scatter={"a.py:poll": 0.25, "poll": 0.5})
    assert where(base, near) == ()
    far = answer({"a.py:poll": entry(calls=6)}, {"poll": 6}, scatter={"a.py:poll": 0.25})
    assert named(where(base, far)) == [("poll", Cause.CALLS), ("poll", Cause.CALLS)]
    gone = answer({}, {"poll": 4})
    assert named(where(base, gone)) == [("poll", Cause.CALLS)]


def test_the_margin_of_what_scatters_errs_in_two_of_a_hundred() -> None:
    draw = random.Random(20).gauss
    trials = [[draw(0, 1) for _ in range(4)] for _ in range(40_000)]

    def errs(times: float) -> float:
        return sum(abs(a - c) > times * (abs(a - b) + abs(c - d)) for a, b, c, d in trials) / len(trials)

    assert errs(SCATTERS) == pytest.approx(0.02, abs=0.005)
    assert errs(1) == pytest.approx(0.17, abs=0.02)


def test_sides_of_different_loops_are_refused() -> None:
    with pytest.raises(ValueError, match="the base made 8 calls and the head 9"):
        where(answer({}), answer({}) | {"loops": 9})


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (Function("f", "a.py", 3, Cause.EDITED, 10, 12), "a.py:3 f (edited, 10 -> 12 opcodes a call)"),
        (Function("f", "a.py", 3, Cause.CALLS, 1, 2.5), "a.py:3 f (1 -> 2.5 calls a call)"),
        (Function("f", "a.py", 3, Cause.OPCODES, 1, 2), "a.py:3 f (1 -> 2 opcodes a call)"),
        (Function("C", "a.py", 3, Cause.SET_UP, None, None), "a.py:3 C (edited, runs in the set-up)"),
        (Function("alloc", None, None, Cause.NATIVE, 1, 2), "alloc (1 -> 2 instructions a call)"),
    ],
)
def test_a_function_reads_as_one_line(function: Function, text: str) -> None:
    assert str(function) == text
