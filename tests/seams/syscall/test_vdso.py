"""The fast path: what it serves, what strands it, and that a hit equals a fresh call."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.syscall import Result, ToolCall
from seams.contract.verdict import Status
from seams.syscall.vdso import CAP, Vdso, calculate, destructive, offer, write_shaped

HINTS = {"readOnlyHint": "true", "idempotentHint": "true"}


def read(tool: str = "get_x", args: bytes = b"{}", **meta: str) -> ToolCall:
    return ToolCall(tool, args, {**HINTS, **meta})


def ok(payload: bytes = b"{}") -> Result:
    return Result(Status.OK, payload)


def test_miss_fill_hit_hit_pure() -> None:
    path = Vdso()
    assert path.lookup(read()) is None
    path.observe(read(), ok(b"1"))
    for _ in range(2):
        hit = path.lookup(read())
        assert hit is not None
        assert (hit.payload, hit.meta) == (b"1", {"served_by": "vdso", "tier": "2"})
    assert path.lookup(read("calculate", b'{"a":1,"b":2}')) is not None
    stats = path.stats()
    assert (stats.lookups, stats.hits, stats.fills, stats.hit_rate) == (4, 3, 1, 0.75)
    assert stats.misses == {"NOT_CACHED": 1}


def test_no_lookup_no_rate() -> None:
    assert Vdso().stats().hit_rate is None


def test_the_order_of_keys_does_not_matter() -> None:
    path = Vdso()
    path.observe(read(args=b'{"a":1,"b":2}'), ok(b"1"))
    assert path.lookup(read(args=b'{ "b":2, "a":1}')) is not None
    assert path.lookup(read(args=b'{"a":1,"b":3}')) is None
    assert path.lookup(read("get_y", b'{"a":1,"b":2}')) is None


def test_a_number_is_compared_as_it_is_written() -> None:
    path = Vdso()
    path.observe(read(args=b'{"a":1}'), ok(b"1"))
    assert path.lookup(read(args=b'{"a":1.0}')) is None
    assert path.lookup(read(args=b'{"a": 1}')) is not None


@pytest.mark.parametrize(
    ("args", "answer"),
    [
        (b'{"a": 240, "b": 60}', b'{"sum":300}'),
        (b'{"a": 0.1, "b": 0.2}', b'{"sum":0.30000000000000004}'),
        (b'{"a": 1.5, "b": -2}', b'{"sum":-0.5}'),
        (b'{"a": 1e300, "b": 0}', b'{"sum":1e+300}'),
        (b'{"a": 1e308, "b": 1e308}', None),
        (b'{"a": "1", "b": 2}', None),
        (b'{"a": true, "b": 2}', None),
        (b'{"a": 1}', None),
        (b"[1]", None),
        (b"", None),
    ],
)
def test_the_pure_sum(args: bytes, answer: bytes | None) -> None:
    assert calculate(args) == answer
    if answer is not None:
        assert json.loads(answer)["sum"] == sum(json.loads(args).values())


def test_pure_needs_hints_and_static_does_not() -> None:
    path = Vdso()
    assert path.lookup(ToolCall("calculate", b'{"a":1,"b":2}')) is None
    hit = path.lookup(ToolCall("list_all_airports", b'{"any":1}', {"destructive": "true"}))
    assert hit is not None
    assert hit.meta["tier"] == "3"
    assert json.loads(hit.payload)["airports"][0] == "SFO"
    assert path.stats().misses == {"MISSING_HINTS": 1}


def test_pure_comes_before_static_and_static_before_the_cache() -> None:
    path = Vdso(pure={"t": lambda args: b"pure" if args == b'"p"' else None}, static={"t": b"static"})
    path.observe(read("t"), ok(b"cached"))
    assert path.lookup(read("t", b'"p"')).payload == b"pure"  # type: ignore[union-attr]
    assert path.lookup(read("t")).payload == b"static"  # type: ignore[union-attr]


@pytest.mark.parametrize("tool", ["book_it", "Rundown", "reEDITed", "cancel", "sendmail", "execute", "dispatch_patch"])
def test_what_sounds_like_a_write_is_one(tool: str) -> None:
    assert write_shaped(tool)
    path = Vdso()
    assert path.lookup(read(tool)) is None
    assert path.stats().misses == {"DESTRUCTIVE": 1}


def test_what_says_that_it_destroys_does() -> None:
    assert destructive(read(destructive="true"))
    assert not destructive(read())
    assert not write_shaped("get_user_details")


def test_a_completed_write_strands_what_was_read() -> None:
    path = Vdso()
    path.observe(read(), ok())
    path.observe(ToolCall("update_status"), ok())
    assert path.version == 1
    assert path.lookup(read()) is None


@pytest.mark.parametrize("status", Status)
def test_a_write_that_failed_may_have_been_done(status: Status) -> None:
    path = Vdso()
    path.observe(read(), ok())
    path.observe(ToolCall("update_status"), Result(status, b"{}"))
    assert path.lookup(read()) is None


@pytest.mark.parametrize("tool", ["create_order", "refund_payment", "transfer_funds", "get_x", ""])
@pytest.mark.parametrize("meta", [{}, {"readOnlyHint": "false"}, {"readOnlyHint": "TRUE"}, {"idempotentHint": "true"}])
def test_what_is_not_said_to_read_only_may_have_written(tool: str, meta: dict[str, str]) -> None:
    path = Vdso()
    path.observe(read(), ok())
    path.observe(ToolCall(tool, b"{}", meta), ok())
    assert (path.lookup(read()), path.version) == (None, 1)


def test_a_hint_does_not_make_a_read_of_what_sounds_like_a_write() -> None:
    path = Vdso()
    path.observe(read(), ok())
    path.observe(read("book_it"), ok())
    assert path.lookup(read()) is None


@pytest.mark.parametrize(
    ("call", "result"),
    [
        (read(), Result(Status.ERROR, b"{}")),
        (ToolCall("get_x"), ok()),
        (read(readOnlyHint="false"), ok()),
        (read(idempotentHint="yes"), ok()),
    ],
)
def test_what_does_not_fill(call: ToolCall, result: Result) -> None:
    path = Vdso()
    path.observe(call, result)
    assert path.stats().fills == 0


def test_what_was_read_in_one_world_is_served_in_no_other() -> None:
    path = Vdso()
    one, other = path.mount("default", lookup=True), path.mount("airline", lookup=True)
    call = ("get_user_details", b'{"user_id":"u"}', HINTS)
    echoed = one.syscall(ToolCall(*call))[0]
    told, verdict = other.syscall(ToolCall(*call))
    assert (verdict.by, told.payload == echoed.payload) == ("monitor", False)
    for kernel, payload in (
        (one, echoed.payload),
        (other, told.payload),
        (path.mount("default", True), echoed.payload),
    ):
        again, verdict = kernel.syscall(ToolCall(*call))
        assert (verdict.by, again.payload) == ("vdso", payload)
    assert (path.stats().hits, path.stats().fills) == (3, 2), "one book for all worlds"
    other.syscall(ToolCall("book_flight", b'{"user_id":"u","flight_id":"f"}'))
    assert one.syscall(ToolCall(*call))[1].by == "monitor", "a write strands too much, never too little"


def test_arguments_with_a_twin_key_are_no_numbers() -> None:
    assert calculate(b'{"a":1,"a":2,"b":3}') is None
    assert calculate(b'{"a":1,"b":2,"c":{"a":1,"a":2}}') is None


def test_the_first_answer_stays() -> None:
    path = Vdso()
    path.observe(read(), ok(b"1"))
    path.observe(read(), ok(b"2"))
    assert path.lookup(read()).payload == b"1"  # type: ignore[union-attr]


def test_beyond_the_cap_the_least_recently_used_goes() -> None:
    path = Vdso(cap=2)
    path.observe(read("a"), ok())
    path.observe(read("b"), ok())
    path.lookup(read("a"))
    path.observe(read("c"), ok())
    assert [path.lookup(read(tool)) is not None for tool in "abc"] == [True, False, True]
    assert path.stats().evictions == 1


@pytest.mark.parametrize("cap", [0, -1])
def test_no_cap_is_the_usual_cap(cap: int) -> None:
    path = Vdso(cap)
    for index in range(CAP + 1):
        path.observe(read(f"t{index}"), ok())
    assert path.stats().evictions == 1


def test_a_principal_reads_only_what_it_read_itself() -> None:
    path = Vdso(shareable=frozenset({"get_time"}))
    for tool in ("get_mail", "get_time"):
        path.observe(read(tool, principal="ada"), ok())
    assert path.lookup(read("get_mail", principal="ada")) is not None
    assert path.lookup(read("get_mail", principal="bob")) is None
    assert path.lookup(read("get_mail")) is None
    assert path.lookup(read("get_time", principal="bob")) is not None


def test_a_new_world_serves_nothing_old() -> None:
    path = Vdso()
    path.observe(read(), ok())
    path.bump()
    assert path.lookup(read()) is None


def test_a_hit_is_a_fresh_object() -> None:
    path = Vdso()
    path.observe(read(), ok(b"1"))
    first = path.lookup(read())
    assert first is not None
    first.payload = b"changed"
    first.meta["served_by"] = "me"
    second = path.lookup(read())
    assert second is not None
    assert (second.payload, second.meta["served_by"]) == (b"1", "vdso")


class Store:
    """A tool world with state: reads depend on the arguments, writes change what reads answer."""

    def __init__(self) -> None:
        self.held: dict[str, int] = {}

    def complete(self, call: ToolCall) -> Result:
        args = json.loads(call.args)
        if call.tool == "update":
            self.held[args["k"]] = args["v"]
        return ok(json.dumps([args["k"], self.held.get(args["k"], 0)]).encode())


steps = st.lists(
    st.one_of(
        st.tuples(st.just("read"), st.sampled_from("ab"), st.booleans()),
        st.tuples(st.just("update"), st.sampled_from("ab"), st.integers(0, 3)),
        st.tuples(st.just("bump"), st.just(""), st.just(0)),
    ),
    max_size=30,
)


@given(steps, st.integers(1, 3))
def test_a_hit_equals_a_fresh_call(steps_: list[tuple[str, str, int]], cap: int) -> None:
    path, store = Vdso(cap=cap), Store()
    for what, key, value in steps_:
        if what == "bump":
            path.bump()
            continue
        if what == "update":
            call = ToolCall("update", json.dumps({"k": key, "v": value}).encode(), {"destructive": "true"})
            assert path.lookup(call) is None
            path.observe(call, store.complete(call))
            continue
        text = {"k": key, "z": 1} if value else {"z": 1, "k": key}
        call = read("get", json.dumps(text).encode())
        hit = path.lookup(call)
        fresh = store.complete(call)
        if hit is not None:
            assert hit.payload == fresh.payload
        else:
            path.observe(call, fresh)


def test_it_is_offered_on_mock_engines() -> None:
    path = offer("mock")
    assert path is not None
    kernel = path.mount("default", lookup=True)
    for _ in range(2):
        result, verdict = kernel.syscall(read())
    assert (verdict.by, result.meta["tier"], path.stats().hits) == ("vdso", "2", 1)
    silent = path.mount("default", lookup=False)
    assert silent.syscall(read())[1].by == "monitor"
    assert [offer(engine) for engine in ("none", "noop", "remote")] == [None, None, None]
