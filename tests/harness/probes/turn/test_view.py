from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from harness.measure.clock import Tally, Undefined, WorkNotDoneError
from harness.probes._history import MESSAGES_A_TURN
from harness.probes.turn._outlook import tokens_of
from harness.probes.turn.view import Probe
from seams.contract.turn import Elided, ElisionReason, Message
from seams.runtimes.reference import make
from seams.turn.view import ContextView, offer
from tests.harness.probes.turn.sessions import runtime, session

PHASES = ["all", "forecast", "plan", "render"]


def spawn(phase: str, view: object, turns: int = 40, size: int = 1_000):
    return Probe().open("turn_spawn_ns", runtime(view), session(turns, size=size), {"phase": phase})


@pytest.mark.parametrize("phase", PHASES)
def test_every_phase_of_the_reference_view_does_its_work(phase: str) -> None:
    assert Probe.kpis == {"turn_spawn_ns", "context_view_compression"}
    sliced = Probe().open("turn_spawn_ns", make(), session(40, size=1_000), {"phase": phase})
    assert sliced.engine == "none"
    for loops in (1, 40, 41):
        sliced.check(sliced.batch(loops)())


def test_one_call_is_one_turn_at_the_length_that_the_history_had() -> None:
    lengths: list[int] = []

    class Noting(ContextView):
        def render_turn(self, messages):
            lengths.append(len(messages))
            return super().render_turn(messages)

    spawn("all", Noting(), turns=3).batch(6)()
    assert lengths == [4, 7, 10, 4, 7, 10]


def test_the_real_amount_of_text_is_rendered() -> None:
    given, rendered = spawn("all", offer("none"), turns=40).batch(40)()
    assert tokens_of(given[0]) == 4 + 120 * 250
    assert 4_096 - 250 < tokens_of(rendered) <= 4_096


@pytest.mark.parametrize("workload", [None, session(2, kind="calls")])
@pytest.mark.parametrize("kpi", ["turn_spawn_ns", "context_view_compression"])
def test_without_a_session_the_reading_is_undefined(kpi: str, workload) -> None:
    found = Probe().open(kpi, make(), workload, {"phase": "all"})
    assert isinstance(found, Undefined)
    assert found.reason == "workload-kind"


def test_a_runtime_without_view_is_undefined() -> None:
    assert spawn("all", None) == Undefined("not-offered", "The runtime stub offers no view.")


def test_a_view_that_is_off_is_found_out() -> None:
    sliced = spawn("all", ContextView(enabled=False))
    with pytest.raises(WorkNotDoneError, match="switched off"):
        sliced.check(sliced.batch(1)())


def swapped(plan):
    """The same plan with what was asked last on the other side."""
    asked = [each for each in plan.selected if each.role == "user"][-1]
    out = Elided(asked.id, asked.step, asked.role, "0", asked.cost, asked.benefit, ElisionReason.OVER_BUDGET)
    return replace(plan, selected=tuple(each for each in plan.selected if each != asked), elided=(*plan.elided, out))


@pytest.mark.parametrize("empty", [lambda *_: None, lambda *_: (), lambda *_: 4, lambda *_: []])
@pytest.mark.parametrize("phase", PHASES)
def test_an_empty_method_is_found_out(phase: str, empty) -> None:
    view = ContextView()
    setattr(view, "render_turn" if phase == "all" else phase, empty)
    with pytest.raises(WorkNotDoneError):
        (sliced := spawn(phase, view)).check(sliced.batch(40)())


class Altered(ContextView):
    """Works, then breaks what came of one method."""

    def __init__(self, method: str, alter) -> None:
        super().__init__()
        self._method, self._alter = method, alter

    def _through(self, method: str, came):
        return self._alter(came) if method == self._method else came

    def forecast(self, messages):
        return self._through("forecast", super().forecast(messages))

    def plan(self, messages, outlook):
        return self._through("plan", super().plan(messages, outlook))

    def render(self, messages, plan):
        return self._through("render", super().render(messages, plan))


