"""The fold: which of several opinions wins, and that nothing is admitted by accident."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.syscall import ToolCall, Verdict
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall import fold as folding
from seams.syscall.fold import Chain, KindError, claim_of, fold, fold_rank, kind_name, register_kind

CALL = ToolCall("t")
SILENT = (VerdictKind.DEFER, VerdictKind.INDETERMINATE)


class Says:
    """A rung with one opinion, which counts how often it is asked."""

    def __init__(self, kind: int, name: str = "r", rank: int = 10, tools: frozenset[str] | None = None) -> None:
        self.name, self.rank, self.tools = name, rank, tools
        self.asked = 0
        self.verdict = Verdict(kind, ReasonCode.NONE, name)

    def adjudicate(self, call: ToolCall) -> Verdict:
        self.asked += 1
        return self.verdict


def folded(*kinds: int) -> Verdict:
    return fold([Says(kind, f"r{index}").adjudicate for index, kind in enumerate(kinds)], CALL)


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "_registered", {})
    monkeypatch.setattr(folding, "_rank", dict(folding._rank))


def test_no_rung_refuses() -> None:
    assert fold([], CALL) == Verdict(VerdictKind.DENY, ReasonCode.DEFAULT_DENY, "empty-policy")


def test_only_deferrals_refuse() -> None:
    assert folded(VerdictKind.DEFER, VerdictKind.DEFER) == Verdict(
        VerdictKind.DENY, ReasonCode.DEFAULT_DENY, "all-defer"
    )


def test_what_stays_undecided_refuses_in_the_name_of_the_first() -> None:
    verdict = folded(VerdictKind.DEFER, VerdictKind.INDETERMINATE, VerdictKind.INDETERMINATE)
    assert (verdict.kind, verdict.reason, verdict.by) == (VerdictKind.DENY, ReasonCode.DEFAULT_DENY, "r1")
    assert verdict.meta == {"fold": "indeterminate"}


def test_a_conclusive_verdict_beats_an_undecided_one() -> None:
    assert folded(VerdictKind.INDETERMINATE, VerdictKind.ALLOW).by == "r1"


def test_the_order_of_ranks() -> None:
    order = ["ALLOW", "DEFER", "INDETERMINATE", "TRANSFORM", "QUARANTINE", "REQUIRE_WITNESS", "DENY"]
    assert [kind.name for kind in sorted(VerdictKind, key=fold_rank)] == order


def test_among_equals_the_earlier_stays() -> None:
    assert folded(VerdictKind.TRANSFORM, VerdictKind.ALLOW, VerdictKind.TRANSFORM).by == "r0"


def test_after_a_deny_nobody_is_asked() -> None:
    rungs = [Says(VerdictKind.ALLOW), Says(VerdictKind.DENY), Says(VerdictKind.ALLOW)]
    assert fold([rung.adjudicate for rung in rungs], CALL).kind == VerdictKind.DENY
    assert [rung.asked for rung in rungs] == [1, 1, 0]


def test_a_kind_nobody_registered_closes_the_gate() -> None:
    assert fold_rank(4_000) == 100
    assert folded(4_000, VerdictKind.ALLOW).kind == 4_000
    assert kind_name(4_000) == "KIND_4000"


def test_a_registered_kind_has_its_own_rank(kinds: None) -> None:
    register_kind(1024, "ASK_A_HUMAN", 35)
    assert (fold_rank(1024), kind_name(1024)) == (35, "ASK_A_HUMAN")
    assert folded(VerdictKind.QUARANTINE, 1024).kind == 1024
    assert folded(VerdictKind.REQUIRE_WITNESS, 1024).kind == VerdictKind.REQUIRE_WITNESS
    with pytest.raises(KindError):
        register_kind(1024, "ASK_A_HUMAN", 0)
    with pytest.raises(KindError):
        register_kind(7, "EARLY", 0)


def test_the_chain_sorts_and_scopes() -> None:
    late, early = Says(VerdictKind.ALLOW, "late", 100), Says(VerdictKind.ALLOW, "early", 5)
    only = Says(VerdictKind.TRANSFORM, "only", 50, frozenset({"t"}))
    chain = Chain([late, only, early])
    assert [rung.name for rung in chain.rungs] == ["early", "only", "late"]
    assert chain.fold(ToolCall("t")).by == "only"
    assert chain.fold(ToolCall("u")).by == "early"
    assert only.asked == 1
    assert (early.asked, late.asked) == (2, 2)


def test_a_granted_claim_lifts_its_own_demand_alone() -> None:
    chain = Chain([Says(VerdictKind.REQUIRE_WITNESS, "a"), Says(VerdictKind.REQUIRE_WITNESS, "b")])
    call = ToolCall("t")
    assert claim_of(chain.fold(call)) == ("a", "")
    assert claim_of(chain.fold(call, {("a", "")})) == ("b", "")
    assert claim_of(chain.fold(call, {("a", "paid"), ("b", "")})) == ("a", "")
    assert chain.fold(call, {("a", ""), ("b", "")}).kind == VerdictKind.ALLOW


some = st.lists(st.sampled_from([*VerdictKind, 4_000]), min_size=1, max_size=5)


@given(some, st.sampled_from([*VerdictKind, 4_000]), st.integers(0, 5))
def test_another_rung_never_loosens_a_conclusive_verdict(kinds_: list[int], more: int, place: int) -> None:
    before = folded(*kinds_)
    place = min(place, len(kinds_))
    after = folded(*kinds_[:place], more, *kinds_[place:])
    if all(kind in SILENT for kind in kinds_):
        # Nothing conclusive was said before: refused then, and still refused unless the new rung concludes.
        assert before.kind == VerdictKind.DENY
        assert after.kind == (VerdictKind.DENY if more in SILENT else more)
    else:
        assert fold_rank(after.kind) >= fold_rank(before.kind)


@given(some)
def test_the_order_of_rungs_changes_who_spoke_and_not_how_strict(kinds_: list[int]) -> None:
    # Two kinds may share the top rank (a deny, and a kind that nobody registered): then the earlier one speaks.
    outcomes = {fold_rank(folded(*order).kind) for order in permutations(kinds_)}
    assert len(outcomes) == 1
    if 4_000 not in kinds_:
        assert len({folded(*order).kind for order in permutations(kinds_)}) == 1


class Rewrites(Says):
    """A rung that rewrites what it is given, as ``rules`` say, and has no opinion otherwise."""

    def __init__(self, rules: dict[bytes, bytes], name: str = "rewrites", rank: int = 5) -> None:
        super().__init__(VerdictKind.DEFER, name, rank)
        self.rules = rules
        self.seen: list[tuple[bytes, int, str]] = []

    def adjudicate(self, call: ToolCall) -> Verdict:
        self.seen.append((call.args, call.seq, call.trace_id))
        new = self.rules.get(call.args)
        return self.verdict if new is None else Verdict(VerdictKind.TRANSFORM, ReasonCode.MISROUTE, self.name, new)


class RefusesArgs(Rewrites):
    def adjudicate(self, call: ToolCall) -> Verdict:
        refused = call.args in self.rules
        return Verdict(VerdictKind.DENY if refused else VerdictKind.ALLOW, ReasonCode.POLICY_BLOCK, self.name)


def test_what_a_rewrite_puts_in_place_is_judged_too() -> None:
    chain = folding.Chain([Rewrites({b"alias": b"bad"}), RefusesArgs({b"bad": b""}, "monitor", 100)])
    assert chain.fold(ToolCall("t", b"alias")).by == "monitor"
    assert chain.fold(ToolCall("t", b"bad")).by == "monitor"
    assert chain.fold(ToolCall("t", b"good")).kind == VerdictKind.ALLOW


def test_two_rewrites_of_one_call_are_both_carried_out_in_the_name_of_the_first() -> None:
    chain = folding.Chain([Rewrites({b"1": b"2"}, "first", 5), Rewrites({b"1": b"x", b"2": b"3"}, "second", 6)])
    verdict = chain.fold(ToolCall("t", b"1"))
    assert (verdict.kind, verdict.by, verdict.new_args) == (VerdictKind.TRANSFORM, "first", b"3")


def test_the_rewritten_call_is_judged_in_its_trace_and_uncounted() -> None:
    rung = Rewrites({b"1": b"2"})
    folding.Chain([rung]).fold(ToolCall("t", b"1", seq=7, trace_id="trace"))
    assert rung.seen == [(b"1", 7, "trace"), (b"2", 0, "trace")]


def test_a_rewrite_that_nobody_opposes_stands() -> None:
    assert folding.Chain([Rewrites({b"1": b"2"})]).fold(ToolCall("t", b"1")).new_args == b"2"


def test_rungs_that_never_agree_are_refused() -> None:
    chain = folding.Chain([Rewrites({b"1": b"2", b"2": b"1"})])
    verdict = chain.fold(ToolCall("t", b"1"))
    assert (verdict.kind, verdict.reason, verdict.by) == (VerdictKind.DENY, ReasonCode.DEFAULT_DENY, "restless")
