from __future__ import annotations

import asyncio

import numpy as np
import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.turn.kv import HEAD, SPAN, Probe, rotated, rows_of
from seams.contract.kv import Evicted
from seams.engines.rope import Rope
from seams.engines.tiny import TinyConfig, TinyModel
from seams.runtimes.reference import make
from seams.turn.kv import KvLedger, offer
from tests.harness.probes.turn.sessions import runtime

FEW = {"survivors": "16"}


def opened(context, params=FEW):
    return Probe().open("kv_evict_ns", runtime(context), None, params)


@pytest.mark.parametrize("survivors", [16, 256])
def test_the_reference_runtime_offers_it(survivors: int) -> None:
    assert Probe.kpis == {"kv_evict_ns"}
    sliced = Probe().open("kv_evict_ns", make(), None, {"survivors": str(survivors)})
    assert (sliced.engine, sliced.source, sliced.afresh) == ("none", "synthetic", True)
    for loops in (1, 3):
        result = sliced.batch(loops)()
        assert result == (SPAN, True)
        sliced.check(result)
        assert [len(each.cache) for each in sliced._clones] == [HEAD + survivors] * loops


def test_a_runtime_without_a_cache_is_undefined() -> None:
    found = opened(None)
    assert found == Undefined("not-offered", "The runtime stub offers no cache of keys and values.")


def test_each_layer_has_its_own_theta() -> None:
    sliced = opened(KvLedger(TinyModel(TinyConfig(thetas=(1e4, 1e6, 100.0)))))
    sliced.check(sliced.batch(2)())


def test_an_asynchronous_cache_is_awaited() -> None:
    class Slow(KvLedger):
        async def append(self, *given):
            await asyncio.sleep(0)
            return super().append(*given)

        async def quarantine(self, name):
            await asyncio.sleep(0)
            return KvLedger.quarantine(self, name)

        def clone(self):
            copy = Slow(self.model)
            copy.__dict__.update(super().clone().__dict__)
            return copy

    async def measured() -> None:
        sliced = await opened(Slow())
        batch = sliced.batch(3)
        assert asyncio.iscoroutinefunction(batch)
        sliced.check(await batch())

    asyncio.run(measured())


def test_the_probes_rotation_is_the_contracts() -> None:
    raw = np.random.default_rng(3).standard_normal((2, 2, 30, 8))
    thetas = (1e4, 1e6)
    assert np.array_equal(rotated(raw, thetas), Rope(8, thetas).rotate(raw, 0))


class Altered(KvLedger):
    """Evicts through ``alter``, which gets the ledger and says what to return."""

    def __init__(self, alter) -> None:
        super().__init__()
        self._alter = alter

    def quarantine(self, name):
        return self._alter(self, name)

    def clone(self):
        copy = Altered(self._alter)
        copy.__dict__.update(super().clone().__dict__)
        return copy


def honest(context: KvLedger, name: str) -> Evicted:
    return KvLedger.quarantine(context, name)


def nothing(context: KvLedger, name: str) -> Evicted:
    return Evicted(SPAN, ok=True)


def only_cut(context: KvLedger, name: str) -> Evicted:
    """Deletes the rows and leaves the survivors rotated for where they stood."""
    context.cache.delete(HEAD, HEAD + SPAN)
    return Evicted(SPAN, ok=True)


def renumbered(context: KvLedger, name: str) -> Evicted:
    """Says that the survivors have moved, and does not rotate them."""
    context.cache.delete(HEAD, HEAD + SPAN)
    context.cache._positions[HEAD:] = np.arange(HEAD, len(context.cache._positions))
    return Evicted(SPAN, ok=True)


def composed(context: KvLedger, name: str) -> Evicted:
    """Rotates the rotated keys back by the length of the span."""
    renumbered(context, name)
    keys = context.cache._keys[:, :, HEAD : len(context.cache)]
    angles = -SPAN * 10_000.0 ** (-2 * np.arange(4) / 8)
    a, b = keys[..., :4].copy(), keys[..., 4:].copy()
    keys[..., :4] = a * np.cos(angles) - b * np.sin(angles)
    keys[..., 4:] = b * np.cos(angles) + a * np.sin(angles)
    return Evicted(SPAN, ok=True)


def all_but_the_last(context: KvLedger, name: str) -> Evicted:
    """Rotates every survivor but one."""
    kept = context.cache._keys[:, :, len(context.cache) - 1].copy()
    evicted = honest(context, name)
    context.cache._keys[:, :, len(context.cache) - 1] = kept
    return evicted


def one_layer_only(context: KvLedger, name: str) -> Evicted:
    kept = context.cache._keys[1, :, SPAN + HEAD : len(context.cache)].copy()
    evicted = honest(context, name)
    context.cache._keys[1, :, HEAD : len(context.cache)] = kept
    return evicted