@pytest.mark.parametrize(
    ("phase", "alter", "message"),
    [
        ("forecast", lambda outlook: outlook._replace(spans=outlook.spans[1:]), "spans do not have the sizes"),
        (
            "forecast",
            lambda outlook: outlook._replace(spans=tuple(each._replace(digest="") for each in outlook.spans)),
            "spans do not have the digests",
        ),
        ("plan", lambda plan: replace(plan, elided=plan.elided[1:]), "no partition"),
        ("plan", lambda plan: replace(plan, elided=(*plan.elided[1:], *plan.elided[1:2])), "no partition"),
        ("plan", lambda plan: replace(plan, elided=tuple(e._replace(step=999) for e in plan.elided)), "no partition"),
        (
            "plan",
            lambda plan: replace(plan, elided=tuple(e._replace(step=e.step + 99) for e in plan.elided)),
            "no part",
        ),
        ("plan", lambda plan: replace(plan, elided=tuple(e._replace(id="") for e in plan.elided)), "no partition"),
        ("plan", swapped, "last user message is not in the plan"),
        ("plan", lambda plan: replace(plan, selected=(), candidates=len(plan.elided)), "selects none"),
        ("plan", lambda plan: replace(plan, selected=(), elided=(), candidates=0), "selects none"),
        ("render", lambda _: [], "nothing of"),
        ("render", lambda rendered: rendered[::-1], "out of its order"),
        ("render", lambda rendered: [*rendered[:-1], Message("tool", "made up")], "not one of the history"),
        ("render", lambda rendered: rendered[:1], "last user message is not in the view"),
    ],
)
def test_broken_phases_are_work_not_done(phase: str, alter, message: str) -> None:
    with pytest.raises(WorkNotDoneError, match=message):
        (sliced := spawn(phase, Altered(phase, alter))).check(sliced.batch(40)())


class LastOnly(ContextView):
    """Renders what was asked last, and scores nothing else."""

    def forecast(self, messages):
        self.asked = max(step for step, each in enumerate(messages) if each.role == "user")
        return super().forecast(messages)

    def plan(self, messages, outlook):
        return super().plan(messages, outlook._replace(spans=outlook.spans[self.asked : self.asked + 1]))

    def render_turn(self, messages):
        return [next(each for each in reversed(messages) if each.role == "user")]


@pytest.mark.parametrize("phase", ["all", "plan", "render"])
@pytest.mark.parametrize("turns", [3, 40])
def test_a_view_that_holds_the_last_question_alone_is_found_out(phase: str, turns: int) -> None:
    with pytest.raises(WorkNotDoneError, match="more would fit"):
        (sliced := spawn(phase, LastOnly(), turns=turns)).check(sliced.batch(turns)())


@pytest.mark.parametrize("history", ["10", "100"])
def test_it_is_found_out_after_a_grown_history_too(history: str) -> None:
    class Whole:
        budget = 4_096
        render_turn = staticmethod(LastOnly().render_turn)

    sliced = Probe().open("turn_spawn_ns", runtime(Whole()), None, {"phase": "all", "history": history})
    with pytest.raises(WorkNotDoneError, match="more would fit"):
        sliced.check(sliced.batch(1)())


@pytest.mark.parametrize(("turns", "message"), [(40, "of which more would fit"), (4, "leaves out 10 texts")])
def test_a_view_that_holds_its_pins_alone_is_found_out(turns: int, message: str) -> None:
    class Pins(ContextView):
        def render_turn(self, messages):
            pins = {each.id for each in super().plan(messages, self.forecast(messages)).selected if each.pinned}
            return [each for step, each in enumerate(messages) if f"span:{step}" in pins]

    with pytest.raises(WorkNotDoneError, match=message):
        (sliced := spawn("all", Pins(), turns=turns)).check(sliced.batch(turns)())


def test_a_view_that_cannot_fill_half_of_its_budget_is_a_view() -> None:
    """Nothing but the pins fits: every other message is larger than the budget."""
    workload = session(6, size=1_000)
    for turn in workload.data["turns"]:
        for message in turn["messages"]:
            if message["role"] in ("assistant", "tool"):
                message["bytes"] = 20_000
    for phase in PHASES:
        sliced = Probe().open("turn_spawn_ns", make(), workload, {"phase": phase})
        sliced.check(sliced.batch(6)())


