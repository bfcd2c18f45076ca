"""The content-addressed store: handles, the bound, pins, and what it refuses."""

from __future__ import annotations

import hashlib
import inspect
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.store import ContentStore, Ref, UnknownDigestError
from seams.syscall.resolver import INLINE, MAX_BYTES, HandleError, MemoryStore, PinError, offer


def body(index: int, size: int = 1000) -> bytes:
    return index.to_bytes(4, "big") * (size // 4)


def held(store: MemoryStore, ref: Ref) -> bool:
    try:
        store.resolve(ref)
    except UnknownDigestError:
        return False
    return True


def test_a_small_body_stays_inline_and_is_not_counted() -> None:
    store = MemoryStore()
    text = b"x" * INLINE
    ref = store.put(text)
    assert ref == (hashlib.sha256(text).hexdigest(), INLINE, text)
    assert store.resolve(ref) == text
    assert store.stats() == MemoryStore().stats(), "nothing was put and nothing read"
    with pytest.raises(UnknownDigestError):
        store.resolve(Ref(ref.digest, ref.size))


def test_a_larger_body_is_held_once() -> None:
    store = MemoryStore()
    text = b"x" * (INLINE + 1)
    first, second = store.put(text), store.put(bytes(bytearray(text)))
    assert first == second == (hashlib.sha256(text).hexdigest(), INLINE + 1, None)
    assert store.resolve(first) == text
    told = store.stats()
    assert (told.puts, told.hits, told.resolves, told.bodies, told.size) == (2, 1, 1, 1, INLINE + 1)


@pytest.mark.parametrize("text", [b"", b"\xff\xfe\x00", b"\x80" * 5000, b"[" * 1_000_000, bytes(1_000_000)])
def test_any_bytes_come_back_exactly(text: bytes) -> None:
    store = MemoryStore()
    ref = store.put(text)
    assert store.resolve(ref) == text
    assert store.page_in(store.page_out(ref)) == (ref.digest, len(text), text)


def test_pages_out_and_in() -> None:
    store = MemoryStore()
    ref = store.put(b"small")
    out = store.page_out(ref)
    assert out == (ref.digest, 5, None)
    assert store.resolve(out) == b"small"
    assert store.page_in(out) == ref
    assert store.page_out(out) == out
    told = store.stats()
    assert (told.puts, told.hits, told.bodies, told.size) == (1, 0, 1, 5)
    assert store.page_out(ref) == out
    assert (store.stats().puts, store.stats().hits) == (2, 1)


def test_a_bound_of_2500_with_bodies_of_1000() -> None:
    store = MemoryStore(2500)
    pinned = store.put(body(0))
    store.pin(pinned.digest)
    others = [store.put(body(index)) for index in range(1, 10)]
    assert [held(store, ref) for ref in (pinned, *others)] == [True, *[False] * 8, True]
    told = store.stats()
    assert (told.size, told.bodies, told.pinned, told.evictions) == (2000, 2, 1, 8)


def test_the_oldest_goes_first_and_reading_makes_nothing_younger() -> None:
    store = MemoryStore(3000)
    refs = [store.put(body(index)) for index in range(3)]
    store.resolve(refs[0])
    store.put(body(1))  # given out again, so it is the youngest
    refs.append(store.put(body(3)))
    refs.append(store.put(body(4)))
    assert [held(store, ref) for ref in refs] == [False, True, False, True, True]


def test_pins_are_counted_and_the_last_unpin_makes_a_body_the_youngest() -> None:
    store = MemoryStore(2000)
    first, second = store.put(body(0)), store.put(body(1))
    store.pin(first.digest)
    store.pin(first.digest)
    store.unpin(first.digest)
    store.put(body(0))  # pinned: a second put makes it no candidate
    third = store.put(body(2))
    assert [held(store, ref) for ref in (first, second, third)] == [True, False, True]
    store.unpin(first.digest)
    fourth = store.put(body(3))
    assert [held(store, ref) for ref in (first, third, fourth)] == [True, False, True]


def test_pins_may_exceed_the_bound_until_they_are_taken_back() -> None:
    store = MemoryStore(1500)
    refs = []
    for index in range(4):
        refs.append(store.put(body(index)))
        store.pin(refs[-1].digest)
    assert (store.stats().size, store.stats().pinned) == (4000, 4)
    for ref in refs:
        store.unpin(ref.digest)
    assert [held(store, ref) for ref in refs] == [False, False, False, True]
    assert (store.stats().size, store.stats().pinned) == (1000, 0)


def test_an_unpin_elsewhere_leaves_what_was_put_last() -> None:
    store = MemoryStore(1000)
    pinned = store.put(body(0))
    store.pin(pinned.digest)
    latest = store.put(body(1))
    store.unpin(pinned.digest)
    assert [held(store, ref) for ref in (pinned, latest)] == [False, True]


def test_what_was_put_last_can_be_read_and_pinned_whatever_the_bound() -> None:
    store = MemoryStore(10)
    huge = store.put(body(0, 1_000_000))
    assert held(store, huge)
    store.pin(huge.digest)
    store.put(body(1))
    assert held(store, huge)


def test_no_bound() -> None:
    store = MemoryStore(0)
    refs = [store.put(body(index)) for index in range(200)]
    assert all(held(store, ref) for ref in refs)
    assert MAX_BYTES == 1_073_741_824


@pytest.mark.parametrize("wrong", ["text", bytearray(300), memoryview(bytes(300)), None, 7])
def test_only_bytes_are_put(wrong: Any) -> None:
    with pytest.raises(TypeError, match=rf"bytes and not {type(wrong).__name__}; put bytes\(body\)"):
        MemoryStore().put(wrong)


@pytest.mark.parametrize("method", ["resolve", "page_out", "page_in"])
@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ("a" * 64, "not a str"),
        (("a" * 64, 3, None), "not a tuple"),
        (None, "not a NoneType"),
        (Ref("a" * 64, 3, bytearray(b"abc")), "not a Ref around a bytearray"),  # type: ignore[arg-type]
    ],
)
def test_only_handles_are_resolved(method: str, wrong: Any, told: str) -> None:
    with pytest.raises(TypeError, match=f"{told}; use what put returned"):
        getattr(MemoryStore(), method)(wrong)


