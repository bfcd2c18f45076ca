"""The probe of the fan-out: what is credited, what is timed, and clones that are none."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes._awaiting import at_once
from harness.probes.fleet._siblings import ids_of, witnessed
from harness.probes.fleet.fanout import PREFIX, RESERVE, SHOWN, SIBLINGS, SPAWNED_FROM, Probe
from kpis.formulas.fleet.fanout import prefix_tokens
from seams.fleet.fanout import Branch, PrefixFanout
from seams.runtimes.reference import make
from tests.harness.probes.syscall.traces import Offers


def saved(fanout: Any, part: str = "credited") -> Any:
    return Probe().open("prefix_tokens_saved", Offers(fanout), None, {"part": part})


def spawns(fanout: Any, n: int = 4) -> Any:
    return Probe().open("fanout_spawn_ns", Offers(fanout), None, {"n": str(n)})


def test_what_was_shown_is_credited_and_the_rest_refused() -> None:
    credited, refused = saved(PrefixFanout()), saved(PrefixFanout(), "refused")
    assert (credited.numerator, refused.numerator) == prefix_tokens(SIBLINGS, PREFIX, SHOWN)
    assert credited.evidence[0].startswith(f"{SHOWN} of {SHOWN} siblings went on, to the bit")
    assert "topo-w0016-l016" in credited.evidence[2]


class Odd(PrefixFanout):
    """Hands out what ``spoil`` makes of the siblings."""

    def __init__(self, spoil) -> None:
        super().__init__()
        self._spoil = spoil

    def spawn(self, prefix, siblings, reserve=0):
        return self._spoil(prefix, super().spawn(prefix, siblings, reserve))


def every_other_one_rounds(prefix: Branch, spawned: list[Branch]) -> list[Branch]:
    """Keeps every other clone in half the precision."""
    for each in spawned[1::2]:
        each.cache._keys[:] = each.cache._keys.astype(np.float32)
    return spawned


def the_prefix_itself(prefix: Branch, spawned: list[Branch]) -> list[Branch]:
    return [Branch(each.model, prefix.cache) for each in spawned]


def one_cache_for_all(prefix: Branch, spawned: list[Branch]) -> list[Branch]:
    return [Branch(each.model, spawned[0].cache) for each in spawned]


def fresh_ones(prefix: Branch, spawned: list[Branch]) -> list[Branch]:
    return [Branch(each.model, each.model.cache()) for each in spawned]


def a_row_short(prefix: Branch, spawned: list[Branch]) -> list[Branch]:
    for each in spawned:
        each.cache.delete(len(each.cache) - 1, len(each.cache))
    return spawned


def test_only_siblings_that_were_shown_count() -> None:
    tally = saved(Odd(every_other_one_rounds))
    assert tally.numerator == (SHOWN // 2 - 1) * PREFIX
    assert saved(Odd(every_other_one_rounds), "refused").numerator == (SIBLINGS - SHOWN // 2) * PREFIX
    assert tally.evidence[0].startswith("8 of 16 siblings")


@pytest.mark.parametrize(("spoil", "shown"), [(fresh_ones, 0), (a_row_short, 0), (the_prefix_itself, 0)])
def test_what_is_no_clone_is_credited_nothing(spoil, shown: int) -> None:
    assert at_once(witnessed(Odd(spoil), 3, 8, 2)) == shown
    assert saved(Odd(spoil)).numerator == 0


def test_siblings_that_share_a_cache_show_one() -> None:
    assert at_once(witnessed(Odd(one_cache_for_all), 3, 8, 2)) == 1
    assert saved(Odd(one_cache_for_all)).numerator == 0


def test_another_number_of_siblings_is_no_fan_out() -> None:
    for spoil in (lambda _, spawned: spawned[1:], lambda _, spawned: [spawned[0]] * len(spawned), lambda *_: []):
        with pytest.raises(WorkNotDoneError, match="were spawned"):
            saved(Odd(spoil))


@pytest.mark.parametrize("n", [4, 16])
def test_the_reference_spawns(n: int) -> None:
    sliced = Probe().open("fanout_spawn_ns", make(), None, {"n": str(n)})
    assert (sliced.engine, sliced.source) == ("none", "synthetic")
    for loops in (1, n - 1, n, 2 * n + 3, 70):
        result = sliced.batch(loops)()
        assert result[0] == loops
        assert len(result[1]) == (loops % n or n)
        sliced.check(result)
    row = 8 + 3 * 2 * 2 * 8 * 8  # a position, and a row of keys, raw keys and values in each layer and head
    assert sliced.work == {
        "siblings of a group": n,
        "positions copied": SPAWNED_FROM,
        "bytes copied": SPAWNED_FROM * row,
        "bytes that the sibling holds": (SPAWNED_FROM + RESERVE) * row,
    }


@pytest.mark.parametrize("spoil", [the_prefix_itself, one_cache_for_all, fresh_ones, a_row_short])
def test_a_slice_is_not_opened_on_what_is_no_clone(spoil) -> None:
    with pytest.raises(WorkNotDoneError):
        spawns(Odd(spoil))


@pytest.mark.parametrize("spoil", [the_prefix_itself, one_cache_for_all, fresh_ones, a_row_short])
def test_clones_that_stop_being_any_once_the_clock_runs(spoil) -> None:
    fanout = Odd(lambda _, spawned: spawned)
    sliced = spawns(fanout)
    fanout._spoil = spoil
    result = sliced.batch(8)()
    with pytest.raises(WorkNotDoneError):
        sliced.check(result)


def test_a_batch_of_fewer_is_found_out() -> None:
    fanout = Odd(lambda _, spawned: spawned)
    sliced = spawns(fanout)
    fanout._spoil = lambda _, spawned: spawned[:1]
    result = sliced.batch(8)()
    with pytest.raises(WorkNotDoneError, match="8 siblings were asked for"):
        sliced.check(result)


def test_an_asynchronous_fan_out_is_awaited() -> None:
    class SlowAgent(Branch):
        async def prefill(self, ids: Sequence[int]) -> Any:  # type: ignore[override]
            await asyncio.sleep(0)
            return super().prefill(ids)

    class SlowOne(PrefixFanout):
        def agent(self) -> SlowAgent:
            return SlowAgent(self.model, self.model.cache())

        async def spawn(self, prefix, siblings, reserve=0):  # type: ignore[override]
            await asyncio.sleep(0)
            return [SlowAgent(self.model, each.cache) for each in PrefixFanout.spawn(self, prefix, siblings, reserve)]

    async def measured() -> None:
        sliced = await spawns(SlowOne())
        batch = sliced.batch(6)
        assert asyncio.iscoroutinefunction(batch)
        sliced.check(await batch())
        assert (await saved(SlowOne())).numerator == (SHOWN - 1) * PREFIX

    asyncio.run(measured())


def test_it_is_not_offered() -> None:
    assert saved(None) == Undefined("not-offered", "The runtime own offers no fan-out off a prefix.")


def test_ids_of_siblings_differ() -> None:
    assert len({tuple(ids_of(8, stream)) for stream in range(SHOWN + 1)}) == SHOWN + 1


class Postponed(Branch):
    """Copies its prefix when somebody asks for its cache."""

    __slots__ = ("_found", "_of", "_room")

    def __init__(self, model, of, room) -> None:
        self.model = model
        self._of, self._room, self._found = of, room, None

    @property
    def cache(self):
        if self._found is None:
            self._found = self._of.clone(self._room)
        return self._found


class PutsOff(PrefixFanout):
    def spawn(self, prefix, siblings, reserve=0):
        return [Postponed(self.model, prefix.cache, reserve) for _ in range(siblings)]


def test_what_is_copied_when_it_is_asked_for_is_asked_for_while_the_clock_runs() -> None:
    sliced = spawns(PutsOff())
    _, group, _ = sliced.batch(8)()
    assert all(sibling._found is not None for sibling in group)


class View:
    """A cache that shows what another one holds."""

    def __init__(self, of) -> None:
        self._of = of

    def __getattr__(self, name):
        return getattr(self._of, name)

    def __len__(self):
        return len(self._of)


class Shares(PrefixFanout):
    """Real clones at first; then caches of their own that show the prefix's memory, or all that of one copy."""

    def __init__(self, *, one_copy: bool) -> None:
        super().__init__()
        self._one_copy = one_copy
        self.sharing = False

    def spawn(self, prefix, siblings, reserve=0):
        spawned = super().spawn(prefix, siblings, reserve)
        if self.sharing:
            of = spawned[0].cache if self._one_copy else prefix.cache
            for sibling in spawned:
                sibling.cache = View(of)
        return spawned


@pytest.mark.parametrize("one_copy", [True, False])
def test_caches_of_their_own_over_memory_that_is_not_are_found_out(one_copy: bool) -> None:
    fanout = Shares(one_copy=one_copy)
    sliced = spawns(fanout)
    sliced.check(sliced.batch(4)())
    fanout.sharing = True
    result = sliced.batch(4)()
    with pytest.raises(WorkNotDoneError, match="shares memory"):
        sliced.check(result)
