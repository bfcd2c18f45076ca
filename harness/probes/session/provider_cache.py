"""Drives the counters of providers' prompt caches: how many requests a recording says were served from one, and tokens.

The numbers are somebody else's and stay so: nothing is added to them, and what a client's own cache answered is told
beside them. Without a recording a short list of authored answers is folded, which shows that the counters work and
nothing else. A ledger that puts an entry on both sides, on none or on the wrong one is found out, since the probe adds
up for itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import finish, settled
from seams.contract.provider_cache import CacheEntry, Media, ProviderCache, ProviderCounters, Split, Tier

__all__ = ["AUTHORED", "Probe", "entries_of"]

AUTHORED = (
    CacheEntry(Tier.PROVIDER, Media.PROMPT_PREFIX, 0, 1500),
    CacheEntry(Tier.PROVIDER, Media.PROMPT_PREFIX, 1200, 300),
    CacheEntry(Tier.LOCAL, Media.PROMPT_PREFIX, 64),
    CacheEntry(Tier.PROVIDER, Media.OTHER, 900),
    CacheEntry(Tier.PROVIDER, Media.PROMPT_PREFIX, 1500, 250),
    CacheEntry(Tier.LOCAL, Media.OTHER, 10),
)
"""Answers in the place of a recording: a request that only writes, reads of what it wrote, and entries of others."""


class Probe:
    """Opens the KPIs of ``session/provider_cache``."""

    kpis: ClassVar[frozenset[str]] = frozenset({"provider_cache_hits", "provider_cache_read_tokens"})

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Tally or Undefined; of an asynchronous ledger, the coroutine that returns it."""
        ledger: ProviderCache | None = runtime.offer("session/provider_cache", "none")
        if ledger is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no counters of a provider's cache.")
        if workload is None:
            told = f"{len(AUTHORED)} authored answers, no recording"
            return finish(_counted(kpi, ledger, AUTHORED, told, "synthetic"), ledger.split)
        if workload.kind != "session":
            return Undefined("workload-kind", f"This KPI reads a recorded session, not the kind {workload.kind!r}.")
        requests = workload.data.get("requests", ())
        entries = entries_of(requests)
        silent = sum(1 for request in requests if request["read"] is None and not request["local"])
        if silent == len(requests):
            sentence = f"Of {len(requests)} requests of {workload.name} none says what a provider's cache held."
            return Undefined("too-few", sentence)
        told = f"{len(requests)} recorded requests, {silent} of which say nothing of a cache"
        return finish(_counted(kpi, ledger, entries, told, None), ledger.split)


def entries_of(requests: Sequence[Mapping[str, Any]]) -> list[CacheEntry]:
    """An entry for each request that read from a cache or wrote into one; what is not said counts nothing.

    A request that the client's own cache answered saved its whole prompt, and no provider had a part in it.
    """
    entries = [
        CacheEntry(Tier.LOCAL, Media.OTHER, request["prompt"] or 0)
        if request["local"]
        else CacheEntry(Tier.PROVIDER, Media.PROMPT_PREFIX, request["read"] or 0, request["written"] or 0)
        for request in requests
    ]
    return [entry for entry in entries if entry.saved or entry.created]


async def _counted(
    kpi: str, ledger: ProviderCache, entries: Sequence[CacheEntry], told: str, source: str | None
) -> Tally:
    found = await settled(ledger.split(list(entries)))
    _verify(found, entries)
    provider = found.provider
    value = provider.provider_cache_hits if kpi == "provider_cache_hits" else provider.provider_cache_read_tokens
    return Tally(
        value,
        basis="reported",
        source=source,
        evidence=(
            told,
            f"a provider's word: {provider.provider_cache_hits} hits, {provider.provider_cache_read_tokens} tokens "
            f"read, {provider.provider_cache_creation_tokens} written",
            f"held by the client itself and in none of these: {found.local_tokens} tokens",
        ),
    )


def _verify(found: Any, entries: Sequence[CacheEntry]) -> None:
    """Hold the two sides against sums of the probe's own.

    Raises:
        WorkNotDoneError: an entry is on another side than its own, on both or on none.
    """
    theirs = [entry for entry in entries if entry.tier is Tier.PROVIDER]
    wanted = Split(
        sum(entry.saved for entry in entries if entry.tier is Tier.LOCAL),
        ProviderCounters(
            sum(entry.saved for entry in theirs),
            sum(1 for entry in theirs if entry.media is Media.PROMPT_PREFIX and entry.saved),
            sum(entry.created for entry in theirs),
        ),
    )
    if found != wanted:
        raise WorkNotDoneError(f"the counters of {len(entries)} entries are {found!r}, and add up to {wanted!r}")
