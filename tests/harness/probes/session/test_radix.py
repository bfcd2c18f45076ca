from __future__ import annotations

import asyncio

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.session._budgeted import Watch
from harness.probes.session.radix import Probe
from seams.contract.radix import Match
from seams.runtimes.reference import make
from seams.session.radix import RadixCache
from tests.harness.probes.turn.sessions import runtime


class Store:
    """Makes caches of one kind."""

    def __init__(self, kind) -> None:
        self._kind = kind

    def cache(self, max_tokens=0):
        return self._kind(max_tokens)


def opened(kind=None, order="fcfs"):
    return Probe().open("cache_hit_rate", make() if kind is None else runtime(Store(kind)), None, {"order": order})


@pytest.mark.parametrize(
    ("order", "reused", "own", "evicted"), [("fcfs", 3952, 240, 29), ("cache_aware", 5512, 1800, 19)]
)
def test_agents_under_a_budget_of_408(order, reused, own, evicted) -> None:
    found = opened(order=order)
    assert (found.numerator, found.denominator, found.basis, found.source) == (reused, 6360, "count", "synthetic")
    assert found.reasons == {"system_prompt": 3712, "own_history": own}
    text = " ".join(found.evidence)
    for said in (
        "budget 408",
        "without a budget 5512 reused (0.8667)",
        f"{evicted} evictions, 1 splits",
        "3712 reused",
    ):
        assert said in text
    assert found == opened(order=order)


def test_a_runtime_without_a_cache_is_undefined() -> None:
    found = Probe().open("cache_hit_rate", runtime(None), None, {"order": "fcfs"})
    assert found == Undefined("not-offered", "The runtime stub offers no prefix cache.")


def test_another_policy_is_another_rate_and_no_fault() -> None:
    class NewestFirst(RadixCache):
        """Evicts what was used last, which another runtime may think wise."""

        def _note_idle(self, node):
            super()._note_idle(node)
            self._idle.sort(key=lambda note: -note[0])

        def _make_room(self):
            while self.max_tokens and self.tokens > self.max_tokens and self._idle:
                self._idle.sort(key=lambda note: -note[0])
                used, _, leaf = self._idle.pop(0)
                if not (leaf.gone or used != leaf.last_used or leaf.refs or leaf.children):
                    self._drop(leaf)
                    self.evictions += 1

    assert opened(NewestFirst).numerator != 3952


class Never(RadixCache):
    """Holds nothing."""

    def match_len(self, tokens):
        return 0

    def lookup(self, tokens):
        return Match(super().lookup(tokens).at, 0)


class Always(RadixCache):
    """Says that it has everything."""

    def match_len(self, tokens):
        return len(tokens)

    def lookup(self, tokens):
        return Match(super().lookup(tokens).at, len(tokens))


class Unbounded(RadixCache):
    """Does not keep to its budget."""

    def __init__(self, max_tokens=0) -> None:
        super().__init__(0)


class Boastful(RadixCache):
    """Says more where it is looked up than where it is asked."""

    def lookup(self, tokens):
        at, matched = super().lookup(tokens)
        return Match(at, min(matched + 1, len(tokens)))


class Hides(RadixCache):
    """Has no budget; after a request it shows that one, and hides the others until it is asked about a stranger."""

    def __init__(self, max_tokens=0) -> None:
        super().__init__(0)
        self._bounded = bool(max_tokens)
        self._shows = "all"

    def match_len(self, tokens):
        if tokens[0] == 0xFFFF:
            self._shows = "all"
            return 0
        if self._bounded and self._shows == "none":
            return 0
        self._shows = "none" if self._shows == "one" else self._shows
        return super().match_len(tokens)

    def done(self, at):
        super().done(at)
        self._shows = "one"


class ShowsWhatComes(RadixCache):
    """Has no budget; of what came in full it says nothing but of the newest, of what is to come all."""

    def __init__(self, max_tokens=0) -> None:
        super().__init__(0)
        self._bounded = bool(max_tokens)
        self._came = []

    def match_len(self, tokens):
        return 0 if self._bounded and tuple(tokens) in self._came[:-1] else super().match_len(tokens)

    def insert(self, at, suffix):
        end = super().insert(at, suffix)
        if self._bounded:
            self._came.append(self._whole)
        return end

    def lookup(self, tokens):
        self._whole = tuple(tokens)
        return super().lookup(tokens)


class Leaky(RadixCache):
    def done(self, at):
        """Keeps the lease."""


@pytest.mark.parametrize("kind", [Never, Always, Unbounded, Boastful, Hides, ShowsWhatComes, Leaky])
@pytest.mark.parametrize("order", ["fcfs", "cache_aware"])
def test_a_cache_that_does_not_do_its_work_is_found_out(kind, order) -> None:
    with pytest.raises(WorkNotDoneError):
        opened(kind, order)


def test_an_asynchronous_cache_is_awaited() -> None:
    class Slow(RadixCache):
        async def lookup(self, tokens):
            await asyncio.sleep(0)
            return super().lookup(tokens)

    async def rated():
        return await opened(Slow)

    assert asyncio.run(rated()).numerator == 3952


class Says:
    """Answers as it is told to."""

    def __init__(self) -> None:
        self.held = {}

    def match_len(self, tokens):
        return self.held.get(tuple(tokens), 0)


A, A2, B = (1, 2, 3, 4), (1, 2, 3, 4, 5, 6), (1, 2, 7, 8)


def look(watch, *given):
    return asyncio.run(watch.look(*given))


def test_what_a_budget_could_hold_is_taken() -> None:
    said = Says()
    watch = Watch(said, 6)
    assert look(watch, [A]) == {A: 0}
    said.held = {A: 4}
    assert look(watch, [A], A) == {A: 4}
    said.held = {A: 4, B: 2}
    assert look(watch, [A, B]) == {A: 4, B: 2}
    said.held = {A: 2, B: 4}
    assert look(watch, [A, B], B) == {A: 2, B: 4}
    said.held = {A: 2, B: 2, A2: 2}
    assert look(watch, [A, B, A2]) == {A: 2, B: 2, A2: 2}


@pytest.mark.parametrize(
    ("held", "said"),
    [
        ({A: 4, A2: 4, B: 4}, "it holds 6 tokens, of 5"),
        ({A: 4, A2: 4, B: 0}, "of 2 tokens that two requests begin with"),
        ({A: 2, A2: 5, B: 2}, "of 4 tokens that two requests begin with"),
        ({(0xFFFF, *A2): 1}, "1 tokens of a prompt that never came"),
        ({A: 5}, "than it has"),
        ({A: -1}, "than it has"),
    ],
)
def test_answers_that_no_tree_under_the_budget_gives_are_found_out(held, said) -> None:
    stub = Says()
    stub.held = held
    with pytest.raises(WorkNotDoneError, match=said):
        look(Watch(stub, 5), [A, B, A2])


def test_what_was_gone_comes_back_only_with_what_is_put_there() -> None:
    said = Says()
    watch = Watch(said, 6)
    said.held = {A: 4, B: 2}
    look(watch, [A, B])
    said.held = {A: 2, B: 2}
    look(watch, [A, B])
    said.held = {A: 2, B: 4}
    look(watch, [A, B], B)
    said.held = {A: 4, B: 2}
    with pytest.raises(WorkNotDoneError, match="4 tokens of a request are said to be cached, of which 2 can be"):
        look(watch, [A, B], B)
