"""Track mode: a planted regression is red, and what cannot be compared has no verdict."""

from __future__ import annotations

import dataclasses
import os

import pytest

from seams.contract.rsi_loop import Trend
from seams.rsi.errors import LoopError
from seams.rsi.journal import read
from seams.rsi.loop import ReferenceLoop
from tests.seams.rsi.repository import Repo, metric

LOOP = ReferenceLoop()


def tracked(repo: Repo, **more: object) -> Trend:
    return LOOP.track(repo.charge(**more)).trend


def test_a_planted_regression_is_red_and_named(repo_of_one: Repo) -> None:
    assert tracked(repo_of_one) is Trend.FIRST
    assert tracked(repo_of_one) is Trend.OK
    commit = repo_of_one.commit({"metric": "0.5"})
    found = LOOP.track(repo_of_one.charge())
    assert (found.trend, found.row.baseline_ref, found.row.candidate_metric) == (Trend.REGRESSED, commit, 0.5)
    assert found.previous is not None
    assert found.previous.candidate_metric == found.row.baseline == 1.0
    assert commit[:12] in found.detail
    assert [row.mode for row in read(repo_of_one.journal).rows] == ["track"] * 3
    assert read(repo_of_one.journal).forged == ()


def test_the_direction_counts(repo_of_one: Repo) -> None:
    tracked(repo_of_one, lower_better=True)
    repo_of_one.commit({"metric": "2"})
    assert tracked(repo_of_one, lower_better=True) is Trend.REGRESSED


def test_another_reference_or_metric_has_no_verdict(repo_of_one: Repo) -> None:
    tracked(repo_of_one)
    repo_of_one.commit({"metric": "0.5"})
    assert tracked(repo_of_one, reference="main") is Trend.NO_VERDICT
    assert tracked(repo_of_one, reference="main", metric_name="other") is Trend.NO_VERDICT


def test_what_is_not_measured_is_no_bar(repo_of_one: Repo) -> None:
    tracked(repo_of_one)
    repo_of_one.commit({"metric": "none"})
    found = LOOP.track(repo_of_one.charge())
    assert (found.trend, found.row.measured, found.row.candidate_metric) == (Trend.UNMEASURED, False, None)
    repo_of_one.commit({"metric": "0.5"})
    assert tracked(repo_of_one) is Trend.REGRESSED


def test_a_red_suite_is_said(repo_of_one: Repo) -> None:
    repo_of_one.commit({"red": ""})
    assert tracked(repo_of_one) is Trend.RED


@pytest.mark.parametrize("tail", [b"garbage", b'{"cycle": 1', b"\xff\xfe"])
def test_a_torn_journal_still_has_its_bar(repo_of_one: Repo, tail: bytes) -> None:
    tracked(repo_of_one)
    repo_of_one.journal.write_bytes(repo_of_one.journal.read_bytes() + tail)
    repo_of_one.commit({"metric": "0.5"})
    assert tracked(repo_of_one) is Trend.REGRESSED
    assert read(repo_of_one.journal).torn == 1


def test_tracking_makes_no_branch_and_needs_none(repo_of_one: Repo) -> None:
    repo_of_one.git("branch", "rsi")
    before = repo_of_one.branches()
    row = LOOP.track(repo_of_one.charge()).row
    assert repo_of_one.branches() == before
    assert dataclasses.astuple(row)[13:15] == (None, False) or row.kept is None


@pytest.mark.parametrize("number", [b"1e999", b"-1e999", b"1" + 400 * b"0"])
@pytest.mark.parametrize("key", [b"candidate_metric", b"baseline"])
def test_a_number_that_is_none_is_no_bar(repo_of_one: Repo, key: bytes, number: bytes) -> None:
    tracked(repo_of_one)
    (line,) = repo_of_one.journal.read_bytes().splitlines(keepends=True)
    old = b"1.0" if key == b"candidate_metric" else b"null"
    repo_of_one.journal.write_bytes(line + line.replace(b'"%b": %b' % (key, old), b'"%b": %b' % (key, number)))
    repo_of_one.commit({"metric": "0.5"})
    assert tracked(repo_of_one) is Trend.REGRESSED
    assert (len(read(repo_of_one.journal).rows), read(repo_of_one.journal).torn) == (2, 1)


@pytest.mark.timeout(60)
def test_a_pipe_in_the_place_of_the_journal_is_not_waited_at(repo_of_one: Repo) -> None:
    os.mkfifo(repo_of_one.journal)
    for attempt in (LOOP.track, lambda charge: LOOP.run(charge, [metric(2)])):
        with pytest.raises(LoopError, match="is no regular file"):
            attempt(repo_of_one.charge())
    assert repo_of_one.branches() == {"main"}
