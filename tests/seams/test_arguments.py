"""Arguments as one reader has them: an object, or nothing that two readers could take for two objects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.arguments import NESTING, no_twins, plain_name, read_arguments
from seams.contract.syscall import ToolCall
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.engines.mock import MockEngine
from seams.syscall.kernel import fresh_kernel
from seams.syscall.policy import Policy, Predicate


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":1,"a":2}',
        b'{"a":1,"a":1}',
        b'{"a":1,"\\u0061":2}',
        b'{"a":{"b":1,"b":2}}',
        b'{"a":[{"x":{"b":1,"c":2,"b":3}}]}',
        b'{"a":{"b":1,"b":2},"a":1}',
        b'{"a:":1,"a:":2}',
        b'{"a":":::","a":1}',
        b'{"":1,"":2}',
        b"[1]",
        b"1",
        b"null",
        b"{oops",
        b'{"a":NaN}',
        b'{"\xff":1}',
        b'{"\xed\xa0\x80":1}',
        b"[" * 1_000_000,
        b'{"a":' * 1_000_000,
        b'{"a":' * (NESTING + 1) + b"1" + b"}" * (NESTING + 1),
    ],
)
def test_what_is_no_object_or_two(raw: bytes) -> None:
    assert read_arguments(raw) is None
    assert ToolCall("t", raw).arguments() is None


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{}",
        b' {"a":1, "b":{"a":1}} ',
        b'{"a":"x:y","b":"::"}',
        b'{"a":[{"a":1},{"a":1}]}',
        b'{"a":1,"A":2,"named:a":3}',
        b'{"a":' * NESTING + b"1" + b"}" * NESTING,
        b'{"a":"' + b":" * 1_000_000 + b'"}',
    ],
)
def test_what_is_one_object(raw: bytes) -> None:
    assert read_arguments(raw) == json.loads(raw or b"{}")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", ":", 'a":', "{", "[,"]),
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(st.sampled_from(["a", "b", "a:", "\u00e9"]), inner)),
    max_leaves=10,
)


def text_of(value: Any) -> str:
    """JSON of a value in which a list of pairs is an object, its twins with it."""
    if isinstance(value, list) and value and all(isinstance(each, tuple) for each in value):
        return "{" + ",".join(f"{json.dumps(key)}:{text_of(each)}" for key, each in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(text_of, value)) + "]"
    return json.dumps(value)


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "c:"]), VALUES), min_size=1, max_size=4))
def test_twins_are_found_wherever_they_stand_and_nowhere_else(pairs: list[tuple[str, Any]]) -> None:
    text = text_of(pairs)
    try:
        once: Any = json.loads(text, object_pairs_hook=no_twins)
    except ValueError:
        once = None
    assert read_arguments(text.encode()) == once


def test_a_parameter_by_name_is_that_parameter() -> None:
    assert [plain_name(key) for key in ("x", "named:x", "renamed:x", "named:", "")] == ["x", "x", "renamed:x", "", ""]


TWINS = (b'{"path":"notes/a","path":"/etc/passwd"}', b'{"path":"/etc/passwd","path":"notes/a"}')


@pytest.mark.parametrize("raw", TWINS)
@pytest.mark.parametrize("hints", [{}, {"readOnlyHint": "true", "idempotentHint": "true"}])
def test_what_two_readers_would_read_differently_reaches_no_engine(raw: bytes, hints: dict[str, str]) -> None:
    engine = MockEngine()
    policy = Policy(
        allow_prefixes=("",),
        redact=frozenset({"password"}),
        predicates=(Predicate("get_file", "path", allow_globs=("notes/*",)),),
    )
    kernel = fresh_kernel("default", engine, policy=policy)
    for tool in ("get_file", "get_x"):
        verdict = kernel.submit(ToolCall(tool, raw, hints))[1]
        assert (verdict.kind, verdict.reason) == (VerdictKind.DENY, ReasonCode.MALFORMED)
    assert engine.completed == 0