@pytest.mark.parametrize("digest", ["0" * 64, "", "../../etc", 7, None, ["a"]])
def test_an_unknown_digest_is_one_sentence(digest: Any) -> None:
    store = MemoryStore()
    for method in ("resolve", "page_out", "page_in"):
        with pytest.raises(UnknownDigestError, match=r"^The store holds no body .*; put it again"):
            getattr(store, method)(Ref(digest, 0))
    for method in ("pin", "unpin"):
        with pytest.raises(LookupError, match="holds no body"):
            getattr(store, method)(digest)


def test_a_pin_that_is_not_there_cannot_be_taken_back() -> None:
    store = MemoryStore()
    ref = store.put(body(0))
    with pytest.raises(PinError, match="no pin left"):
        store.unpin(ref.digest)


def test_a_handle_cannot_plant_a_body_under_another_name() -> None:
    store = MemoryStore()
    real = store.put(body(0))
    with pytest.raises(HandleError, match="not that of the bytes"):
        store.page_out(Ref(real.digest, 6, b"forged"))
    assert store.resolve(real) == body(0)


def test_a_bound_below_zero() -> None:
    with pytest.raises(ValueError, match="0 is no bound"):
        MemoryStore(-1)


def test_it_is_offered_without_an_engine_and_fresh() -> None:
    first, second = offer("none"), offer("none")
    assert first is not None
    assert second is not None
    ref = first.put(body(0))
    assert not held(second, ref)
    assert [offer(engine) for engine in ("noop", "mock", "remote")] == [None, None, None]


def test_it_has_every_method_of_the_contract() -> None:
    for name, method in inspect.getmembers(ContentStore, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.signature(getattr(MemoryStore, name)) == inspect.signature(method)


@given(
    st.lists(st.tuples(st.sampled_from(("put", "pin", "unpin", "out")), st.integers(0, 6)), max_size=60),
    st.sampled_from((0, 1000, 2500, 5000)),
)
def test_the_bound_the_pins_and_the_books_hold(steps: list[tuple[str, int]], bound: int) -> None:
    store = MemoryStore(bound)
    texts = [body(index, 100 if index == 6 else 1000) for index in range(7)]
    digests = [hashlib.sha256(text).hexdigest() for text in texts]
    pins = [0] * 7
    latest = ""
    for what, index in steps:
        present = held(store, Ref(digests[index], 0))
        if what == "put":
            ref = store.put(texts[index])
            latest = ref.digest if ref.inline is None else latest
        elif what == "out":
            latest = store.page_out(Ref(digests[index], 0, texts[index])).digest
        elif what == "pin" and present:
            store.pin(digests[index])
            pins[index] += 1
        elif what == "unpin" and pins[index]:
            store.unpin(digests[index])
            pins[index] -= 1
        here = [index for index in range(7) if held(store, Ref(digests[index], 0))]
        assert all(store.resolve(Ref(digests[index], 0)) == texts[index] for index in here)
        assert all(index in here for index in range(7) if pins[index])
        assert not latest or digests.index(latest) in here
        told = store.stats()
        assert (told.bodies, told.size) == (len(here), sum(len(texts[index]) for index in here))
        assert told.pinned == sum(count > 0 for count in pins)
        loose = [len(texts[index]) for index in here if not pins[index] and digests[index] != latest]
        assert not bound or told.size <= bound or not loose


def test_many_go_at_once_the_oldest_first_and_at_one_step_each() -> None:
    store = MemoryStore(max_bytes=1_000_000)
    refs = [store.put(body(index, 1000)) for index in range(1000)]
    store.put(b"x" * 997_000)
    assert [held(store, ref) for ref in refs] == [False] * 997 + [True] * 3
    assert store.stats().evictions == 997
    # The first key of a plain dict is found by walking over every key that was deleted before it.
    assert isinstance(store._idle, OrderedDict)
