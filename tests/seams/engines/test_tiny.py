from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seams.engines.rope import Rope
from seams.engines.tiny import TinyConfig, TinyModel
from seams.engines.tiny_cache import KvCache

MODEL = TinyModel()
IDS = st.lists(st.integers(0, 47), min_size=1, max_size=24)


def same(one: KvCache, other: KvCache) -> bool:
    """Every bit of two caches, as far as they are filled."""
    return len(one) == len(other) and all(
        np.array_equal(getattr(one, kind)(layer), getattr(other, kind)(layer))
        for kind in ("keys", "raw_keys", "values")
        for layer in range(len(one.thetas))
    )


def test_the_sizes_are_those_of_the_smallest_useful_model() -> None:
    size = TinyConfig()
    assert (size.hidden, len(size.thetas), size.heads, size.kv_heads, size.head_dim) == (32, 2, 4, 2, 8)
    assert (size.ffn, size.vocab, size.eps, set(size.thetas)) == (64, 48, 1e-5, {10_000.0})


def test_what_a_pass_and_its_cache_hold() -> None:
    cache = MODEL.cache()
    found = MODEL.prefill([1, 2, 3], cache)
    assert found.logits.shape == (48,)
    assert np.isfinite(found.logits).all()
    assert found.attention.shape == (3,)
    assert found.attention.sum() == pytest.approx(1)
    assert (len(cache), cache.positions.tolist()) == (3, [0, 1, 2])
    assert cache.keys(1).shape == cache.raw_keys(1).shape == cache.values(1).shape == (2, 3, 8)


@settings(max_examples=40, deadline=None)
@given(ids=IDS, cuts=st.sets(st.integers(1, 23)))
def test_how_a_prompt_is_cut_changes_no_bit(ids, cuts) -> None:
    whole, pieces = MODEL.cache(), MODEL.cache()
    wanted = MODEL.prefill(ids, whole)
    edges = [0, *sorted(cut for cut in cuts if cut < len(ids)), len(ids)]
    for start, stop in pairwise(edges):
        found = MODEL.prefill(ids[start:stop], pieces)
    assert same(whole, pieces)
    assert found.logits.tobytes() == wanted.logits.tobytes()
    assert found.attention.tobytes() == wanted.attention.tobytes()


@settings(max_examples=20, deadline=None)
@given(ids=IDS, reserve=st.integers(0, 40), token=st.integers(0, 47))
def test_a_clone_goes_on_as_the_original_would_and_leaves_it_alone(ids, reserve, token) -> None:
    cache, before = MODEL.cache(), MODEL.cache()
    MODEL.prefill(ids, cache)
    MODEL.prefill(ids, before)
    clone = cache.clone(reserve)
    assert same(clone, cache)
    found = MODEL.decode(token, clone)
    assert same(cache, before)
    assert found.logits.tobytes() == MODEL.decode(token, cache).logits.tobytes()
    assert same(clone, cache)


def test_a_reserve_is_room_for_exactly_so_many_positions() -> None:
    cache = MODEL.cache()
    MODEL.prefill(range(20), cache)
    tight, wide = cache.clone(), cache.clone(reserve=5)
    a_position = 2 * 2 * 8 * 3 * 8 + 8  # layers, heads, numbers, kinds, bytes; and the position itself
    assert (tight.nbytes, wide.nbytes) == (20 * a_position, 25 * a_position)
    MODEL.prefill(range(5), wide)
    assert wide.nbytes == 25 * a_position
    MODEL.decode(0, wide)
    assert wide.nbytes > 25 * a_position


def test_every_token_before_counts_and_so_does_its_place() -> None:
    says = {
        tuple(ids): MODEL.prefill(ids, MODEL.cache()).logits.tobytes() for ids in ([1, 2, 3], [2, 1, 3], [9, 2, 3], [3])
    }
    assert len(set(says.values())) == 4


def test_the_weights_come_of_the_seed() -> None:
    says = [TinyModel(seed=seed).prefill([5, 6], TinyModel().cache()).logits.tobytes() for seed in (0, 0, 1)]
    assert says[0] == says[1] != says[2]


def test_each_layer_turns_by_its_own_theta() -> None:
    model = TinyModel(TinyConfig(thetas=(1e4, 1e6)))
    cache = model.cache()
    model.prefill(range(7), cache)
    for layer, theta in enumerate((1e4, 1e6)):
        wanted = Rope(8, (theta,)).rotate(cache.raw_keys(layer), 0, 0)
        assert np.array_equal(cache.keys(layer), wanted)


def test_attention_is_grouped_and_causal_as_a_plain_matrix_product_has_it() -> None:
    """The same model written down once more with matrices and a mask: close, as sums run in another order."""
    ids = [3, 1, 4, 1, 5, 9, 2, 6]
    size = MODEL.config
    state = MODEL._embedding[ids]
    n, kv = len(ids), size.kv_heads * size.head_dim

    def normed(rows):
        return rows / np.sqrt((rows * rows).mean(axis=-1, keepdims=True) + size.eps)

    for layer, weights in enumerate(MODEL._layers):
        q, k, v = np.split(normed(state) @ weights.qkv, (32, 32 + kv), axis=1)
        q, k = (MODEL.rope.rotate(part.reshape(n, -1, 8).transpose(1, 0, 2), 0, layer) for part in (q, k))
        v = v.reshape(n, -1, 8).transpose(1, 0, 2)
        k, v = (np.repeat(part, 2, axis=0) for part in (k, v))
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(8) + np.triu(np.full((n, n), -np.inf), 1)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        state = state + (shares @ v).transpose(1, 0, 2).reshape(n, -1) @ weights.out
        gate, up = np.split(normed(state) @ weights.gate_up, 2, axis=1)
        state = state + (gate / (1 + np.exp(-gate)) * up) @ weights.down
    wanted = normed(state[-1]) @ MODEL._embedding.T / np.sqrt(32)
    np.testing.assert_allclose(MODEL.prefill(ids, MODEL.cache()).logits, wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("ids", "message"), [([], "no id at all"), ([1, 48], "id 48"), ([-1], "id -1"), ([2, 10**30], "vocabulary")]
)
def test_what_cannot_be_prefilled_leaves_the_cache_as_it_was(ids, message) -> None:
    cache = MODEL.cache()
    MODEL.prefill([1], cache)
    with pytest.raises(ValueError, match=message):
        MODEL.prefill(ids, cache)
    assert len(cache) == 1


@pytest.mark.parametrize(
    ("sizes", "message"), [({"kv_heads": 3}, "evenly"), ({"ffn": 0}, "positive"), ({"thetas": ()}, "positive")]
)
def test_sizes_that_make_no_model_are_refused(sizes, message) -> None:
    with pytest.raises(ValueError, match=message):
        TinyConfig(**sizes)
