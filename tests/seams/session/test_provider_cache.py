from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.provider_cache import CacheEntry, Media, ProviderCounters, Split, Tier
from seams.session.provider_cache import fold, offer

ENTRIES = st.lists(
    st.builds(CacheEntry, st.sampled_from(Tier), st.sampled_from(Media), st.integers(0, 999), st.integers(0, 999))
)


def test_a_local_entry_touches_nothing() -> None:
    counters = ProviderCounters()
    assert fold(counters, CacheEntry(Tier.LOCAL, Media.PROMPT_PREFIX, 64)) is False
    assert counters == ProviderCounters(0, 0, 0)


def test_a_prompt_of_1500_of_which_1200_were_cached() -> None:
    counters = ProviderCounters()
    assert fold(counters, CacheEntry(Tier.PROVIDER, Media.PROMPT_PREFIX, 1200, 300)) is True
    assert counters == ProviderCounters(1200, 1, 300)


def test_one_entry_on_each_side() -> None:
    entries = [CacheEntry(Tier.LOCAL, Media.OTHER, 10), CacheEntry(Tier.PROVIDER, Media.PROMPT_PREFIX, 900)]
    assert offer("none").split(entries) == Split(10, ProviderCounters(900, 1, 0))


def test_other_media_are_tokens_and_no_hit_and_a_mere_write_is_none_either() -> None:
    entries = [CacheEntry(Tier.PROVIDER, Media.OTHER, 7), CacheEntry(Tier.PROVIDER, Media.PROMPT_PREFIX, 0, 5)]
    assert offer("none").split(entries).provider == ProviderCounters(7, 0, 5)


@pytest.mark.parametrize("amounts", [(-1, 0), (0, -1)])
def test_less_than_nothing_is_refused(amounts) -> None:
    counters = ProviderCounters()
    with pytest.raises(ValueError, match="counts from 0"):
        fold(counters, CacheEntry(Tier.PROVIDER, Media.OTHER, *amounts))
    assert counters == ProviderCounters()


@given(ENTRIES)
def test_every_entry_is_on_exactly_one_side(entries) -> None:
    found = offer("none").split(entries)
    assert found.local_tokens + found.provider.provider_cache_read_tokens == sum(each.saved for each in entries)
    mine = [each for each in entries if each.tier is Tier.LOCAL]
    theirs = [each for each in entries if each.tier is Tier.PROVIDER]
    assert offer("none").split(mine) == Split(found.local_tokens, ProviderCounters())
    assert offer("none").split(theirs) == Split(0, found.provider)
