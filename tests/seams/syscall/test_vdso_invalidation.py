"""The fast path under scoped invalidation, witnesses, principals; and that under each mode a hit is a fresh answer."""

from __future__ import annotations

import json
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seams.contract.store import Ref
from seams.contract.syscall import Result, ToolCall
from seams.contract.verdict import Status
from seams.syscall.epochs import Epochs, Invalidation
from seams.syscall.reads import Reads
from seams.syscall.resolver import MemoryStore
from seams.syscall.vdso import Vdso

HINTS = {"readOnlyHint": "true", "idempotentHint": "true"}
BIG = b"\xff" * 1_000_000
GLOBAL, NAMESPACE, RESOURCE = Invalidation


def read(tool: str = "get_x", meta: dict[str, str] | None = None, **args: Any) -> ToolCall:
    return ToolCall(tool, json.dumps(args).encode(), {**HINTS, **(meta or {})})


def write(tool: str = "update_x", **args: Any) -> ToolCall:
    return ToolCall(tool, json.dumps(args).encode(), {"destructive": "true"})


def ok(payload: bytes = b"{}", **meta: str) -> Result:
    return Result(Status.OK, payload, meta)


def served(path: Vdso, call: ToolCall) -> bytes | None:
    hit = path.lookup(call)
    return None if hit is None else hit.payload


def test_a_write_elsewhere_strands_nothing() -> None:
    path = Vdso(invalidation=RESOURCE)
    mia, bob = read("get_user", user_id="mia"), read("get_user", user_id="bob")
    path.observe(mia, ok(b"m"))
    path.observe(bob, ok(b"b"))
    path.observe(write("update_user", user_id="bob"), ok())
    assert (served(path, mia), served(path, bob)) == (b"m", None)
    path.observe(bob, ok(b"b2"))
    assert served(path, bob) == b"b2"
    path.observe(write("update_everything"), ok())
    assert (served(path, mia), served(path, bob), path.version) == (None, None, 1)


def test_an_unnamed_resource_is_neither_kept_nor_served() -> None:
    path = Vdso(invalidation=RESOURCE)
    everybody = read("list_users")
    path.observe(everybody, ok())
    assert served(path, everybody) is None
    assert (path.stats().fills, path.stats().misses) == (0, {"RESOURCE_MISNAMED": 1})
    for mode in (GLOBAL, NAMESPACE):
        path = Vdso(invalidation=mode)
        path.observe(everybody, ok())
        assert served(path, everybody) == b"{}"


def test_a_revoked_witness_takes_its_answers_with_it() -> None:
    path = Vdso()
    path.observe(read(k=1), ok(b"1", witness="w1"))
    path.observe(read(k=2), ok(b"2", witness="w2"))
    path.observe(read("get_y", {"witness": "w1"}), ok(b"3"))
    path.revoke("w1")
    assert [served(path, call) for call in (read(k=1), read(k=2), read("get_y"))] == [None, b"2", None]
    assert path.stats().misses == {"WITNESS_REVOKED": 2}
    assert served(path, read(k=1)) is None
    assert path.stats().misses == {"WITNESS_REVOKED": 2, "NOT_CACHED": 1}, "it is gone now"


def test_a_revocation_is_not_forgotten() -> None:
    path = Vdso()
    path.revoke("w1")
    path.observe(read(), ok(b"late", witness="w1"))
    assert served(path, read()) is None
    path.observe(read(), ok(b"new", witness="w2"))
    assert served(path, read()) == b"new"
    path.revoke("w2")
    path.observe(read(), ok(b"unwitnessed"))
    assert served(path, read()) == b"unwitnessed", "an answer that lost its witness makes way without being asked for"


def test_revocations_beyond_the_bound_leave_no_witness_to_be_believed() -> None:
    path = Vdso()
    path._reads = Reads(8, Epochs(), MemoryStore(), revocations=2)
    path.observe(read(k=0), ok(b"0", witness="good"))
    path.observe(read(k=1), ok(b"1"))
    for number in range(2):
        path.revoke(f"w{number}")
    assert served(path, read(k=0)) == b"0"
    path.revoke("w2")
    assert (served(path, read(k=0)), served(path, read(k=1))) == (None, b"1")
    path.observe(read(k=2), ok(b"2", witness="w0"))
    path.observe(read(k=3), ok(b"3", witness="new"))
    assert [served(path, read(k=key)) for key in (2, 3)] == [None, None], "what was forgotten is not believed again"
    for number in range(1000):
        path.revoke(f"more {number}")
    assert len(path._reads._revoked) <= 2


