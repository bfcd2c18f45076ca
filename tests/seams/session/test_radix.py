from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.session.radix import budget_of, distinct_tokens, most_reused
from kpis.formulas.session.token_ids import agents, few_shot, ids
from seams.session.radix import LeaseError, RadixCache, RadixStore, StaleLeaseError, offer

REQUESTS = st.lists(st.lists(st.integers(0, 2), max_size=7), max_size=12)


def put(cache: RadixCache, request) -> int:
    """Look up, insert what is missing, give the lease back; how many tokens were there."""
    at, matched = cache.lookup(request)
    cache.done(cache.insert(at, request[matched:]))
    return matched


def served(requests, budget: int = 0) -> tuple[int, RadixCache]:
    cache = RadixCache(budget)
    return sum(put(cache, each) for each in requests), cache


@pytest.mark.parametrize(
    ("requests", "reused", "tokens", "first_come", "evicted", "sorted_evicted"),
    [(few_shot(), 3840, 4352, 3840, 7, 7), (agents(), 5512, 6360, 3952, 29, 19)],
    ids=["few-shot", "agents"],
)
def test_the_known_workloads(requests, reused, tokens, first_come, evicted, sorted_evicted) -> None:
    assert sum(map(len, requests)) == tokens
    free, unbounded = served(requests)
    assert (free, unbounded.splits, unbounded.evictions) == (reused, 1, 0)
    budget = budget_of(requests)
    assert budget == 408
    came, bounded = served(requests, budget)
    assert (came, bounded.evictions) == (first_come, evicted)
    ordered, aware = served(sorted(requests), budget)
    assert (ordered, aware.evictions) == (reused, sorted_evicted)


@pytest.mark.parametrize(("budget", "reused", "evicted"), [(272, 3760, 29), (340, 3808, 29), (408, 3952, 29)])
def test_agents_under_tighter_budgets(budget, reused, evicted) -> None:
    came, cache = served(agents(), budget)
    assert (came, cache.evictions) == (reused, evicted)
    assert served(sorted(agents()), budget)[0] == 5512


@pytest.mark.parametrize("vocab", [49_152, 151_936])
def test_the_vocabulary_changes_nothing(vocab: int) -> None:
    came, cache = served(agents(vocab=vocab), 408)
    assert (came, cache.evictions, cache.splits) == (3952, 29, 1)


def test_five_questions_behind_a_preamble() -> None:
    requests = few_shot(64, 8, 5)
    reused, cache = served(requests)
    assert (reused, sum(map(len, requests)), cache.splits) == (256, 360, 1)


def test_three_requests_share_three_tokens() -> None:
    assert served([[1, 2, 3, 10], [1, 2, 3, 11], [1, 2, 3, 12]])[0] == 6


def test_the_oldest_leaves_and_a_leased_one_does_not() -> None:
    first, second, third = ([base + each for each in range(10)] for base in (100, 200, 300))
    _, cache = served([first, second, third], 20)
    assert (cache.evictions, cache.tokens) == (1, 20)
    assert [cache.match_len(each) for each in (first, second, third)] == [0, 10, 10]

    held = RadixCache(20)
    at, _ = held.lookup(first)
    lease = held.insert(at, first)
    put(held, second)
    put(held, third)
    assert (held.evictions, held.tokens, held.stats().leases) == (1, 20, 1)
    assert [held.match_len(each) for each in (first, second, third)] == [10, 0, 10]
    held.done(lease)
    put(held, second)
    assert held.match_len(first) == 0


def test_what_is_leased_may_stay_over_the_budget() -> None:
    cache = RadixCache(5)
    at, _ = cache.lookup([1] * 8)
    end = cache.insert(at, [1] * 8)
    assert (cache.tokens, cache.evictions) == (8, 0)
    cache.done(end)
    put(cache, [2])
    assert (cache.match_len([1] * 8), cache.tokens) == (0, 1)


