"""Siblings off one prefix: to the bit what a full prefill makes, with memory of their own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.probes.turn.kv import rows_of
from seams.engines.tiny import TinyConfig, TinyModel
from seams.fleet.fanout import Branch, PrefixFanout, offer

SMALL = TinyModel(TinyConfig(hidden=8, heads=2, kv_heads=1, head_dim=4, ffn=8, vocab=16, thetas=(1e4,)))
IDS = st.lists(st.integers(0, 15), min_size=1, max_size=6)


def read(fanout: PrefixFanout, ids: list[int]) -> Branch:
    agent = fanout.agent()
    agent.prefill(ids)
    return agent


def alike(one: Branch, other: Branch) -> bool:
    pairs = zip(rows_of(one.cache), rows_of(other.cache), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


@given(IDS, st.lists(IDS, min_size=1, max_size=3), st.integers(0, 9))
@settings(max_examples=25)
def test_clone_then_suffix_is_a_full_prefill_to_the_bit(
    prefix: list[int], suffixes: list[list[int]], room: int
) -> None:
    fanout = PrefixFanout(SMALL)
    parent = read(fanout, prefix)
    siblings = fanout.spawn(parent, len(suffixes), room)
    said = [sibling.prefill(suffix) for sibling, suffix in zip(siblings, suffixes, strict=True)]
    for sibling, suffix, passed in zip(siblings, suffixes, said, strict=True):
        alone = fanout.agent()
        wanted = alone.prefill(prefix + suffix)
        assert alike(sibling, alone)
        assert np.array_equal(passed.logits, wanted.logits)
    assert alike(parent, read(fanout, prefix))


def test_no_two_share_memory_and_room_is_reserved() -> None:
    fanout = offer("none")
    parent = read(fanout, list(range(20)))
    one, two = fanout.spawn(parent, 2, reserve=12)
    caches = [agent.cache for agent in (parent, one, two)]
    for at, a in enumerate(caches):
        for b in caches[at + 1 :]:
            assert not any(np.shares_memory(a.keys(layer), b.keys(layer)) for layer in range(2))
    tight = fanout.spawn(parent, 1)[0]
    row = tight.nbytes // 20
    assert (tight.nbytes, one.nbytes) == (20 * row, 32 * row)
    one.prefill([1] * 12)
    assert one.nbytes == 32 * row  # no growth within what was reserved
    one.prefill([1])
    assert one.nbytes > 32 * row


def test_none_at_all_is_an_empty_list_and_an_empty_prefix_is_one() -> None:
    fanout = PrefixFanout(SMALL)
    assert fanout.spawn(fanout.agent(), 0) == []
    (only,) = fanout.spawn(fanout.agent(), 1)
    only.prefill([3])
    assert alike(only, read(fanout, [3]))


@pytest.mark.parametrize(("siblings", "reserve"), [(-1, 0), (1, -1)])
def test_numbers_below_zero(siblings: int, reserve: int) -> None:
    fanout = PrefixFanout(SMALL)
    with pytest.raises(ValueError, match="cannot be spawned"):
        fanout.spawn(fanout.agent(), siblings, reserve)


def test_a_branch_of_another_model_is_refused() -> None:
    with pytest.raises(TypeError, match="no branch of this fan-out"):
        PrefixFanout(SMALL).spawn(PrefixFanout().agent(), 1)
    with pytest.raises(TypeError, match="no branch of this fan-out"):
        PrefixFanout(SMALL).spawn("a prefix", 1)  # type: ignore[arg-type]