def test_a_rendering_that_drops_what_was_selected_is_found_out() -> None:
    def thinner(rendered):
        return [*rendered[:2], *rendered[3:]]

    with pytest.raises(WorkNotDoneError, match="not those of the 17 selected spans"):
        (sliced := spawn("render", Altered("render", thinner))).check(sliced.batch(40)())
    with pytest.raises(WorkNotDoneError, match="not those of the 17 selected spans"):
        compression(40, Altered("render", thinner))


def test_a_plan_over_part_of_the_history_is_no_compression() -> None:
    class Indexed(ContextView):
        def plan(self, messages, outlook):
            pinned = [span for span in outlook.spans[:-40] if span.id in outlook.forecast.pins]
            return super().plan(messages, outlook._replace(spans=(*pinned, *outlook.spans[-40:])))

    sliced = spawn("plan", Indexed())
    sliced.check(sliced.batch(40)())
    with pytest.raises(WorkNotDoneError, match="of 121 messages 42 are on one side"):
        compression(40, Indexed())


class Remembering(ContextView):
    """Looks up what it made of a history of this length before."""

    def __init__(self) -> None:
        super().__init__()
        self._made: dict = {}

    def _from_memory(self, method: str, messages, make):
        key = (method, len(messages))
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def forecast(self, messages):
        return self._from_memory("forecast", messages, lambda: super(Remembering, self).forecast(messages))

    def plan(self, messages, outlook):
        return self._from_memory("plan", messages, lambda: super(Remembering, self).plan(messages, outlook))

    def render(self, messages, plan):
        return list(self._from_memory("render", messages, lambda: super(Remembering, self).render(messages, plan)))

    def render_turn(self, messages):
        return list(self._from_memory("turn", messages, lambda: super(Remembering, self).render_turn(messages)))


@pytest.mark.parametrize("phase", PHASES)
def test_a_view_that_answers_from_memory_is_found_out(phase: str) -> None:
    sliced = spawn(phase, Remembering())
    with pytest.raises(WorkNotDoneError):
        for _ in range(2):
            sliced.check(sliced.batch(40)())


def test_a_grown_view_that_answers_from_memory_is_found_out() -> None:
    sliced = Probe().open("turn_spawn_ns", runtime(Remembering()), None, {"phase": "all", "history": "10"})
    with pytest.raises(WorkNotDoneError, match="not one of the history"):
        sliced.check(sliced.batch(2)())


def test_a_view_and_a_plan_beyond_the_budget_are_work_not_done() -> None:
    class Whole(ContextView):
        def plan(self, messages, outlook):
            return ContextView(budget=10**9).plan(messages, outlook)

    class Copying(ContextView):
        def render(self, messages, plan):
            return list(messages)

    for phase, view, message in [
        ("plan", Whole(), "the plan holds more than pins"),
        ("render", Copying(), "the view holds more than pins"),
        ("all", Copying(), "the view holds more than pins"),
    ]:
        with pytest.raises(WorkNotDoneError, match=message):
            (sliced := spawn(phase, view)).check(sliced.batch(40)())
    with pytest.raises(WorkNotDoneError, match="the plan holds more than pins"):
        spawn("render", Whole())


def test_costs_and_pins_are_not_taken_from_the_plan() -> None:
    """A plan of everything that calls it cheap, or calls it pinned, is beyond its budget all the same."""

    def cheap(plan):
        return replace(plan, selected=tuple(each._replace(cost=0) for each in plan.selected), cost_used=0)

    for lie in (cheap, lambda plan: replace(plan, pinned_tokens=10**9)):

        class Lying(ContextView):
            def plan(self, messages, outlook, lie=lie):
                return lie(ContextView(budget=10**9).plan(messages, outlook))

        with pytest.raises(WorkNotDoneError, match="within a budget of 4096"):
            spawn("plan", Lying())


def test_no_text_of_the_session_is_in_a_sentence() -> None:
    for phase in ("plan", "render"):
        for alter in (lambda came: came[:0] if isinstance(came, list) else replace(came, candidates=0), lambda _: "q"):
            with pytest.raises(WorkNotDoneError) as caught:
                (sliced := spawn(phase, Altered(phase, alter))).check(sliced.batch(40)())
            assert not {"question", "answer", "rows", "claims"}.intersection(str(caught.value).split())


def test_pins_may_exceed_the_budget() -> None:
    sliced = spawn("all", ContextView(budget=3))
    given, rendered = sliced.batch(40)()
    sliced.check((given, rendered))
    assert [each.role for each in rendered] == ["system", "user", "user"]