def test_a_lease_that_is_not_given_back_shows() -> None:
    cache = RadixCache()
    put(cache, [1, 2, 3])
    place, _ = cache.lookup([1, 2])
    assert cache.stats().leases == 1
    cache.done(place)
    assert cache.stats().leases == 0


def test_a_lease_is_given_back_once_and_nobody_elses_with_it() -> None:
    cache = RadixCache(3)
    place, _ = cache.lookup([1, 2, 3])
    mine = cache.insert(place, [1, 2, 3])
    others, _ = cache.lookup([1, 2, 3])
    cache.done(mine)
    for spent in (mine, place):
        with pytest.raises(LeaseError, match="was given back, or moved by an insertion, before"):
            cache.done(spent)
        with pytest.raises(LeaseError, match="was given back"):
            cache.insert(spent, [4])
    assert cache.stats().leases == 1
    at, _ = cache.lookup([9])
    cache.done(cache.insert(at, [9, 9, 9]))  # over the budget, and what the other one holds stays
    assert cache.match_len([1, 2, 3]) == 3
    cache.done(others)
    put(cache, [8])
    assert cache.match_len([1, 2, 3]) == 0


def test_a_lease_of_another_cache_is_refused_and_changes_neither() -> None:
    one, other = RadixCache(), RadixCache()
    put(one, [1])
    at, _ = one.lookup([1])
    for use in (other.done, other.evict_node, lambda lease: other.insert(lease, [2])):
        with pytest.raises(LeaseError, match="is another cache's"):
            use(at)
    assert (one.tokens, one.stats().leases, other.stats()) == (1, 1, (0,) * 9)


def test_a_policy_evicts_the_poisoned_continuation_and_keeps_the_clean_one() -> None:
    shared = ids(16, 9001)
    good, bad = shared + ids(8, 9100), shared + ids(8, 9200)
    _, cache = served([good, bad])
    leaf, matched = cache.lookup(bad)
    assert matched == 24
    assert cache.evict_node(leaf) == 8
    assert (cache.match_len(good), cache.match_len(bad), cache.policy_evictions) == (24, 16, 1)
    assert cache.evict_node(leaf) == 0
    with pytest.raises(StaleLeaseError, match="evicted since"):
        cache.insert(leaf, [1])
    cache.done(leaf)  # it was held all the same
    assert cache.tokens == 24


def test_evicting_the_root_or_nothing_frees_nothing() -> None:
    cache = RadixCache()
    put(cache, [1])
    root, matched = cache.lookup([9])
    assert matched == 0
    assert (cache.evict_node(root), cache.evict_node(None), cache.policy_evictions) == (0, 0, 0)


@pytest.mark.parametrize(
    ("tokens", "freed", "left"),
    [
        ([], 0, 8),  # nothing named
        ([1, 2, 3, 4], 6, 2),  # ends at a node: it and all behind it
        ([1, 2, 3, 4, 5], 2, 6),  # ends at a leaf
        ([1, 2, 3], 6, 2),  # ends in the middle of an edge
        ([1, 2, 9], 6, 2),  # parts from it in the middle of an edge
        ([1, 2, 3, 4, 9], 0, 8),  # the cached path ended before: the clean prefix stays
        ([7], 0, 8),
    ],
)
def test_evicting_a_prefix(tokens, freed, left) -> None:
    _, cache = served([[1, 2, 3, 4, 5, 5], [8, 8]])
    at, _ = cache.lookup([1, 2, 3, 4])
    cache.done(at)
    assert cache.evict_prefix(tokens) == freed
    assert cache.tokens == left == cache.stats().tokens


def test_asking_changes_nothing() -> None:
    _, cache = served([[1, 2, 3, 4], [5, 6]], 6)
    before = cache.stats()
    assert (cache.match_len([1, 2, 9]), cache.match_len([])) == (2, 0)
    assert cache.stats() == before
    # The one asked for is still the oldest.
    put(cache, [7])
    assert cache.match_len([1, 2, 3, 4]) == 0


