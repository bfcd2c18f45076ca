"""The probe of the content store: that it is the work which is timed, and that a store which shirks is found out."""

from __future__ import annotations

import inspect
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.measure.timing import Loop, time_batch
from harness.probes.syscall.resolver import Probe, body_of
from kpis.registry import load
from seams.contract.store import Ref, StoreStats
from seams.runtimes.reference import Reference
from seams.syscall.resolver import INLINE, MemoryStore
from tests.harness.probes.syscall.traces import Offers

SIZES = ("256", "4096")


def opened(runtime: Any, size: str = "4096") -> Any:
    return Probe().open("resolver_put_get_ns", runtime, None, {"bytes": size})


@pytest.mark.parametrize("size", SIZES)
def test_puts_and_resolves_at_any_number_of_loops(size: str) -> None:
    measured = opened(Reference(), size)
    assert (measured.engine, measured.source) == ("none", "synthetic")
    for loops in (1, 2, 300):
        assert time_batch(measured, loops, Loop()).loops == loops


def test_the_points_are_those_of_the_catalog_on_both_sides_of_the_inline_size() -> None:
    assert load().get("resolver_put_get_ns").params["bytes"] == SIZES
    assert int(SIZES[0]) <= INLINE < int(SIZES[1])


def test_no_two_bodies_are_alike() -> None:
    bodies = [body_of(number, 4096) for number in (1, 2, 256, 65_536, 2**40)]
    assert len(set(bodies)) == 5
    assert {len(body) for body in bodies} == {4096}
    assert len(body_of(3, 3)) == 3


def test_one_store_for_every_batch_sees_new_bodies_in_each() -> None:
    store = MemoryStore()
    measured = opened(Offers(store))
    for loops in (4, 4, 7):
        time_batch(measured, loops, Loop())
    told = store.stats()
    assert (told.puts, told.hits, told.bodies) == (15, 0, 15)


def test_a_small_store_that_evicts_does_its_work_too() -> None:
    assert time_batch(opened(Offers(MemoryStore(10_000))), 50, Loop()).loops == 50


class Awaited:
    """A store whose methods are coroutine functions, each with its own leave to wait."""

    def __init__(self, inner: MemoryStore, *, stats: bool = False) -> None:
        self.inner = inner
        self.stats = self._stats if stats else inner.stats

    async def put(self, body: bytes) -> Ref:
        await pause()
        return self.inner.put(body)

    async def resolve(self, ref: Ref) -> bytes:
        await pause()
        return self.inner.resolve(ref)

    async def _stats(self) -> StoreStats:
        await pause()
        return self.inner.stats()


async def pause() -> None:
    import asyncio

    await asyncio.sleep(0)


@pytest.mark.parametrize("size", SIZES)
def test_a_store_may_be_awaited(size: str) -> None:
    loop, half = Loop(), Awaited(MemoryStore())
    half.put = half.inner.put  # type: ignore[assignment,method-assign]
    for store in (Awaited(MemoryStore()), half):
        measured = opened(Offers(store), size)
        assert inspect.iscoroutinefunction(measured.batch(1))
        assert time_batch(measured, 5, loop).loops == 5
    loop.close()


def test_books_that_wait_cannot_be_read_outside_the_clock() -> None:
    with pytest.raises(TypeError, match="make that method synchronous"):
        opened(Offers(Awaited(MemoryStore(), stats=True))).batch(1)


class Constant(MemoryStore):
    """Whatever is put, the same comes back."""

    __slots__ = ()

    def resolve(self, ref: Ref) -> bytes:
        super().resolve(ref)
        return bytes(ref.size)


class Names(MemoryStore):
    """A handle with a digest that costs nothing."""

    __slots__ = ()

    def put(self, body: bytes) -> Ref:
        return super().put(body)._replace(digest="0" * 64)


class Carries(MemoryStore):
    """A store that is switched off: everything travels inside its handle."""

    __slots__ = ()

    def put(self, body: bytes) -> Ref:
        return Ref(sha256(body).hexdigest(), len(body), body)


class Slot(MemoryStore):
    """It remembers the latest body, and counts as if it held all."""

    __slots__ = ("counted", "latest")

    def put(self, body: bytes) -> Ref:
        self.counted = getattr(self, "counted", 0) + 1
        self.latest = body
        return Ref(sha256(body).hexdigest(), len(body))

    def resolve(self, ref: Ref) -> bytes:
        return self.latest

    def stats(self) -> StoreStats:
        counted = getattr(self, "counted", 0)
        return StoreStats(puts=counted, resolves=counted)


class Skips(MemoryStore):
    """Every second put is left out of the store, and of its books."""

    __slots__ = ("turn",)

    def put(self, body: bytes) -> Ref:
        self.turn = not getattr(self, "turn", True)
        return super().put(body) if self.turn else Ref(sha256(body).hexdigest(), len(body))

    def resolve(self, ref: Ref) -> bytes:
        return super().resolve(ref) if self.turn else b""


class Remembers(MemoryStore):
    """It has seen every body before."""

    __slots__ = ()

    def stats(self) -> StoreStats:
        told = super().stats()
        return replace(told, hits=told.puts)


class Idle(MemoryStore):
    """A no-op."""

    __slots__ = ()

    def put(self, body: bytes) -> Any:
        return None

    def resolve(self, ref: Ref) -> Any:
        return None


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (Constant, "other bytes came back than the 4096"),
        (Names, "UnknownDigestError"),
        (Carries, "carries them itself"),
        (Slot, "does not hold a body of 4096 bytes under its digest"),
        (Skips, "6 were due in the store, which counts 3 puts"),
        (Remembers, "6 of them of bodies it held already"),
        (Idle, "the last handle is not the one of the 4096 bytes"),
    ],
)
def test_a_store_that_shirks_is_found_out(kind: type[MemoryStore], told: str) -> None:
    with pytest.raises((WorkNotDoneError, LookupError)) as found:
        time_batch(opened(Offers(kind())), 6, Loop())
    assert told in f"{type(found.value).__name__}: {found.value}"


def test_a_small_body_inside_its_handle_must_be_the_one_that_was_put() -> None:
    class Swaps(MemoryStore):
        def put(self, body: bytes) -> Ref:
            return super().put(body)._replace(inline=b"other")

        def resolve(self, ref: Ref) -> bytes:
            return body_of(6, 256)

    with pytest.raises(WorkNotDoneError, match="the last handle carries other bytes"):
        time_batch(opened(Offers(Swaps()), "256"), 6, Loop())
    assert time_batch(opened(Offers(Carries()), "256"), 6, Loop()).loops == 6


def test_a_store_may_hold_small_bodies_too() -> None:
    class Holds(MemoryStore):
        def put(self, body: bytes) -> Ref:
            return self.page_out(super().put(body))

    assert time_batch(opened(Offers(Holds()), "256"), 6, Loop()).loops == 6


def test_a_store_that_is_not_offered_or_once_only() -> None:
    assert opened(Offers(None)).reason == "not-offered"
    assert isinstance(opened(Offers(None)), Undefined)

    class Once(Offers):
        def offer(self, seam: str, engine: str) -> Any:
            what, self.what = self.what, None
            return what

    with pytest.raises(WorkNotDoneError, match="once only"):
        opened(Once(MemoryStore())).batch(1)
