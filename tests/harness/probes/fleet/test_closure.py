"""The probe of closed work: what it counts, and the audits that it finds out."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.fleet import closure as module
from harness.probes.fleet._closed_work import FREE, ISSUES, build
from harness.probes.fleet.closure import Probe
from kpis.formulas.fleet.closure import closure_rate, honest_close_rate
from seams.contract.fleet_closure import Bucket, Closing, Coverage, Finding, Outcome, Reach, Witness
from seams.fleet.closure import RepositoryAudit
from seams.runtimes.reference import make


class Offering:
    name, version = "other", "1"

    def __init__(self, audit: object) -> None:
        self._audit = audit

    def offer(self, seam: str, engine: str) -> Any:
        return self._audit


def opened(kpi: str, runtime: Any) -> Any:
    probe = Probe()
    try:
        return probe.open(kpi, runtime, None, {})
    finally:
        probe.close()


def test_both_rates_with_their_arms_and_their_coverage() -> None:
    narrow, wide = (opened(kpi, make()) for kpi in ("closure_rate", "honest_close_rate"))
    assert (narrow.numerator, narrow.denominator, narrow.excluded) == (5, 13, 7)
    assert (wide.numerator, wide.denominator, wide.excluded) == (7, 15, 5)
    assert narrow.reasons == wide.reasons
    assert sum(narrow.reasons.values()) == len(ISSUES)
    assert closure_rate(5, 8) == round(narrow.numerator / narrow.denominator, 4)
    assert honest_close_rate(5, 2, 8) == round(wide.numerator / wide.denominator, 4)
    told = "\n".join(narrow.evidence)
    assert "17 of 17 commits that refs/remotes/origin/main reaches; nothing was left out" in told
    assert "2 commits of other branches count for nothing" in told
    assert "#8, #11" in told
    assert "1 skip_unpushed, 1 skip_unwitnessed, 1 would_close" in told


def test_one_audit_gives_both_rates_as_each_is_alone() -> None:
    probe = Probe()
    try:
        found = probe.open_all("closure_rate", make(), None, {})
    finally:
        probe.close()
    assert found == {kpi: opened(kpi, make()) for kpi in Probe.kpis}
    nobody = Probe().open_all("closure_rate", Offering(None), None, {})
    assert {kpi: each.reason for kpi, each in nobody.items()} == dict.fromkeys(Probe.kpis, "not-offered")


def test_the_repository_is_the_same_wherever_it_is_made(monkeypatch) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "somebody else")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    one, other = build(), build()
    assert one.top != other.top
    assert one.ids == other.ids
    assert one.ids["measured"] == one.git("rev-parse", "origin/main")
    assert one.git("log", "-1", "--format=%an %aI", "main").startswith("A Worker 2023-")
    one.close()
    other.close()


def test_a_runtime_without_an_audit_and_a_machine_without_git(monkeypatch) -> None:
    assert opened("closure_rate", Offering(None)).reason == "not-offered"
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    came = opened("closure_rate", make())
    assert isinstance(came, Undefined)
    assert came.reason == "not-installed"


def test_an_asynchronous_audit_is_awaited() -> None:
    class Asynchronous(RepositoryAudit):
        async def audit(self, *given: Any, **more: Any) -> Any:  # type: ignore[override]
            await asyncio.sleep(0)
            return RepositoryAudit.audit(self, *given, **more)

    async def run() -> None:
        probe = Probe()
        tally = await probe.open("closure_rate", Offering(Asynchronous()), None, {})
        probe.close()
        assert tally.numerator == 5

    asyncio.run(run())


def test_nothing_is_left_behind(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    opened("closure_rate", make())
    assert list(tmp_path.iterdir()) == []


class Altered(RepositoryAudit):
    """Audits through ``alter``, which gets the honest audit."""

    def __init__(self, alter: Any) -> None:
        self._alter = alter

    def audit(self, *given: Any, **more: Any) -> Any:
        return self._alter(super().audit(*given, **more))


def believes_the_tracker(audit):
    closed = (Bucket.CLAIMED_CLOSED, Bucket.DATA_RESOLVED)
    rows = [row._replace(bucket=Bucket.TRUE_RESOLVED) if row.bucket in closed else row for row in audit.rows]
    return audit._replace(rows=tuple(rows), finding=Finding.OK)


def drops_an_issue(audit):
    return audit._replace(rows=audit.rows[1:])


def says_all_is_well(audit):
    return audit._replace(finding=Finding.OK)


def hides_what_it_read(audit):
    return audit._replace(coverage=Coverage(audit.coverage.issues, 3, 3))


def hides_the_others(audit):
    return audit._replace(reach=Reach(audit.reach.main, audit.reach.commit, 0))


class Local(RepositoryAudit):
    """Takes the local branch for main."""

    def audit(self, *given: Any, **more: Any) -> Any:
        return super().audit(*given, main="refs/heads/main")


class Remembers(RepositoryAudit):
    """Says again what it said."""

    def __init__(self) -> None:
        self._last: Any = None

    def audit(self, *given: Any, **more: Any) -> Any:
        self._last = self._last or super().audit(*given, **more)
        return self._last


class Short(RepositoryAudit):
    """Reads no further than ten commits."""

    def audit(self, *given: Any, **more: Any) -> Any:
        return super().audit(*given, commit_limit=10)


class Trusting(RepositoryAudit):
    """Does not ask again."""

    def close(self, repository: str, candidates: Any, **more: Any) -> Any:
        return [Closing(each.number, Outcome.WOULD_CLOSE, "as it was said") for each in candidates]


class Idle(RepositoryAudit):
    """Has nothing to close."""

    def candidates(self, audit: Any, limit: int = 10) -> Any:
        return []


class Meddling(RepositoryAudit):
    """Leaves a file behind."""

    def audit(self, repository: str, export: str, **more: Any) -> Any:
        with open(f"{repository}/audited", "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write("yes")
        return super().audit(repository, export, **more)


@pytest.mark.parametrize(
    "audit",
    [
        lambda: Altered(believes_the_tracker),
        lambda: Altered(drops_an_issue),
        lambda: Altered(says_all_is_well),
        lambda: Altered(hides_what_it_read),
        lambda: Altered(hides_the_others),
        Local,
        Remembers,
        Short,
        Trusting,
        Idle,
        Meddling,
    ],
)
def test_an_audit_that_does_not_do_its_work_has_no_rate(audit) -> None:
    with pytest.raises(WorkNotDoneError):
        opened("closure_rate", Offering(audit()))


def test_where_a_kind_is_a_matter_of_taste_the_audit_decides_and_the_rate_moves() -> None:
    def lenient(audit):
        moved = [
            row._replace(bucket=Bucket.TRUE_RESOLVED, commits=((row.commits[0][0], Witness.DIFF),))
            if row.number == 5 and row.commits and row.bucket is Bucket.CLAIMED_CLOSED
            else row
            for row in audit.rows
        ]
        return audit._replace(rows=tuple(moved))

    tally = opened("closure_rate", Offering(Altered(lenient)))
    assert (tally.numerator, tally.denominator) == (6, 13)


@pytest.mark.parametrize("number", [work.number for work in ISSUES if len(work.due) > 1 and work.number not in FREE])
def test_what_is_a_matter_of_taste_has_its_bounds(number: int) -> None:
    """Results alone are no diff, and an open issue is not a closed one."""

    def resolved(audit):
        rows = (row._replace(bucket=Bucket.TRUE_RESOLVED) if row.number == number else row for row in audit.rows)
        return audit._replace(rows=tuple(rows))

    with pytest.raises(WorkNotDoneError, match=f"issue {number} is "):
        opened("closure_rate", Offering(Altered(resolved)))


def test_an_audit_has_a_say_in_two_of_thirteen() -> None:
    assert FREE == (5, 18)
    assert "on #5 and #18 audits may differ" in opened("closure_rate", make()).evidence[1]
