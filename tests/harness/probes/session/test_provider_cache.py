from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from harness.formats.workload import load
from harness.measure.clock import Undefined, Workload, WorkNotDoneError
from harness.probes.session.provider_cache import AUTHORED, Probe, entries_of
from harness.workloads import shipped
from seams.contract.provider_cache import CacheEntry, Media, ProviderCounters, Split, Tier
from seams.runtimes.reference import make
from seams.session.provider_cache import ProviderLedger
from tests.harness.probes.turn.sessions import runtime

HITS, TOKENS = "provider_cache_hits", "provider_cache_read_tokens"


def request(read=None, written=None, prompt=None, local=False):
    return {"read": read, "written": written, "prompt": prompt, "local": local}


def recorded(*requests, kind="session") -> Workload:
    return Workload("run", kind, "0" * 64, "replay", {"turns": [], "requests": list(requests)})


def opened(kpi, workload=None, ledger=None):
    return Probe().open(kpi, make() if ledger is None else runtime(ledger), workload, {})


@pytest.mark.parametrize(("kpi", "value"), [(HITS, 2), (TOKENS, 3600)])
def test_authored_answers_stand_in_for_a_recording_and_say_so(kpi, value) -> None:
    found = opened(kpi)
    assert (found.numerator, found.denominator, found.basis, found.source) == (value, None, "reported", "synthetic")
    assert found.evidence[0] == f"{len(AUTHORED)} authored answers, no recording"
    assert "74 tokens" in found.evidence[2]


@pytest.mark.parametrize(("kpi", "value"), [(HITS, 1), (TOKENS, 1200)])
def test_a_recording_is_the_providers_word(kpi, value) -> None:
    requests = [request(0, 300, 1500), request(1200, 0, 1500), request(), request(local=True, prompt=700)]
    found = opened(kpi, recorded(*requests))
    assert (found.numerator, found.basis, found.source) == (value, "reported", None)
    assert found.evidence == (
        "4 recorded requests, 1 of which say nothing of a cache",
        "a provider's word: 1 hits, 1200 tokens read, 300 written",
        "held by the client itself and in none of these: 700 tokens",
    )


def test_entries_of_requests() -> None:
    requests = [request(5, None, 9), request(None, None), request(0, 0), request(local=True, prompt=4), request(0, 2)]
    assert entries_of(requests) == [
        CacheEntry(Tier.PROVIDER, Media.PROMPT_PREFIX, 5, 0),
        CacheEntry(Tier.LOCAL, Media.OTHER, 4),
        CacheEntry(Tier.PROVIDER, Media.PROMPT_PREFIX, 0, 2),
    ]


@pytest.mark.parametrize("requests", [(), (request(), request())])
def test_a_recording_that_says_nothing_is_no_zero(requests) -> None:
    found = opened(HITS, recorded(*requests))
    assert isinstance(found, Undefined)
    assert found.reason == "too-few"


def test_a_recording_that_says_that_nothing_was_read_is_zero() -> None:
    assert opened(TOKENS, recorded(request(0, 0, 90))).numerator == 0


def test_the_session_that_ships_says_nothing_of_a_cache() -> None:
    assert isinstance(opened(HITS, shipped("session").workload), Undefined)


def test_another_kind_and_another_runtime() -> None:
    assert opened(HITS, recorded(kind="calls")).reason == "workload-kind"
    assert Probe().open(HITS, runtime(None), None, {}).reason == "not-offered"


def test_a_recorded_file_all_the_way(cases: Path) -> None:
    workload = load(cases / "transcripts" / "claude-code" / "session.jsonl")
    found = opened(TOKENS, workload.workload)
    assert found.numerator == workload.facts["cache_read"] > 0
    assert opened(HITS, workload.workload).numerator <= workload.facts["requests"]


class Both(ProviderLedger):
    """Puts a provider's tokens on our side too."""

    def split(self, entries):
        given = list(entries)
        return Split(sum(each.saved for each in given), super().split(given).provider)


class Nothing(ProviderLedger):
    def split(self, entries):
        return Split(0, ProviderCounters())


@pytest.mark.parametrize("ledger", [Both, Nothing])
def test_a_ledger_that_miscounts_is_found_out(ledger) -> None:
    with pytest.raises(WorkNotDoneError, match="add up to"):
        opened(HITS, ledger=ledger())


def test_an_asynchronous_ledger_is_awaited() -> None:
    class Slow(ProviderLedger):
        async def split(self, entries):
            await asyncio.sleep(0)
            return super().split(entries)

    async def counted():
        return await opened(HITS, ledger=Slow())

    assert asyncio.run(counted()).numerator == 2
