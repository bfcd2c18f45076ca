from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from harness.measure.clock import Tally, Undefined, WorkNotDoneError
from harness.probes.turn._faults import SPANS, MemoryStore, references, renewed, synthetic_store
from harness.probes.turn._marks import digest_of
from harness.probes.turn._outlook import token_cost
from harness.probes.turn.paging import Probe
from seams.contract.paging import Fault, FaultStatus
from seams.contract.turn import RefusalReason
from seams.runtimes.reference import make
from seams.turn.paging import DemandPager
from seams.turn.spans import make_span
from tests.harness.probes.turn.sessions import runtime, session


def timed(paging: object):
    return Probe().open("page_fault_latency_ns", runtime(paging), None, {})


def counted(paging: object, workload=None):
    return Probe().open("demand_page_miss_rate", runtime(paging), workload or session(40, size=1_000), {})


def test_the_reference_runtime_serves_faults() -> None:
    assert Probe.kpis == {"demand_page_miss_rate", "page_fault_latency_ns"}
    sliced = Probe().open("page_fault_latency_ns", make(), None, {})
    assert (sliced.engine, sliced.source) == ("none", "synthetic")
    asked = set()
    for loops in (1, 3, 500):
        given, (paged, fault) = sliced.batch(loops)()
        sliced.check((given, (paged, fault)))
        asked.add(fault.id)
        assert fault.status is FaultStatus.SERVED
        assert len(paged.rendered) == len(given[0].rendered) + 1
    assert len(asked) > 1


def test_the_synthetic_view_is_over_the_whole_store_and_leaves_most_of_it_out() -> None:
    outlook, store, budget = synthetic_store()
    view = DemandPager().view(outlook, store, budget)
    assert view.plan.candidates == SPANS == len(store.bodies)
    assert 30 < len(view.rendered) < 120
    assert {each.tokens for each in view.rendered} != {view.rendered[0].tokens}
    assert synthetic_store()[0] == outlook


# What refers to what


def spans_of(*lines: str) -> list:
    return [make_span(step, ("user", "assistant", "tool")[step % 3], line) for step, line in enumerate(lines)]


def test_a_new_span_refers_to_the_earlier_one_that_shares_most_words_with_it() -> None:
    spans = spans_of("claim 4711 of May", "claim 4711 of May is open", "weather", "open claim 4711", "4711 alone")
    assert list(references(spans, [3, 5])) == [(3, [1])]
    assert list(references(spans, [1, 3, 5])) == [(1, [0]), (3, [1])]


def test_of_equals_the_newest_is_meant_and_two_references_to_one_count_once() -> None:
    spans = spans_of("claim 4711", "claim 4711", "other words", "claim 4711 again", "the claim 4711")
    assert list(references(spans, [3, 5])) == [(3, [1])]


def test_one_word_is_no_reference_and_neither_is_a_shared_role_or_the_same_turn() -> None:
    spans = spans_of("claim 4711", "claim 4712", "user tool", "claim of it", "fresh words here", "fresh words here")
    assert list(references(spans, [3, 6])) == [(3, [])]
    assert list(references(spans, [6])) == []


# The rate


def test_the_rate_is_faults_over_references() -> None:
    found = counted(DemandPager())
    assert isinstance(found, Tally)
    # Each question shares "question ... about claims" with the one before it alone as the newest of equals, and each
    # answer and each row only one word.
    assert found.denominator == 39
    assert found.numerator == 0
    assert found.evidence == (
        "39 references over 40 turns at 4096 tokens: 0 served, 39 resident",
        "0 tokens were paged in again; (1 - p) b n, of 40 turns of 751 tokens at p = 1.0000, is 0",
    )


def going_back():
    """Thirty turns about other things, each of a view's size, and then one that goes back to the first."""
    workload = session(30, size=4_000)
    words = [f"{chr(97 + turn % 26) * 4}{turn}" for turn in range(30)]
    for turn, recorded in enumerate(workload.data["turns"]):
        for message, kind in zip(recorded["messages"][-3:], ("asked", "told", "read"), strict=True):
            message["head"] = f"{kind}{turn} {words[turn]} {kind}{turn}more"
    workload.data["turns"][-1]["messages"][-1]["head"] = "read0 aaaa0 read0more"
    return workload


def test_going_back_to_what_the_view_left_out_is_a_fault() -> None:
    found = counted(DemandPager(), going_back())
    assert (found.numerator, found.denominator, found.excluded) == (1, 1, 0)


class Altered(DemandPager):
    """Pages, then breaks what came of a demand."""

    def __init__(self, alter) -> None:
        self._alter = alter

    def demand_page(self, view, span_id, store):
        return self._alter(view, *super().demand_page(view, span_id, store))