def test_no_principal_can_be_spelled_into_the_arguments() -> None:
    path = Vdso()
    path.observe(ToolCall("get_mail", b"b\0z", {**HINTS, "principal": "a"}), ok(b"of a"))
    for principal, args in (("a\0b", b"z"), ("", b"a\0b\0z"), ("\ud800", b"b\0z")):
        assert served(path, ToolCall("get_mail", args, {**HINTS, "principal": principal})) is None
    assert served(path, ToolCall("get_mail", b"b\0z", {**HINTS, "principal": "a"})) == b"of a"


NESTED = b'{"b":' + b"[" * 50 + b"]" * 50 + b',"a":{"y":1,"x":[{"q":2,"p":1}]}}'
TURNED = b'{ "a": {"x":[{"p":1,"q":2}],"y":1}, "b":' + b"[" * 50 + b"]" * 50 + b"}"


@pytest.mark.parametrize(
    ("args", "again"),
    [
        (b"\xff\xfe", b"\xff\xfe"),
        (b"[1]", b"[1]"),
        (b"", b"{}"),
        (NESTED, TURNED),
        (b"[" * 1_000_000, b"[" * 1_000_000),
        (b'{"a":"' + b"x" * 1_000_000 + b'"}', b'{ "a":"' + b"x" * 1_000_000 + b'"}'),
    ],
    ids=["bytes", "list", "none", "nested", "deep", "large"],
)
@pytest.mark.parametrize("mode", Invalidation)
def test_any_arguments_are_one_read_or_another(args: bytes, again: bytes, mode: Invalidation) -> None:
    path = Vdso(invalidation=mode)
    path.observe(ToolCall("get_x", args, HINTS), ok(b"1"))
    assert served(path, ToolCall("get_x", again, HINTS)) == b"1"
    assert served(path, ToolCall("get_x", args + b"\xfe", HINTS)) is None


def test_a_write_that_a_gate_refused_was_done() -> None:
    path = Vdso()
    path.observe(read(), ok())
    path.observe(write(), Result(Status.ERROR, b"{}", {"verdict": "deny", "admit": "denied"}))
    assert served(path, read()) is None


def test_answers_lie_in_the_store_and_are_pinned_while_they_stay() -> None:
    store = MemoryStore(max_bytes=1000)
    path = Vdso(2, store=store)
    for key in range(3):
        path.observe(read(k=key), ok(BIG + bytes([key])))
    assert [served(path, read(k=key)) for key in range(3)] == [None, BIG + b"\1", BIG + b"\2"]
    assert (store.stats().pinned, store.stats().bodies, path.stats().evictions) == (2, 2, 1)
    path.observe(write(), ok())
    assert (store.stats().pinned, store.stats().size) == (0, len(BIG) + 1), "the latest put alone is left"
    path.observe(read(), ok(BIG))
    path.bump()
    assert store.stats().pinned == 0


def test_equal_answers_are_one_body_with_a_pin_for_each() -> None:
    store = MemoryStore()
    path = Vdso(store=store)
    path.observe(read(k=1), ok(BIG, witness="w"))
    path.observe(read(k=2), ok(BIG))
    path.observe(read(k=3), ok(b"small"))
    assert (store.stats().bodies, store.stats().pinned) == (1, 1)
    path.revoke("w")
    assert [served(path, read(k=key)) == BIG for key in (1, 2)] == [False, True]
    assert store.stats().pinned == 1
    path.bump()
    assert store.stats().pinned == 0


@pytest.mark.parametrize("mode", Invalidation)
def test_what_a_narrow_write_strands_is_let_go_when_it_is_asked_for_or_replaced(mode: Invalidation) -> None:
    store = MemoryStore()
    path = Vdso(store=store, invalidation=mode)
    for user in ("mia", "bob"):
        path.observe(read("get_user", user_id=user), ok(BIG + user.encode()))
        path.observe(write("update_user", user_id=user), ok())
    assert served(path, read("get_user", user_id="mia")) is None
    path.observe(read("get_user", user_id="bob"), ok(BIG))
    assert served(path, read("get_user", user_id="bob")) == BIG
    assert (store.stats().pinned, path.stats().evictions) == (1, 0)
    path.bump()
    assert store.stats().pinned == 0


class World:
    """Entities with state, some reads of one of them, of one namespace or of all; writes change what they name."""

    def __init__(self) -> None:
        self.held: dict[str, int] = {}

    def complete(self, call: ToolCall) -> Result:
        args = call.arguments() or {}
        entity = self.entity(call.tool, args)
        if call.meta.get("destructive"):
            named = [name for name in self.names() if name.startswith(entity)]
            for name in named:
                self.held[name] = self.held.get(name, 0) + 1
        seen = {name: self.held.get(name, 0) for name in self.names() if name.startswith(entity)}
        return ok(json.dumps([args, seen]).encode() * 10)  # long enough to lie in the store

    @staticmethod
    def names() -> list[str]:
        return ["users/mia", "users/bob", "flights/SFO-JFK", "flights/JFK-SFO", "fx/USD-EUR", "other"]

    @staticmethod
    def entity(tool: str, args: dict[str, Any]) -> str:
        if "user" in tool and "flight" not in tool:
            return f"users/{args.get('user_id', '')}"
        if "flight" in tool and "user" not in tool:
            return f"flights/{args['origin']}-{args['destination']}" if len(args) == 2 else "flights/"
        return "fx/USD-EUR" if "currency" in tool else ""