def by_a_bit(context: KvLedger, name: str) -> Evicted:
    evicted = honest(context, name)
    value = context.cache._values[1, 1, HEAD, 7]
    context.cache._values[1, 1, HEAD, 7] = np.nextafter(value, np.inf)
    return evicted


def the_tail(context: KvLedger, name: str) -> Evicted:
    """Takes the cheap end in place of the span."""
    context.cache.delete(len(context.cache) - SPAN, len(context.cache))
    return Evicted(SPAN, ok=True)


def everything(context: KvLedger, name: str) -> Evicted:
    context.cache.delete(HEAD, len(context.cache))
    return Evicted(SPAN, ok=True)


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (nothing, "holds 40 rows, not 24"),
        (everything, "holds 8 rows, not 24"),
        (only_cut, "positions are not"),
        (renumbered, "keys are not"),
        (composed, "keys are not"),
        (all_but_the_last, "keys are not"),
        (one_layer_only, "keys are not"),
        (the_tail, "are not"),
        (by_a_bit, "values are not"),
        (lambda context, name: honest(context, name)._replace(positions=SPAN - 1), "16 positions left"),
        (lambda context, name: honest(context, name)._replace(ok=False), "16 positions left"),
        (lambda context, name: None, "16 positions left"),
        (lambda context, name: "a secret", "16 positions left"),
    ],
)
def test_an_eviction_that_did_not_happen_is_work_not_done(alter, message: str) -> None:
    sliced = opened(Altered(alter))
    with pytest.raises(WorkNotDoneError, match=message) as caught:
        sliced.check(sliced.batch(1)())
    assert "secret" not in str(caught.value)


def test_every_eviction_of_a_batch_is_looked_at() -> None:
    ran = []

    def first_idle(context: KvLedger, name: str) -> Evicted:
        ran.append(name)
        return nothing(context, name) if len(ran) == 1 else honest(context, name)

    sliced = opened(Altered(first_idle))
    with pytest.raises(WorkNotDoneError, match="holds 40 rows"):
        sliced.check(sliced.batch(3)())
    assert ran == ["span"] * 3


class Cloned(KvLedger):
    """Clones through ``make``."""

    def __init__(self, make) -> None:
        super().__init__()
        self._make = make

    def clone(self):
        return self._make(self)


def shorter(context: KvLedger) -> KvLedger:
    """A clone that is evicted before the clock runs."""
    copy = KvLedger.clone(context)
    copy.quarantine("span")
    return copy


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (shorter, "before an eviction the cache holds 24 rows, not 40"),
        (lambda context: context, "before an eviction the cache holds 24 rows, not 40"),
        (lambda context: offer("none"), "before an eviction the cache holds 0 rows, not 40"),
    ],
)
def test_a_clone_that_is_none_is_work_not_done(make, message: str) -> None:
    sliced = opened(Cloned(make))
    with pytest.raises(WorkNotDoneError, match=message):
        for _ in range(2):
            sliced.check(sliced.batch(1)())


class Prefilled(KvLedger):
    """Appends, then breaks the cache."""

    def __init__(self, alter) -> None:
        super().__init__()
        self._alter = alter

    def append(self, name, tool, ids):
        passed = super().append(name, tool, ids)
        if name == "rest":
            self._alter(self.cache)
        return passed


def unrotated(cache) -> None:
    cache._keys[:] = cache._raw


def blank(cache) -> None:
    cache._raw[:] = 0
    cache.settle(0)


def of_32_bits(cache) -> None:
    cache._values = cache._values.astype(np.float32)


@pytest.mark.parametrize(
    ("alter", "message"),
    [
        (lambda cache: cache.delete(30, 40), "after the prefill the cache holds 30 rows, not 40"),
        (unrotated, "after the prefill the cache's keys are not"),
        (blank, "the same in its old place and in its new one"),
        (of_32_bits, "not of float64"),
    ],
)
def test_a_cache_that_is_not_what_was_prefilled_is_refused(alter, message: str) -> None:
    with pytest.raises(WorkNotDoneError, match=message):
        opened(Prefilled(alter))


class Told:
    """A cache of 4 rows that gives back whatever it is told to."""

    thetas = (1e4,)
    positions = np.arange(4)

    def __init__(self, rows) -> None:
        self.keys = self.raw_keys = self.values = lambda layer: rows

    def __len__(self) -> int:
        return 4


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.zeros((2, 3, 8)), "says that it holds 4 rows"),
        (np.zeros((4, 8)), "says that it holds 4 rows"),
        ([[1.0], [1.0, 2.0]], "no arrays of one shape"),
        (None, "says that it holds 4 rows"),
        (np.zeros((2, 4, 8), dtype=int), "not of float64"),
    ],
)
def test_rows_that_are_none_are_refused(rows, message: str) -> None:
    with pytest.raises(WorkNotDoneError, match=message):
        rows_of(Told(rows))