def refusing(view, paged, fault):
    return view, fault._replace(status=FaultStatus.REFUSED, reason=RefusalReason.PAGE_IN, tokens=0)


def test_tokens_that_came_back_stand_beside_the_closed_form() -> None:
    workload = going_back()
    workload.data["turns"][-1]["messages"][0]["head"] = "asked28 cccc28 asked28more"
    found = counted(DemandPager(), workload)
    assert (found.numerator, found.denominator, found.excluded) == (1, 2, 0)
    assert found.evidence[1].startswith("1000 tokens were paged in again; (1 - p) b n, of 30 turns of 3001 tokens")
    assert found.evidence[1].endswith("at p = 0.5000, is 45015")


def test_a_pager_that_refuses_what_the_store_gives_out_is_found_out() -> None:
    def refuses(view, paged, fault):
        return refusing(view, paged, fault) if fault.status is FaultStatus.SERVED else (paged, fault)

    for alter in (refusing, refuses):
        with pytest.raises(WorkNotDoneError, match="refuses nothing"):
            counted(Altered(alter), going_back())
        with pytest.raises(WorkNotDoneError, match="refuses nothing"):
            timed(Altered(alter))


def test_without_a_reference_there_is_nothing_to_divide_by() -> None:
    found = counted(DemandPager(), session(1))
    assert found == Undefined("no-denominator", "No message of the 1 turns refers to an earlier turn.")


@pytest.mark.parametrize("workload", [None, session(2, kind="calls")])
def test_without_a_session_the_rate_is_undefined(workload) -> None:
    found = Probe().open("demand_page_miss_rate", make(), workload, {})
    assert isinstance(found, Undefined)
    assert found.reason == "workload-kind"


@pytest.mark.parametrize("kpi", ["demand_page_miss_rate", "page_fault_latency_ns"])
def test_a_runtime_without_paging_is_undefined(kpi: str) -> None:
    found = Probe().open(kpi, runtime(None), session(4), {})
    assert found == Undefined("not-offered", "The runtime stub offers no demand paging.")


# What is found out


def unspliced(view, paged, fault):
    return view, fault


def at_the_end(view, paged, fault):
    back = [each for each in paged.rendered if each.id == fault.id]
    return paged._replace(rendered=(*view.rendered[1:], *back, view.rendered[0])), fault


def with_rendered(change):
    def alter(view, paged, fault):
        return paged._replace(rendered=tuple(change(each, fault) for each in paged.rendered)), fault

    return alter


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (unspliced, "not in the view, once"),
        (at_the_end, "does not stand in its place"),
        (lambda view, paged, fault: (paged, fault._replace(tokens=1)), "was served as one of 1"),
        (lambda view, paged, fault: (paged, fault._replace(id="span:1")), "misnamed"),
        (lambda view, paged, fault: (view, fault._replace(status=FaultStatus.RESIDENT)), "misnamed"),
        (lambda view, paged, fault: (view, fault._replace(status=FaultStatus.ABSENT)), "misnamed"),
        (lambda view, paged, fault: (paged, fault._replace(status=FaultStatus.REFUSED)), "refuses nothing"),
        (
            with_rendered(lambda each, fault: each._replace(body="a secret") if each.id == fault.id else each),
            "once and",
        ),
        (with_rendered(lambda each, fault: each if each.id == fault.id else each._replace(body="a secret")), "between"),
        (lambda view, paged, fault: (paged._replace(plan=view.plan), fault), "was not moved"),
        (lambda view, paged, fault: (paged._replace(witness=view.witness), fault), "the witness does not count"),
        (lambda view, paged, fault: (None, fault), "gave back a tuple"),
        (lambda *_: None, "gave back nothing"),
        (lambda *_: 4, "gave back a int"),
    ],
)
def test_a_broken_demand_is_work_not_done(alter, message: str) -> None:
    with pytest.raises(WorkNotDoneError, match=message) as caught:
        timed(Altered(alter))
    assert "secret" not in str(caught.value)
    with pytest.raises(WorkNotDoneError, match=message):
        counted(Altered(alter), going_back())


def test_a_demand_that_breaks_only_while_it_is_timed_is_found_by_the_check() -> None:
    class Tiring(DemandPager):
        asked = 0

        def demand_page(self, view, span_id, store):
            self.asked += 1
            paged, fault = super().demand_page(view, span_id, store)
            return refusing(view, paged, fault) if self.asked > SPANS else (paged, fault)

    sliced = timed(Tiring())
    with pytest.raises(WorkNotDoneError, match="refuses nothing"):
        sliced.check(sliced.batch(SPANS)())