PLACES: list[tuple[str, dict[str, str]]] = [
    ("user", {"user_id": "mia"}),
    ("user", {"user_id": "bob"}),
    ("user", {}),
    ("flight", {"origin": "SFO", "destination": "JFK"}),
    ("flight", {"destination": "SFO", "origin": "JFK"}),
    ("flight", {}),
    ("currency", {"from_currency": "USD", "to_currency": "EUR"}),
    ("thing", {}),
    ("user_flight", {"user_id": "mia"}),
]
KINDS = ("get",) * 12 + ("update",) * 5 + ("revoke", "bump")
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 8)), min_size=20, max_size=80)


@settings(max_examples=200, deadline=None)
@given(STEPS, st.sampled_from(Invalidation), st.sampled_from((2, 4, 9)), st.integers(1, 5), st.sampled_from((0, 500)))
def test_a_hit_equals_a_fresh_call(
    steps: list[tuple[str, int]], mode: Invalidation, cap: int, nodes: int, bound: int
) -> None:
    store, world = MemoryStore(bound), World()
    path = Vdso(cap, invalidation=mode, store=store)
    path._reads = Reads(cap, Epochs(mode, nodes), store)  # a table of nodes small enough to be full
    revoked = 0
    for what, place in steps:
        tool, args = PLACES[place]
        if what == "bump":
            path.bump()
        elif what == "revoke":
            path.revoke(f"w{revoked}")
            revoked += 1
        elif what == "update":
            call = write(f"update_{tool}", **args)
            assert path.lookup(call) is None
            path.observe(call, world.complete(call))
        else:
            call = read(f"get_{tool}", {"witness": f"w{revoked}"} if place % 2 else {}, **args)
            hit, fresh = served(path, call), world.complete(call)
            assert hit in (None, fresh.payload)
            if hit is None:
                path.observe(call, fresh)
        entries = path._reads._entries.values()
        assert len(entries) <= cap
        assert store.stats().pinned == len({entry.ref.digest for entry in entries if entry.ref.inline is None})
        assert all(store.resolve(Ref(entry.ref.digest, 0)) for entry in entries if entry.ref.inline is None)


def test_reads_do_hit_under_each_mode_where_nothing_is_written() -> None:
    for mode in Invalidation:
        path, world = Vdso(invalidation=mode), World()
        for _ in range(2):
            for tool, args in PLACES:
                call = read(f"get_{tool}", **args)
                if path.lookup(call) is None:
                    path.observe(call, world.complete(call))
        unnamed = 2 if mode is RESOURCE else 0
        assert path.stats().hits == len(PLACES) - unnamed


def classes(path: Vdso, sessions: list[list[dict[str, Any]]]) -> dict[str, int]:
    """The calls of the sessions in turn, over one fast path; how each was settled."""
    kernel = path.mount("airline", lookup=True)
    told: dict[str, int] = dict.fromkeys(("grammar", "vdso_pure", "vdso_dedup", "vdso_static", "pass"), 0)
    tiers = {"1": "vdso_pure", "2": "vdso_dedup", "3": "vdso_static"}
    for turn in zip_longest(*sessions):
        for each in filter(None, turn):
            result, verdict = kernel.syscall(
                ToolCall(each["tool"], json.dumps(each["args"]).encode(), each.get("meta", {}))
            )
            settled = "grammar" if verdict.by == "grammar" else tiers.get(result.meta.get("tier", ""), "pass")
            told[settled] += 1
    return told


def test_the_fleets_of_each_mode(cases: Path) -> None:
    rows = json.loads((cases / "replay" / "fleet-traces.json").read_bytes())["rows"]
    assert {row["granularity"] for row in rows} == {mode.value for mode in Invalidation}
    for row in rows:
        mode = Invalidation(row["granularity"])
        shared = classes(Vdso(invalidation=mode), row["sessions"])
        assert shared == {name: row["shared"][name] for name in shared}
        assert sum(shared.values()) - shared["pass"] == row["shared_turns_saved"]
        for session, expected in zip(row["sessions"], row["isolated"], strict=True):
            alone = classes(Vdso(invalidation=mode), [session])
            assert alone == {name: expected[name] for name in alone}
