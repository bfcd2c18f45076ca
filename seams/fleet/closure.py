"""The seam ``fleet/closure``: holds what a tracker calls closed against what the main branch of a repository shows.

Nobody's word is taken: a commit counts where main reaches it, no later commit there reverts it, and its change is of
the kind that its message claims. Nothing is kept between two audits, so a witness is judged when it is asked for, and
once more before anything is closed. It writes into no repository, and closes nothing by itself: the caller's closer
does. That a witness is a proof of the fix, it does not say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from seams.contract import Engine
from seams.contract.fleet_closure import (
    COMMIT_LIMIT,
    ISSUE_LIMIT,
    Audit,
    Bucket,
    Candidate,
    Closing,
    Coverage,
    Finding,
    Outcome,
    Reach,
    Row,
    Witness,
)
from seams.engines.git import GitError, Repository, find
from seams.fleet.audit_words import is_whole, unlimited, unnamed
from seams.fleet.closing import closed
from seams.fleet.commits import changed, count, main_of
from seams.fleet.history import History, history_of
from seams.fleet.tracker import Export, Issue, read
from seams.fleet.witness import witness

__all__ = ["RepositoryAudit", "bucket", "finding", "offer"]

_EXPORT = "Write one: gh issue list --state all --limit 1000 --json number,state,stateReason --jq '.[]'"


def bucket(issue: Issue, best: Witness) -> Bucket:
    """Where an issue falls whose best witness is ``best``."""
    if not issue.closed:
        return Bucket.OPEN_WITNESSED if best is Witness.DIFF else Bucket.OPEN
    if not issue.planned:
        return Bucket.CLOSED_NOT_PLANNED
    by = {Witness.DIFF: Bucket.TRUE_RESOLVED, Witness.DATA: Bucket.DATA_RESOLVED}
    return by.get(best, Bucket.CLAIMED_CLOSED)


def finding(buckets: Mapping[Bucket, int], gaps: Sequence[str]) -> Finding:
    """What the counts come to: a gap hides no claim, and with a gap nothing passes."""
    if buckets.get(Bucket.CLAIMED_CLOSED):
        return Finding.CLAIMED_CLOSED
    if gaps:
        return Finding.INCOMPLETE
    return Finding.OPEN_WITNESSED if buckets.get(Bucket.OPEN_WITNESSED) else Finding.OK


class RepositoryAudit:
    """What ``fleet/closure`` offers. It has no state."""

    def audit(
        self,
        repository: str,
        export: str,
        *,
        main: str | None = None,
        issue_limit: int = ISSUE_LIMIT,
        commit_limit: int = COMMIT_LIMIT,
    ) -> Audit:
        """See the contract."""
        paths = {"repository": repository, "export": export}
        fault = unnamed(paths, main) or unlimited(issue_limit) or unlimited(commit_limit)
        if fault is not None:
            return _failed(fault)
        try:
            exported = read(export, issue_limit)
        except (OSError, ValueError) as error:  # a ValueError where the path holds a NUL
            why = getattr(error, "strerror", None) or str(error)
            return _failed(f"The export {export!r} cannot be read: {why}. {_EXPORT}")
        try:
            held = find(Path(repository))
            ref, tip = main_of(held, main)
            return _audited(held, ref, tip, exported, issue_limit, commit_limit)
        except GitError as error:
            return _failed(str(error))

    def candidates(self, audit: Audit, limit: int = 10) -> list[Candidate]:
        """See the contract."""
        if not is_whole(limit):
            raise TypeError(f"A limit of {limit!r:.80} is no whole number; give candidates() one.")
        witnessed = sorted((row for row in audit.rows if row.bucket is Bucket.OPEN_WITNESSED), reverse=True)
        return [
            Candidate(row.number, next(commit for commit, by in row.commits if by is Witness.DIFF))
            for row in witnessed[: max(limit, 0)]
        ]

    def close(
        self,
        repository: str,
        candidates: Sequence[Candidate],
        *,
        main: str | None = None,
        closer: Callable[[Candidate], None] | None = None,
    ) -> list[Closing]:
        """See the contract. A repository that cannot be asked closes nothing."""
        fault = unnamed({"repository": repository}, main)
        if fault is not None:
            return [Closing(each.number, Outcome.SKIP_UNWITNESSED, fault) for each in candidates]
        try:
            held = find(Path(repository))
            _, tip = main_of(held, main)
            undone = history_of(held, COMMIT_LIMIT, tip).undone
        except GitError as error:
            return [Closing(each.number, Outcome.SKIP_UNWITNESSED, str(error)) for each in candidates]
        return [closed(held, tip, undone, each, closer) for each in candidates]


def _failed(sentence: str) -> Audit:
    return Audit(Finding.AUDIT_ERROR, notes=(sentence,))


def _audited(held: Repository, ref: str, tip: str, exported: Export, issue_limit: int, commit_limit: int) -> Audit:
    history = history_of(held, commit_limit, tip)
    there = count(held, tip)
    wanted = sorted({commit for number in exported.issues for commit in history.resolving.get(number, ())})
    paths = changed(held, wanted)
    by = {commit: witness(history.messages[commit], paths[commit]) for commit in wanted}
    rows = []
    for number, issue in sorted(exported.issues.items()):
        commits = tuple((commit, by[commit]) for commit in history.resolving.get(number, ()))
        found = {each for _, each in commits}
        best = next((each for each in (Witness.DIFF, Witness.DATA) if each in found), Witness.NONE)
        rows.append(Row(number, bucket(issue, best), commits, history.mentions.get(number, 0)))
    elsewhere = ("--all", f"^{tip}")  # all branches, and where the working tree is
    local = history_of(held, commit_limit, *elsewhere)
    claims = [number for number in exported.issues if number in local.resolving and number not in history.resolving]
    scanned = len(history.messages)
    coverage = Coverage(len(rows), scanned, there, tuple(_gaps(held, exported, issue_limit, scanned, there)))
    counts = Counter(row.bucket for row in rows)
    return Audit(
        finding(counts, coverage.gaps),
        tuple(rows),
        coverage,
        Reach(ref, tip, count(held, *elsewhere), tuple(sorted(claims))),
        tuple(_notes(held, ref, exported, history)),
    )


def _gaps(held: Repository, exported: Export, issue_limit: int, scanned: int, there: int) -> list[str]:
    gaps = list(exported.faults)
    if not exported.issues:
        gaps.append("The export holds no issue.")
    if exported.lines >= issue_limit:
        gaps.append(f"The export has {exported.lines} lines, as many as the limit: there may be more issues.")
    if scanned < there:
        gaps.append(f"Of {there} commits that main reaches the newest {scanned} were read.")
    if held.shallow:
        gaps.append("The history is cut off (a shallow clone): make it whole with git fetch --unshallow.")
    return gaps


def _notes(held: Repository, ref: str, exported: Export, history: History) -> list[str]:
    notes = []
    if not ref.startswith(("refs/remotes/", "origin/")):
        notes.append(f"{ref} stands for the main branch, so what was never pushed may be in it.")
    if held.bare:
        notes.append("The repository is bare: there is no working tree.")
    else:
        dirty = held.ask("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all").count(b"\0")
        if dirty:
            notes.append(f"The working tree has {dirty} changes that are in no commit and count for nothing.")
    if history.undone:
        notes.append(f"Of the commits {len(history.undone)} were reverted by later ones and count for nothing.")
    if exported.pulls:
        notes.append(f"Of the export's lines {exported.pulls} are pull requests and no issues.")
    return notes


def offer(engine: Engine) -> RepositoryAudit:  # noqa: ARG001 - an audit asks git and no engine
    """An audit of any repository."""
    return RepositoryAudit()