def test_a_pager_that_writes_into_the_view_it_was_given_is_found_out() -> None:
    class Writing(DemandPager):
        def view(self, outlook, store, budget):
            made = super().view(outlook, store, budget)
            return made._replace(rendered=list(made.rendered))

        def demand_page(self, view, span_id, store):
            given = view._replace(rendered=tuple(view.rendered))
            paged, fault = super().demand_page(given, span_id, store)
            view.rendered.append(paged.rendered[0])
            return paged._replace(rendered=list(paged.rendered)), fault

    with pytest.raises(WorkNotDoneError):
        timed(Writing())


class Viewing(DemandPager):
    """Plans, then breaks the view."""

    def __init__(self, alter) -> None:
        self._alter = alter

    def view(self, outlook, store, budget):
        return self._alter(super().view(outlook, store, budget), outlook, store)


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (lambda view, *_: view._replace(rendered=view.rendered[::-1]), "in their order"),
        (lambda view, *_: view._replace(rendered=(*view.rendered, view.rendered[-1])), "in their order"),
        (
            lambda view, *_: view._replace(rendered=tuple(each._replace(body="a secret") for each in view.rendered)),
            "not that of its span",
        ),
        (lambda view, *_: view._replace(plan=replace(view.plan, elided=())), "no partition"),
        (lambda view, outlook, store: DemandPager().view(outlook, store, 10**9), "holds more than pins"),
        (lambda *_: None, "gave back nothing"),
    ],
)
def test_a_broken_view_is_work_not_done(alter, message: str) -> None:
    with pytest.raises(WorkNotDoneError, match=message) as caught:
        timed(Viewing(alter))
    assert "secret" not in str(caught.value)


def test_a_view_that_holds_next_to_nothing_is_not_timed() -> None:
    thin = Viewing(lambda view, outlook, store: DemandPager().view(outlook, store, 30))
    with pytest.raises(WorkNotDoneError, match=f"the view of {SPANS} spans holds"):
        timed(thin)


def test_a_pager_that_changes_the_view_for_what_is_there_already_is_found_out() -> None:
    def shortened(view, paged, fault):
        return paged._replace(rendered=paged.rendered[1:]), fault

    with pytest.raises(WorkNotDoneError, match="was resident, and the view changed"):
        counted(Altered(shortened))


def test_a_pager_that_answers_from_memory_is_found_out() -> None:
    class Remembering(DemandPager):
        def __init__(self) -> None:
            self.made: dict = {}

        def demand_page(self, view, span_id, store):
            if span_id not in self.made:
                self.made[span_id] = super().demand_page(view, span_id, store)
            return self.made[span_id]

    sliced = timed(Remembering())
    with pytest.raises(WorkNotDoneError, match="once and with its whole text"):
        sliced.check(sliced.batch(1)())


def test_a_renewed_demand_is_like_the_one_before() -> None:
    outlook, store, budget = synthetic_store()
    view = DemandPager().view(outlook, store, budget)
    out = next(each.id for each in view.plan.elided)
    seen = set()
    for number in (1, 2, 999_999):
        again, span_id, own = renewed((view, out, store), number)
        text = own.bodies[out]
        seen.add(text)
        assert (span_id, len(text), again.rendered) == (out, len(store.bodies[out]), view.rendered)
        handle = next(each.digest for each in again.plan.elided if each.id == out)
        assert handle == own.spans[out].digest == digest_of(text) != store.spans[out].digest
    assert len(seen) == 3


def test_the_store_is_in_memory_and_refuses_what_it_has_not() -> None:
    outlook, store, _ = synthetic_store()
    assert store.span("span:7") == outlook.spans[7]
    assert store.span("span:999") is None
    selected = DemandPager().view(outlook, store, 10**9).plan.selected[7]
    assert token_cost(len(store.page_in(selected))) == selected.cost
    assert MemoryStore([], []).page_in(selected) is RefusalReason.PAGE_IN


class Asynchronous:
    """The reference pager behind coroutine functions."""

    async def view(self, *given):
        await asyncio.sleep(0)
        return DemandPager().view(*given)

    async def demand_page(self, *given) -> tuple[object, Fault]:
        await asyncio.sleep(0)
        return DemandPager().demand_page(*given)


def test_an_asynchronous_pager_is_timed_and_counted() -> None:
    async def drive() -> None:
        sliced = await timed(Asynchronous())
        sliced.check(await sliced.batch(4)())
        assert (await counted(Asynchronous(), going_back())).numerator == 1

    asyncio.run(drive())
