"""Submit, reap and admission as one kernel: routes, refusals as values, and books that balance."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.syscall import Counters, Handle, Resolver, Result, ToolCall, Verdict
from seams.contract.verdict import ReasonCode, Status, Taint, VerdictKind, Witness
from seams.engines.mock import MockEngine
from seams.engines.noop import NoopEngine
from seams.syscall import reap as reaping
from seams.syscall import submit as submitting
from seams.syscall.fold import Chain
from seams.syscall.kernel import Kernel, fresh_kernel
from seams.syscall.reap import ReapError
from seams.syscall.vdso import Vdso
from seams.syscall.worlds import WorldError

HINTS = {"readOnlyHint": "true", "idempotentHint": "true"}


class Says:
    name = "says"
    rank = 1
    tools: frozenset[str] | None = None

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict

    def adjudicate(self, call: ToolCall) -> Verdict:
        return self.verdict

    def admit(self, call: ToolCall, result: Result) -> Verdict:
        return self.verdict


class Knows:
    def __init__(self, witness: Witness) -> None:
        self.witness = witness
        self.claims: list[str] = []

    def resolve(self, call: ToolCall, claim: str) -> Witness:
        self.claims.append(claim)
        return self.witness


class Fails:
    def complete(self, call: ToolCall) -> Result:
        raise OSError("the line is down")


def saying(kind: int, reason: int = ReasonCode.NONE, **more: object) -> Kernel:
    verdict = Verdict(kind, reason, "says", **more)  # type: ignore[arg-type]
    return Kernel(Chain([Says(verdict)]), NoopEngine())


def moved(kernel: Kernel) -> dict[str, int]:
    return {name: count for name, count in asdict(kernel.counters()).items() if count}


def test_an_admitted_call_reaches_the_engine_at_reap_and_not_before() -> None:
    kernel = saying(VerdictKind.ALLOW)
    handle, verdict = kernel.submit(ToolCall("t"))
    assert (verdict.kind, moved(kernel)) == (VerdictKind.ALLOW, {"submits": 1})
    assert kernel.reap(handle).status == Status.OK
    assert moved(kernel) == {"submits": 1, "engine_calls": 1, "admitted": 1}
    assert kernel.engine.completed == 1  # type: ignore[attr-defined]


def test_a_handle_is_good_for_one_reap() -> None:
    kernel = saying(VerdictKind.ALLOW)
    handle, _ = kernel.submit(ToolCall("t"))
    kernel.reap(handle)
    for bad in (handle, Handle(77)):
        with pytest.raises(ReapError, match="no pending submission"):
            kernel.reap(bad)


def test_calls_are_numbered_and_a_number_is_kept() -> None:
    kernel = saying(VerdictKind.ALLOW)
    first, second, own = ToolCall("t"), ToolCall("t"), ToolCall("t", seq=9)
    handles = [kernel.submit(call)[0] for call in (first, second, own)]
    assert [call.seq for call in (first, second, own)] == [1, 2, 9]
    assert [handle.seq for handle in handles] == [1, 2, 3]


def test_a_refusal_comes_back_as_a_value() -> None:
    kernel = saying(VerdictKind.DENY, ReasonCode.POLICY_BLOCK, meta={"retry_after": "3"})
    result, _ = kernel.syscall(ToolCall("t"))
    assert result.status == Status.ERROR
    assert result.meta == {"verdict": "deny", "reason": "POLICY_BLOCK", "disposition": "terminal", "by": "says"}
    assert moved(kernel) == {"submits": 1, "denies": 1}


def test_only_a_refusal_that_waits_says_how_long() -> None:
    meta = {"retry_after": "3", "retry_after_ms": "3000", "note": "x"}
    result, _ = saying(VerdictKind.DENY, ReasonCode.RATE_LIMITED, meta=meta).syscall(ToolCall("t"))
    assert (result.meta["retry_after"], result.meta["retry_after_ms"]) == ("3", "3000")
    assert "note" not in result.meta


def test_a_transform_replaces_the_arguments() -> None:
    kernel = saying(VerdictKind.TRANSFORM, new_args=b'{"b":1}')
    call = ToolCall("t", b'{"a":1}')
    assert call.arguments() == {"a": 1}
    kernel.syscall(call)
    assert (call.args, call.arguments()) == (b'{"b":1}', {"b": 1})
    assert moved(kernel) == {"submits": 1, "transforms": 1, "engine_calls": 1, "admitted": 1}


@pytest.mark.parametrize(
    "kind", [VerdictKind.QUARANTINE, VerdictKind.TRANSFORM, VerdictKind.INDETERMINATE, VerdictKind.DEFER, 1_024, 9_999]
)
def test_what_nobody_can_carry_out_is_held_as_a_deny(kind: int) -> None:
    kernel = saying(kind)
    result, _ = kernel.syscall(ToolCall("t"))
    assert (result.meta["verdict"], moved(kernel)) == ("deny", {"submits": 1, "denies": 1})


@pytest.mark.parametrize(
    ("known", "kind", "reason"),
    [
        ([], "DENY", "UNWITNESSED"),
        ([Witness.UNKNOWN], "DENY", "UNWITNESSED"),
        ([Witness.UNKNOWN, Witness.REFUTED], "DENY", "TRUST_VIOLATION"),
        ([Witness.REFUTED, Witness.CONFIRMED], "ALLOW", "NONE"),
        ([Witness.CONFIRMED], "ALLOW", "NONE"),
    ],
)
def test_a_claim_needs_a_witness(known: list[Witness], kind: str, reason: str) -> None:
    for side in ("call", "result"):
        verdict = Verdict(VerdictKind.REQUIRE_WITNESS, by="says", meta={"claim": "paid"})
        knowers = [Knows(witness) for witness in known]
        resolvers: tuple[Resolver, ...] = tuple(knowers)
        allow = Says(Verdict(VerdictKind.ALLOW))
        if side == "call":
            kernel = Kernel(Chain([Says(verdict)]), NoopEngine(), resolvers=resolvers)
            result, got = kernel.syscall(ToolCall("t"))
            assert (VerdictKind(got.kind).name, ReasonCode(got.reason).name) == (kind, reason)
            denied = "denies"
        else:
            kernel = Kernel(Chain([allow]), NoopEngine(), admitters=(Says(verdict),), resolvers=resolvers)
            result, _ = kernel.syscall(ToolCall("t"))
            denied = "result_denies"
        assert getattr(kernel.counters(), denied) == (kind == "DENY")
        assert result.status == (Status.OK if kind == "ALLOW" else Status.ERROR)
        assert [knower.claims for knower in knowers] == [["paid"]] * len(knowers)
        if kind == "DENY":
            assert result.meta["reason"] == reason
            assert result.meta["witness"] == ("refuted" if reason == "TRUST_VIOLATION" else "none")


class Asks(Says):
    """A rung or a gate that wants a claim corroborated."""

    def __init__(self, claim: str = "paid", by: str = "asks") -> None:
        super().__init__(Verdict(VerdictKind.REQUIRE_WITNESS, by=by, meta={"claim": claim}))
        self.name = by


@pytest.mark.parametrize("first", ["asks", "redacts"])
def test_a_confirmed_claim_dispatches_no_argument_that_is_to_be_redacted(first: str) -> None:
    redacts = Says(Verdict(VerdictKind.TRANSFORM, by="redacts", new_args=b'{"password":"[REDACTED]"}'))
    rungs = [Asks(), redacts] if first == "asks" else [redacts, Asks()]
    kernel = Kernel(Chain(rungs), MockEngine(), resolvers=(Knows(Witness.CONFIRMED),))
    call = ToolCall("t", b'{"password":"hunter2"}')
    result, verdict = kernel.syscall(call)
    assert (verdict.kind, verdict.by, call.args) == (VerdictKind.TRANSFORM, "redacts", b'{"password":"[REDACTED]"}')
    assert b"hunter2" not in result.payload
    assert moved(kernel) == {"submits": 1, "transforms": 1, "engine_calls": 1, "admitted": 1}


def test_in_the_whole_chain_a_confirmed_claim_leaves_redaction_and_books_as_they_are() -> None:
    kernel = fresh_kernel("default", resolvers=[Knows(Witness.CONFIRMED)])
    kernel.chain = Chain([*kernel.chain.rungs, Asks()])
    result, verdict = kernel.syscall(ToolCall("get_x", b'{"password":"hunter2"}'))
    assert (verdict.kind, verdict.by) == (VerdictKind.TRANSFORM, "monitor")
    assert b"hunter2" not in result.payload
    assert kernel.ladder.total == 1, "judged again, and counted once"


def test_every_claim_needs_its_own_witness() -> None:
    class KnowsOne(Knows):
        def resolve(self, call: ToolCall, claim: str) -> Witness:
            self.claims.append(claim)
            return Witness.CONFIRMED if claim == "paid" else Witness.UNKNOWN

    for side in ("call", "result"):
        knows = KnowsOne(Witness.CONFIRMED)
        two, allow = (Asks(), Asks("signed", "other")), (Says(Verdict(VerdictKind.ALLOW)),)
        rungs, gates = (two, ()) if side == "call" else (allow, two)
        kernel = Kernel(Chain(rungs), NoopEngine(), admitters=gates, resolvers=(knows,))
        result, _ = kernel.syscall(ToolCall("t"))
        assert (result.meta["reason"], knows.claims) == ("UNWITNESSED", ["paid", "signed"])


def test_a_rung_that_is_never_content_is_refused() -> None:
    class Insatiable(Asks):
        asked = 0

        def adjudicate(self, call: ToolCall) -> Verdict:
            self.asked += 1
            return Verdict(VerdictKind.REQUIRE_WITNESS, by="asks", meta={"claim": f"paid {self.asked} times"})

    kernel = Kernel(Chain([Insatiable()]), NoopEngine(), resolvers=(Knows(Witness.CONFIRMED),))
    result, verdict = kernel.syscall(ToolCall("t"))
    assert (verdict.kind, result.meta["reason"]) == (VerdictKind.DENY, "UNWITNESSED")


@pytest.mark.parametrize(
    ("kind", "counter", "payload"),
    [(VerdictKind.TRANSFORM, "admitted", b"clean"), (VerdictKind.QUARANTINE, "quarantines", b"{}")],
)
@pytest.mark.parametrize("first", ["asks", "strict"])
def test_a_confirmed_result_is_still_rewritten_or_kept_out(kind: int, counter: str, payload: bytes, first: str) -> None:
    strict = Says(Verdict(kind, ReasonCode.SECRET_EXFIL, "strict", b"clean"))
    gates = (Asks(), strict) if first == "asks" else (strict, Asks())
    allow = Chain([Says(Verdict(VerdictKind.ALLOW))])
    kernel = Kernel(allow, NoopEngine(), admitters=gates, resolvers=(Knows(Witness.CONFIRMED),))
    result, _ = kernel.syscall(ToolCall("t"))
    assert (result.payload, getattr(kernel.counters(), counter)) == (payload, 1)
    assert result.meta["reason"] == "SECRET_EXFIL"


def test_an_engine_that_fails_is_counted_and_admits_nothing() -> None:
    kernel = Kernel(Chain([Says(Verdict(VerdictKind.ALLOW))]), Fails())
    handle, _ = kernel.submit(ToolCall("t"))
    with pytest.raises(OSError, match="line is down"):
        kernel.reap(handle)
    result, _ = kernel.syscall(ToolCall("t"))
    assert (result.status, result.meta["error"]) == (Status.ERROR, "OSError")
    assert moved(kernel) == {"submits": 2, "engine_calls": 2, "engine_errors": 2}


def test_what_an_engine_says_while_it_fails_stays_out_of_the_context() -> None:
    kernel = Kernel(Chain([Says(Verdict(VerdictKind.ALLOW))]), Fails())
    result, _ = kernel.syscall(ToolCall("t"))
    assert json.loads(result.payload) == {"error": "OSError"}
    assert "line" not in str(result.meta), "nor in what stands beside it"


def test_an_engine_that_fails_raises_the_mark_of_its_trace() -> None:
    kernel = fresh_kernel("default", Fails())
    assert kernel.flow is not None
    kernel.syscall(ToolCall("get_x", trace_id="told"))
    handle, _ = kernel.submit(ToolCall("get_x", trace_id="raised"))
    with pytest.raises(OSError, match="line is down"):
        kernel.reap(handle)
    assert [kernel.flow.mark(trace) for trace in ("told", "raised", "none")] == [
        Taint.TAINTED,
        Taint.TAINTED,
        Taint.TRUSTED,
    ]


class Broken(Says):
    """A part that breaks down in place of its opinion."""

    def adjudicate(self, call: ToolCall) -> Verdict:
        raise OSError("the rung is gone")

    def admit(self, call: ToolCall, result: Result) -> Verdict:
        raise OSError("the gate is gone")


def test_a_gate_that_breaks_down_is_no_error_of_the_engine() -> None:
    allow = Says(Verdict(VerdictKind.ALLOW))
    kernel = Kernel(Chain([allow]), NoopEngine(), admitters=(Broken(allow.verdict),))
    with pytest.raises(OSError, match="the gate is gone"):
        kernel.syscall(ToolCall("t"))
    assert moved(kernel) == {"submits": 1, "engine_calls": 1}, "nothing admitted, and no error counted as the engine's"
    kernel = Kernel(Chain([Broken(allow.verdict)]), NoopEngine())
    with pytest.raises(OSError, match="the rung is gone"):
        kernel.syscall(ToolCall("t"))


class Learns(Vdso):
    __slots__ = ("seen",)

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, Status]] = []

    def observe(self, call: ToolCall, result: Result) -> None:
        self.seen.append((call.tool, result.status))


def test_however_a_call_ended_it_is_learned_from_once() -> None:
    allow = Chain([Says(Verdict(VerdictKind.ALLOW))])
    path = Learns()
    kernel = Kernel(allow, NoopEngine(), path)
    kernel.syscall(ToolCall("one"))
    kernel.syscall(ToolCall("two"))
    failing = Kernel(allow, Fails(), path)
    failing.syscall(ToolCall("three"))
    handle, _ = failing.submit(ToolCall("four"))
    with pytest.raises(OSError, match="line is down"):
        failing.reap(handle)
    gated = Kernel(allow, NoopEngine(), path, admitters=(Broken(Verdict(VerdictKind.ALLOW)),))
    with pytest.raises(OSError, match="gate is gone"):
        gated.syscall(ToolCall("five"))
    assert path.seen == [
        ("one", Status.OK),
        ("two", Status.OK),
        ("three", Status.ERROR),
        ("four", Status.ERROR),
        ("five", Status.ERROR),
    ]


@pytest.mark.parametrize("ends", ["engine", "gate", "interrupt"])
def test_a_write_that_ends_in_an_error_strands_what_was_read(ends: str) -> None:
    class Ends(NoopEngine):
        def complete(self, call: ToolCall) -> Result:
            if call.tool == "book_it" and ends == "engine":
                raise OSError("the line is down")
            if call.tool == "book_it" and ends == "interrupt":
                raise KeyboardInterrupt
            return super().complete(call)

    allow = Chain([Says(Verdict(VerdictKind.ALLOW))])
    kernel = Kernel(allow, Ends(), Vdso())
    kernel.syscall(ToolCall("get_x", meta=HINTS))
    assert kernel.syscall(ToolCall("get_x", meta=HINTS))[1].by == "vdso"
    if ends == "gate":
        kernel.admitters = (Broken(Verdict(VerdictKind.ALLOW)),)
    handle, _ = kernel.submit(ToolCall("book_it"))
    with pytest.raises((OSError, KeyboardInterrupt)):
        kernel.reap(handle)
    kernel.admitters = ()
    assert kernel.syscall(ToolCall("get_x", meta=HINTS))[1].by != "vdso"


def test_a_read_whose_gate_broke_down_is_not_kept() -> None:
    path = Vdso()
    kernel = Kernel(Chain([Says(Verdict(VerdictKind.ALLOW))]), NoopEngine(), path, admitters=(Broken(Verdict(0)),))
    with pytest.raises(OSError, match="gate is gone"):
        kernel.syscall(ToolCall("get_x", meta=HINTS))
    assert path.stats().fills == 0


@pytest.mark.parametrize(
    ("kind", "counter", "mark", "payload"),
    [
        (VerdictKind.ALLOW, "admitted", None, b"{}"),
        (VerdictKind.DEFER, "admitted", None, b"{}"),
        (VerdictKind.TRANSFORM, "admitted", "transformed", b"new"),
        (VerdictKind.QUARANTINE, "quarantines", "quarantined", b"{}"),
        (VerdictKind.DENY, "result_denies", "denied", None),
        (VerdictKind.INDETERMINATE, "result_denies", "denied", None),
        (2_000, "result_denies", "denied", None),
    ],
)
def test_what_a_gate_says_is_carried_out(kind: int, counter: str, mark: str | None, payload: bytes | None) -> None:
    verdict = Verdict(kind, ReasonCode.POLICY_BLOCK, "says", b"new" if kind == VerdictKind.TRANSFORM else None)
    gates = (Says(Verdict(VerdictKind.ALLOW)), Says(verdict), Says(Verdict(VerdictKind.ALLOW)))
    kernel = Kernel(Chain([Says(Verdict(VerdictKind.ALLOW))]), NoopEngine(), admitters=gates)
    result, _ = kernel.syscall(ToolCall("t"))
    assert getattr(kernel.counters(), counter) == 1
    assert result.meta.get("admit") == mark
    if payload is None:
        assert (result.status, result.meta["reason"]) == (Status.ERROR, "POLICY_BLOCK")
    else:
        assert (result.status, result.payload) == (Status.OK, payload)


def test_every_gate_sees_every_result_and_the_strictest_is_carried_out() -> None:
    class Counts(Says):
        asked = 0

        def admit(self, call: ToolCall, result: Result) -> Verdict:
            self.asked += 1
            return self.verdict

    gates = tuple(
        Counts(Verdict(kind, new_args=b"x")) for kind in (VerdictKind.DENY, VerdictKind.TRANSFORM, VerdictKind.ALLOW)
    )
    kernel = Kernel(Chain([Says(Verdict(VerdictKind.ALLOW))]), NoopEngine(), admitters=gates)
    assert kernel.syscall(ToolCall("t"))[0].meta["admit"] == "denied"
    assert [gate.asked for gate in gates] == [1, 1, 1]


@pytest.mark.parametrize("kind", [VerdictKind.QUARANTINE, VerdictKind.TRANSFORM, VerdictKind.DENY])
def test_of_equally_strict_gates_the_earlier_one_is_carried_out(kind: int) -> None:
    said = [Verdict(kind, reason, "says", b"x") for reason in (ReasonCode.SECRET_EXFIL, ReasonCode.OVERSIZE)]
    kernel = Kernel(Chain([Says(Verdict(VerdictKind.ALLOW))]), NoopEngine(), admitters=tuple(Says(v) for v in said))
    assert kernel.syscall(ToolCall("t"))[0].meta["reason"] == "SECRET_EXFIL"


def test_the_fast_path_comes_before_policy_and_engine() -> None:
    kernel = fresh_kernel("airline")
    result, verdict = kernel.syscall(ToolCall("list_all_airports"))
    assert (verdict.by, result.meta["tier"]) == ("vdso", "3")
    assert moved(kernel) == {"submits": 1, "vdso_hits": 1}
    off = fresh_kernel("airline", lookup=False)
    assert off.syscall(ToolCall("list_all_airports"))[0].meta["reason"] == "DEFAULT_DENY"


def test_a_repaired_call_is_cached_under_its_repaired_arguments() -> None:
    kernel = fresh_kernel("airline")
    aliased = b'{"from":"USD","to":"EUR","amount":240}'
    assert kernel.syscall(ToolCall("convert_currency", aliased, HINTS))[1].by == "grammar"
    assert kernel.syscall(ToolCall("convert_currency", aliased, HINTS))[1].by == "grammar"
    direct = b'{"from_currency":"USD","to_currency":"EUR","amount":240}'
    assert kernel.syscall(ToolCall("convert_currency", direct, HINTS))[1].by == "vdso"


def test_a_quarantined_read_is_served_again_as_its_stub() -> None:
    kernel = fresh_kernel("airline")
    first, _ = kernel.syscall(ToolCall("fetch_policy", b'{"topic":"refunds"}', HINTS))
    again, verdict = kernel.syscall(ToolCall("fetch_policy", b'{"topic":"refunds"}', HINTS))
    assert (first.meta["admit"], verdict.by) == ("quarantined", "vdso")
    assert first.payload == again.payload
    assert b"_quarantined" in again.payload
    assert again.meta["quarantine_id"] == first.meta["quarantine_id"]
    assert "admit" not in again.meta, "nothing was admitted"


def test_a_stub_that_is_served_again_marks_the_trace_as_the_body_did() -> None:
    kernel = fresh_kernel("airline")
    assert kernel.flow is not None
    read = (b'{"topic":"refunds"}', HINTS)
    for trace in ("first", "again"):
        kernel.syscall(ToolCall("fetch_policy", *read, trace_id=trace))
        assert kernel.flow.mark(trace) is Taint.QUARANTINED


def test_what_its_owner_does_to_a_call_after_the_submit_does_not_run() -> None:
    kernel = fresh_kernel("default")
    hints = dict(HINTS)
    call = ToolCall("get_x", b'{"n":1}', hints)
    handle, _ = kernel.submit(call)
    call.tool, call.args = "get_y", b'{"password":"x"}'
    hints["destructive"] = "true"
    assert json.loads(kernel.reap(handle).payload) == {"tool": "get_x", "echo": '{"n":1}', "ok": True}
    assert kernel.syscall(ToolCall("get_x", b'{"n":1}', HINTS))[1].by == "vdso", "and it is no write either"


def test_what_is_judged_is_what_the_bytes_say() -> None:
    call = ToolCall("get_user_details", b'{"user_id":7}')
    (call.arguments() or {})["user_id"] = "changed after it was read"
    assert fresh_kernel("airline").submit(call)[1].reason == ReasonCode.MALFORMED


def test_the_seams_offer_kernels_on_local_engines_only() -> None:
    for engine in ("none", "remote"):
        assert submitting.offer(engine) is None
        assert reaping.offer(engine) is None
    for offer in (submitting.offer, reaping.offer):
        for engine in ("noop", "mock"):
            kernel = offer(engine)
            assert kernel is not None
            assert isinstance(kernel.engine, NoopEngine) == (engine == "noop")
            moved_over = kernel.in_world("airline")
            assert isinstance(moved_over.engine, NoopEngine) == (engine == "noop")
            assert moved_over.lookup is kernel.lookup is (offer is submitting.offer)
            assert moved_over.chain.rungs[0].name == "grammar"
    with pytest.raises(WorldError, match="worlds are default, airline"):
        fresh_kernel("submarine")


def test_a_snapshot_of_the_counters_stays_as_it_is() -> None:
    kernel = saying(VerdictKind.ALLOW)
    before = kernel.counters()
    kernel.syscall(ToolCall("t"))
    assert before == Counters()


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["get_user_details", "calculate", "list_all_airports", "book_reservation", "launch", ""]),
            st.sampled_from([b"{}", b'{"a":1,"b":2}', b'{"token":"x"}', b"{oops"]),
            st.booleans(),
        ),
        max_size=25,
    ),
    st.booleans(),
)
def test_every_submit_is_a_hit_a_deny_or_an_engine_call(calls: list[tuple[str, bytes, bool]], lookup: bool) -> None:
    kernel = fresh_kernel("default", lookup=lookup)
    for tool, args, hinted in calls:
        kernel.syscall(ToolCall(tool, args, HINTS if hinted else {}))
    told = kernel.counters()
    assert told.submits == len(calls) == told.vdso_hits + told.denies + told.engine_calls
    assert told.engine_calls == kernel.engine.completed  # type: ignore[attr-defined]
    assert told.engine_calls == told.admitted + told.quarantines + told.result_denies
    assert not kernel.pending