def test_stats_count_the_memory_that_whole_prefixes_take() -> None:
    _, cache = served([[1, 2, 3, 4], [1, 2, 5]])
    assert cache.stats() == (5, 2 + 4 + 3, 3, 2, 2, 0, 1, 0, 0)
    assert RadixCache().stats() == (0,) * 9


def test_two_who_look_up_before_either_inserts_hold_it_once() -> None:
    cache = RadixCache()
    one, _ = cache.lookup([1, 2, 3, 4])
    two, _ = cache.lookup([1, 2, 3, 5])
    cache.done(cache.insert(one, [1, 2, 3, 4]))
    cache.done(cache.insert(two, [1, 2, 3, 5]))
    again, _ = cache.lookup([])
    cache.done(cache.insert(again, [1, 2, 3, 5]))
    assert cache.stats() == (5, 3 + 4 + 4, 3, 2, 2, 0, 1, 0, 0)


def test_an_empty_suffix_gives_the_place_back_still_leased() -> None:
    cache = RadixCache()
    put(cache, [1, 2])
    at, matched = cache.lookup([1, 2])
    assert (cache.insert(at, []), matched) == (at, 2)
    assert cache.stats().leases == 1


@pytest.mark.parametrize("tokens", [[-1], [2**32], ["a"], [1.5], [None]])
def test_what_is_no_token_id_is_refused(tokens) -> None:
    cache = RadixCache()
    for ask in (cache.match_len, cache.lookup, cache.evict_prefix):
        with pytest.raises(ValueError, match="32 bits"):
            ask(tokens)
    assert cache.stats() == (0,) * 9


def test_ids_may_come_packed_or_as_bytes() -> None:
    _, cache = served([[1, 2, 3]])
    assert [cache.match_len(given) for given in (array("I", [1, 2]), array("q", [1, 2]), b"\x01\x02", (1, 2))] == [
        2
    ] * 4


def test_a_place_of_another_kind_and_a_bound_below_nothing_are_refused() -> None:
    with pytest.raises(TypeError, match="pass on what lookup gave"):
        RadixCache().done("there")
    for bad in (-1, 1.5, float("nan"), "3"):
        with pytest.raises(ValueError, match=f"A cache of {bad!r} tokens is none"):
            offer("none").cache(bad)
    assert isinstance(offer("mock"), RadixStore)


@given(REQUESTS)
def test_without_a_budget_all_that_can_be_is_reused(requests) -> None:
    cache = RadixCache()
    assert [put(cache, each) for each in requests] == most_reused(requests)
    assert cache.tokens == distinct_tokens(requests) == cache.stats().tokens
    assert cache.stats().leases == 0


@given(REQUESTS, st.integers(1, 12))
def test_under_a_budget_nothing_is_made_up_and_it_is_kept(requests, budget) -> None:
    cache, longest = RadixCache(budget), 0
    for each, most in zip(requests, most_reused(requests), strict=True):
        assert put(cache, each) <= most
        longest = max(longest, len(each))
        # A lease is held while room is made, so one long request may be over it, until the next that is inserted.
        assert cache.tokens <= max(budget, longest)
    stats = cache.stats()
    assert stats.tokens == cache.tokens
    assert stats.prefix_tokens <= stats.tokens * stats.nodes  # a token is in the prefix of every node below it


@given(REQUESTS, REQUESTS)
def test_policy_evictions_free_what_they_say(requests, poisoned) -> None:
    _, cache = served(requests)
    for each in poisoned:
        held = cache.tokens
        assert cache.evict_prefix(each) == held - cache.tokens
        assert cache.stats().tokens == cache.tokens
    assert cache.evict_prefix([]) == 0


def test_a_small_cache_that_is_used_for_long_does_not_grow() -> None:
    cache = RadixCache(40)
    for number in range(3_000):
        put(cache, [number % 3, 7, number % 50])
    assert len(cache._idle) < 200
    assert cache.tokens <= 40
