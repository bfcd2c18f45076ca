"""What a worker tells of executed code, and that the edited function comes out first when two sides are compared."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from harness.judge.where import Cause, Function, where
from harness.measure.launch import launch
from harness.measure.legs.executed import Calls, Opcodes
from harness.measure.legs.where import LOOPS as USUAL
from harness.measure.legs.where import digest
from tests.harness.measure.legs.sides import job, side

LOOPS = 20


def ask(tree: Path, folder: Path, probe: str = "Batched", **more: Any) -> dict[str, Any]:
    answer = launch(job(tree, probe, task="leg:where", loops=LOOPS, **more), seed=1, limit=60, folder=folder, cwd=tree)
    assert answer.undefined is None, (answer.undefined, answer.output)
    return answer.result


def compare(tmp_path: Path, *edits: tuple[str, str], probe: str = "Batched") -> tuple[Function, ...]:
    base, head = side(tmp_path / "base"), side(tmp_path / "head", *edits)
    return where(ask(base, tmp_path, probe), ask(head, tmp_path, probe))


def test_the_counts_are_exact_and_repeat(tmp_path: Path) -> None:
    tree = side(tmp_path / "base")
    first = ask(tree, tmp_path)
    assert first == ask(tree, tmp_path)
    functions = first["functions"]
    assert functions["thing.py:step"]["calls"] == 1
    assert functions["thing.py:inner"]["calls"] == 1000
    assert functions["thing.py:inner"]["opcodes"] > 1000
    assert first["builtins"]["builtins.abs"] == 1
    assert "sys.setprofile" not in first["builtins"]
    assert "thing.py:unused" not in functions
    assert not any("legs" in name for name in functions)


def test_a_job_that_does_not_say_how_many_calls_takes_the_usual_number(tmp_path: Path) -> None:
    tree = side(tmp_path / "base")
    answer = launch(job(tree, task="leg:where"), seed=1, limit=60, folder=tmp_path, cwd=tree)
    assert (answer.undefined, answer.result["loops"]) == (None, USUAL)


def test_a_tree_behind_a_link_is_the_project_too(tmp_path: Path) -> None:
    tree = side(tmp_path / "base")
    (tmp_path / "link").symlink_to(tree)
    assert ask(tmp_path / "link", tmp_path) == ask(tree, tmp_path)


def test_what_two_rounds_call_unequally_often_is_told_by_how_much(tmp_path: Path) -> None:
    tree = side(tmp_path / "base")
    assert ask(tree, tmp_path)["scatter"] == {}
    grown = ("times=1000):\n", "times=1000):\n    SEEN.append(1)\n    if len(SEEN) > 100:\n        unused(hash(1))\n")
    tree = side(tmp_path / "head", ("TABLE =", "SEEN = []\nTABLE ="), grown)
    scatter = ask(tree, tmp_path)["scatter"]
    # Sixty-four calls and one in the set-up, then two rounds of twenty: the last five of the second are beyond.
    assert scatter == {"thing.py:unused": 5 / LOOPS, "builtins.hash": 5 / LOOPS}


def test_set_up_is_told_apart_from_calls(tmp_path: Path) -> None:
    functions = ask(side(tmp_path / "base"), tmp_path)["functions"]
    assert functions["thing.py:<module>"]["set_up"]
    assert functions["bench.py:Batched.open"] | {"line": 0, "digest": ""} == {
        "line": 0, "calls": 0, "opcodes": 0, "set_up": True, "digest": "",
    }  # fmt: skip
    assert not functions["thing.py:step"]["set_up"]


@pytest.mark.parametrize("probe", ["Batched", "Awaited"])
@pytest.mark.parametrize("estimand", ["call-mean", "call-p50"])
def test_every_kind_of_slice_is_seen(tmp_path: Path, probe: str, estimand: str) -> None:
    functions = ask(side(tmp_path / "base"), tmp_path, probe, estimand=estimand)["functions"]
    assert functions["thing.py:inner"]["calls"] == 1000
    assert not any(name.startswith("asyncio/") for name, each in functions.items() if each["calls"])


def test_an_edited_function_that_is_executed_is_named_first(tmp_path: Path) -> None:
    found = compare(tmp_path, ("grown = value * 3 + 1", "grown = value + value + value + 1"))
    assert (found[0].name, found[0].file, found[0].cause) == ("inner", "thing.py", Cause.EDITED)
    assert found[0].line == 10
    assert [each.cause for each in found[1:]] == []


def test_the_edited_caller_comes_before_what_it_calls_more(tmp_path: Path) -> None:
    found = compare(tmp_path, ("value = inner(value)\n", "value = inner(value)\n        inner(value)\n"))
    assert [(each.name, each.cause) for each in found] == [("step", Cause.EDITED), ("inner", Cause.CALLS)]
    assert (found[1].base, found[1].head) == (1000, 2000)


def test_a_function_called_more_by_code_outside_is_named(tmp_path: Path) -> None:
    # The default is made when the module runs: no executed code of the slice was edited.
    found = compare(tmp_path, ("times=1000", "times=1001"))
    assert (found[0].name, found[0].cause, found[0].base, found[0].head) == ("inner", Cause.CALLS, 1000, 1001)
    assert Cause.EDITED not in {each.cause for each in found}


def test_a_builtin_that_is_called_more_is_named(tmp_path: Path) -> None:
    found = compare(tmp_path, ("abs(value)", "abs(abs(value))"))
    assert [(each.name, each.file) for each in found] == [("step", "thing.py"), ("builtins.abs", None)]


def test_neutral_edits_name_nothing(tmp_path: Path) -> None:
    moved = "def unused(value):\n    return value + 1\n\n\n"
    found = compare(
        tmp_path,
        ('"""Three times and one more."""', '"""Thrice."""'),
        ("grown", "taken"),
        (moved, ""),
        ("class Kept:", f"{moved}class Kept:"),
    )
    assert {each.cause for each in found} <= {Cause.SET_UP}
    assert not {"inner", "step"} & {each.name for each in found}


def test_code_of_the_set_up_is_named_where_nothing_else_moved(tmp_path: Path) -> None:
    found = compare(tmp_path, ("    size = 8", "    size = 9"))
    assert [(each.name, each.cause) for each in found] == [("Kept", Cause.SET_UP)]


def _code(source: str) -> Any:
    space: dict[str, Any] = {}
    exec(source, space)
    return space["f"].__code__


@pytest.mark.parametrize(
    "other",
    [
        'def f(a, b=1):\n    "said"\n    c = a in {1, "x", (2, "y")}\n    return c or g(b)',
        'def f(a, b=1):\n    "said otherwise"\n\n    d = a in {1, "x", (2, "y")}\n    return d or g(b)',
        'def f(a, b=2):\n    c = a in {(2, "y"), "x", 1}\n    return c or g(b)',
    ],
)
def test_a_digest_sees_no_docstring_no_line_and_no_name_of_a_local(other: str) -> None:
    assert digest(_code('def f(a, b=1):\n    c = a in {1, "x", (2, "y")}\n    return c or g(b)')) == digest(
        _code(other)
    )


@pytest.mark.parametrize(
    "other",
    [
        'def f(a, b=1):\n    c = a in {1, "x", (3, "y")}\n    return c or g(b)',
        'def f(a, b=1):\n    c = a in {1, "x", (2, "y")}\n    return c or h(b)',
        'def f(a, b=1):\n    c = a in {1, "x", (2, "y")}\n    return c and g(b)',
        'def f(a, b=1):\n    c = a in {True, "x", (2, "y")}\n    return c or g(b)',
        'def f(a, b=1):\n    c = a in {1, "x", (2, "y")}\n    return c or g(a)',
    ],
)
def test_a_digest_sees_constants_however_deep_names_and_instructions(other: str) -> None:
    assert digest(_code('def f(a, b=1):\n    c = a in {1, "x", (2, "y")}\n    return c or g(b)')) != digest(
        _code(other)
    )


def test_calls_on_threads_are_seen_from_one_round_to_the_next() -> None:
    wanted, done, calls = threading.Event(), threading.Event(), Calls()

    def serve() -> None:
        for _ in range(2):
            wanted.wait()
            wanted.clear()
            answer()
            done.set()

    def answer() -> None: ...

    with calls:
        thread = threading.Thread(target=serve)
        thread.start()
    for _ in range(2):
        calls.take()
        with calls:
            wanted.set()
            done.wait()
            done.clear()
        assert answer.__code__ in calls.take()[0].met.values()
    thread.join()


def test_opcodes_are_counted_only_inside() -> None:
    def work() -> int:
        return 1

    opcodes = Opcodes()
    with opcodes:
        work()
    once = dict(opcodes.python.times)[id(work.__code__)]
    work()
    assert opcodes.python.times[id(work.__code__)] == once
    with opcodes:
        work()
    assert opcodes.python.times[id(work.__code__)] == 2 * once
