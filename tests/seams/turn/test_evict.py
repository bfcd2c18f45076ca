from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seams.turn.evict import RecurrentCacheError, evict
from tests.seams.turn.caches import MODEL, TWO_THETAS, HybridModel, contents, filled, stands_rotated_once

IDS = st.lists(st.integers(0, 47), max_size=16)
SOME = st.lists(st.integers(0, 47), min_size=1, max_size=16)


def test_two_of_seven_leave_and_the_rest_is_rotated_to_the_bit_by_each_layers_theta() -> None:
    cache = filled(range(1, 8), TWO_THETAS)
    raw, values = ([of(layer).copy() for layer in range(2)] for of in (cache.raw_keys, cache.values))
    assert evict(cache, 2, 2) == 2
    assert len(cache) == 5
    assert stands_rotated_once(cache)
    for layer in range(2):
        assert np.array_equal(cache.raw_keys(layer), np.delete(raw[layer], [2, 3], axis=1))
        assert np.array_equal(cache.values(layer), np.delete(values[layer], [2, 3], axis=1))


@pytest.mark.parametrize(
    ("start", "count"), [(0, 0), (3, -1), (-1, 2), (7, 1), (7, 0), (10**30, 1), (-(10**30), 10**30), (2, -(10**30))]
)
def test_a_span_that_is_empty_or_begins_outside_takes_nothing(start: int, count: int) -> None:
    cache = filled(range(7))
    before = contents(cache)
    assert evict(cache, start, count) == 0
    assert contents(cache) == before


def test_nothing_leaves_an_empty_cache() -> None:
    assert evict(filled([]), 0, 5) == 0


@pytest.mark.parametrize(("start", "count", "left"), [(5, 2, 2), (5, 3, 2), (5, 10**30, 2), (0, 7, 7), (0, 10**30, 7)])
def test_a_span_is_clamped_at_the_end(start: int, count: int, left: int) -> None:
    cache = filled(range(7))
    assert evict(cache, start, count) == left
    assert contents(cache) == contents(filled(range(7 - left)))


def test_evicting_the_tail_rotates_nothing(monkeypatch) -> None:
    cache = filled(range(12))
    rotated = []
    rotate = cache._rope.rotate
    monkeypatch.setattr(cache._rope, "rotate", lambda raw, *at: rotated.append(raw.shape[-2]) or rotate(raw, *at))
    evict(cache, 9, 3)
    evict(cache, 2, 3)
    evict(cache, 2, 0)
    assert rotated == [0, 4]


@settings(max_examples=60, deadline=None)
@given(prefix=IDS, span=SOME, then=SOME)
def test_a_tail_that_left_was_never_there(prefix, span, then) -> None:
    cache, never = filled([*prefix, *span]), filled(prefix)
    assert evict(cache, len(prefix), len(span)) == len(span)
    assert contents(cache) == contents(never)
    found, wanted = MODEL.prefill(then, cache), MODEL.prefill(then, never)
    assert found.logits.tobytes() == wanted.logits.tobytes()
    assert contents(cache) == contents(never)


@settings(max_examples=60, deadline=None)
@given(ids=SOME, spans=st.lists(st.tuples(st.integers(-2, 16), st.integers(-2, 6), IDS), max_size=6))
def test_any_evictions_and_prefills_leave_every_key_rotated_once(ids, spans) -> None:
    """However often a survivor was moved, its key is one rotation away from the raw one: none was composed."""
    cache = filled(ids, TWO_THETAS)
    places = list(range(len(ids)))
    raw = {place: cache.raw_keys(1)[:, place].copy() for place in places}
    for start, count, more in spans:
        inside = count > 0 and 0 <= start < len(places)
        left = len(places[start : start + count]) if inside else 0
        assert evict(cache, start, count) == left
        if inside:
            del places[start : start + count]
        for each in more:
            TWO_THETAS.decode(each, cache)
            place = len(raw)
            raw[place] = cache.raw_keys(1)[:, -1].copy()
            places.append(place)
    assert len(cache) == len(places)
    assert stands_rotated_once(cache)
    for at, place in enumerate(places):
        assert np.array_equal(cache.raw_keys(1)[:, at], raw[place])


@settings(max_examples=40, deadline=None)
@given(ids=st.lists(st.integers(0, 47), min_size=4, max_size=16), data=st.data())
def test_one_span_leaves_in_pieces_as_it_does_at_once(ids, data) -> None:
    start = data.draw(st.integers(0, len(ids) - 2))
    count = data.draw(st.integers(2, len(ids) - start))
    first = data.draw(st.integers(1, count - 1))
    at_once, in_pieces = filled(ids), filled(ids)
    assert evict(at_once, start, count) == evict(in_pieces, start, first) + evict(in_pieces, start, count - first)
    assert contents(at_once) == contents(in_pieces)


def test_rotating_a_rotated_key_on_would_not_be_the_same_to_the_bit() -> None:
    """Why the raw keys are kept: turned back by two positions, the rotated ones miss by the last bits."""
    cache = filled(range(40))
    old = cache.keys(0)[:, 4:].copy()
    evict(cache, 2, 2)
    angles = -2 * 10_000.0 ** (-2 * np.arange(4) / 8)
    a, b = old[..., :4], old[..., 4:]
    composed = np.concatenate(
        (a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)), axis=-1
    )
    np.testing.assert_allclose(composed, cache.keys(0)[:, 2:], atol=1e-12)
    assert not np.array_equal(composed, cache.keys(0)[:, 2:])


def test_a_middle_span_has_left_its_mark_on_what_came_behind() -> None:
    """The raw keys of the second layer come of states that had attended to the span; the first layer's do not."""
    cache, never = filled([1, 2, 3, 10, 11, 20, 21]), filled([1, 2, 3, 20, 21])
    evict(cache, 3, 2)
    assert np.array_equal(cache.keys(0), never.keys(0))
    assert not np.array_equal(cache.keys(1), never.keys(1))
    found, wanted = MODEL.decode(5, cache), MODEL.decode(5, never)
    assert not np.array_equal(found.logits, wanted.logits)


@pytest.mark.parametrize(("start", "count"), [(2, 2), (0, 0), (99, 1)])
def test_a_recurrent_cache_refuses_whatever_the_span(start: int, count: int) -> None:
    cache = filled(range(7), HybridModel())
    before = contents(cache)
    with pytest.raises(RecurrentCacheError, match=r"running state.*Run: python -m harness explain kv_evict_ns"):
        evict(cache, start, count)
    assert contents(cache) == before