def compression(turns: int, view: object = None) -> Tally:
    workload = session(turns, size=1_000)
    found = Probe().open("context_view_compression", runtime(view or offer("none")), workload, {})
    assert isinstance(found, Tally)
    return found


def test_compression_is_stock_over_stock_at_the_last_turn() -> None:
    tally = compression(40)
    assert (tally.numerator, tally.basis) == (4 + 120 * 250, "count")
    assert tally.denominator is not None
    assert 4_096 - 250 < tally.denominator <= 4_096
    assert tally.evidence == (
        "of 121 messages 17 are resident, 104 elided with their handles",
        "closed forms, 40 turns of 751 tokens within 4096: 30040 to 4096 tokens at the last, "
        "615820 to 154625 over all of them",
    )


def test_a_short_session_is_not_compressed() -> None:
    tally = compression(3)
    assert tally.numerator == tally.denominator


def test_a_window_that_forgets_is_no_compression() -> None:
    with pytest.raises(WorkNotDoneError, match="104 elided spans cannot be recovered"):
        compression(40, Altered("plan", without_handles))


def without_handles(plan):
    return replace(plan, elided=tuple(each._replace(digest="") for each in plan.elided))


@pytest.mark.parametrize("method", ["forecast", "plan", "render"])
def test_an_empty_method_compresses_nothing(method: str) -> None:
    with pytest.raises(WorkNotDoneError, match="gave back nothing"):
        compression(40, Altered(method, lambda _: None))


def test_a_window_of_empty_texts_has_no_denominator() -> None:
    found = Probe().open("context_view_compression", make(), session_of_nothing(), {})
    assert isinstance(found, Undefined)
    assert found.reason == "no-denominator"


def session_of_nothing():
    workload = session(1)
    for message in workload.data["turns"][0]["messages"]:
        message["bytes"] = 0
    return workload


def test_an_asynchronous_view_is_timed_in_every_phase() -> None:
    class Asynchronous:
        budget = 4_096
        view = ContextView()

        async def forecast(self, messages):
            await asyncio.sleep(0)
            return self.view.forecast(messages)

        async def plan(self, messages, outlook):
            return self.view.plan(messages, outlook)

        async def render(self, messages, plan):
            return self.view.render(messages, plan)

        async def render_turn(self, messages):
            await asyncio.sleep(0)
            return self.view.render_turn(messages)

    async def drive() -> None:
        for phase in PHASES:
            sliced = await spawn(phase, Asynchronous(), turns=4)
            sliced.check(await sliced.batch(4)())
        tally = await Probe().open("context_view_compression", runtime(Asynchronous()), session(4), {})
        assert tally.denominator == tally.numerator

    asyncio.run(drive())


@pytest.mark.parametrize("turns", [10, 100])
def test_a_grown_history_is_spawned_whole_and_its_work_is_counted(turns: int) -> None:
    sliced = Probe().open("turn_spawn_ns", make(), None, {"phase": "all", "history": str(turns)})
    given, rendered = sliced.batch(1)()
    sliced.check((given, rendered))
    assert len(given[0]) == 1 + MESSAGES_A_TURN * turns
    assert sliced.source == "synthetic"
    assert sliced.work["messages lowered"] == sliced.work["spans scored"] == len(given[0])
    assert sliced.work["bytes digested"] == sum(len(each.content) for each in given[0])
    assert sliced.work["messages copied"] == len(rendered)
    assert turns < 100 or sliced.work["bytes digested"] > 500_000


def test_a_runtime_that_only_renders_whole_turns_grows_without_counts() -> None:
    class Whole:
        budget = 4_096
        render_turn = staticmethod(ContextView().render_turn)

    sliced = Probe().open("turn_spawn_ns", runtime(Whole()), None, {"phase": "all", "history": "10"})
    assert sliced.work is None
    sliced.check(sliced.batch(1)())


@pytest.mark.parametrize("length", ["", "0", "-1", "ten", "1e3", "1000000", "\u0661"])
def test_a_length_that_is_none_is_undefined(length: str) -> None:
    found = Probe().open("turn_spawn_ns", make(), None, {"phase": "all", "history": length})
    assert isinstance(found, Undefined)
