"""What a reader of Codex rollouts has to say about its numbers: one sentence a kind of finding, with its count."""

from __future__ import annotations

from collections.abc import Iterator

from harness.formats.codex_finish import Finished
from kpis.terms.trace import Issue, IssueCode, RequestStatus, Severity, ThreadKind

__all__ = ["lineage_issue", "thread_issues"]

_ERROR, _WARNING, _NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


def _used(done: Finished) -> int:
    """Tokens of all answers that the thread counts or repeats, as the naive sum is."""
    parts = (request.tokens for _, request in done.thread.answers.billed)
    return sum((each.prompt or each.unattributed or 0) + (each.out_total or 0) for each in parts)


def thread_issues(done: Finished, file: str) -> Iterator[Issue]:
    """What was found in one thread. ``file`` is where it begins."""
    thread, meter = done.thread, done.thread.answers.meter
    unbilled = [each for each in done.requests if each.tokens.prompt is None and each.tokens.out_total is None]
    aborted = sum(each.status is RequestStatus.ABORTED for each in unbilled)
    unanswered, orphans = done.unanswered()
    findings: tuple[tuple[int, Severity, IssueCode, str], ...] = (
        (
            meter.repeated,
            _NOTE,
            IssueCode.W_REEMIT,
            f"Counters shown again without a new answer: {{n}}, of which {meter.older} are older than the newest."
            f" Every line added up would be {meter.naive:,} tokens; {_used(done):,} is what the answers used.",
        ),
        (
            meter.resets,
            _NOTE,
            IssueCode.W_COUNTER_RESET,
            "Running totals that do not follow from the one before: {n}. Answers were counted, not totals.",
        ),
        (
            meter.doubled,
            _NOTE,
            IssueCode.W_USAGE_MEANING,
            "Totals that hold the reasoning tokens twice: {n}. Reasoning was counted once, inside the output.",
        ),
        (
            meter.outside,
            _WARNING,
            IssueCode.W_TOTAL_MISMATCH,
            "Answers whose parts are larger than the whole that holds them: {n}. The rest is unknown there.",
        ),
        (
            meter.bad_numbers,
            _ERROR,
            IssueCode.E_BAD_NUMBER,
            "Token counts that are negative or beyond any real one: {n}. They were left out.",
        ),
        (
            len(unbilled),
            _NOTE,
            IssueCode.W_NO_USAGE,
            f"Answers without a counter: {{n}} of {len(done.requests)} ({aborted} cut off). Their tokens are unknown.",
        ),
        (unanswered, _NOTE, IssueCode.W_UNANSWERED_CALL, "Tool calls without a result: {n}."),
        (orphans, _WARNING, IssueCode.W_ORPHAN_RESULT, "Tool results that answer no call: {n}."),
        (
            thread.drifted,
            _NOTE,
            IssueCode.W_SCHEMA_DRIFT,
            "Lines that are not shaped as expected: {n}. What fitted was kept.",
        ),
        (
            len(done.requests) if done.mirrored else 0,
            _NOTE,
            IssueCode.W_MIRRORED_THREAD,
            "Answers that the parent's file counts as well: {n}, all of this thread. They are counted once.",
        ),
        (
            0 if done.mirrored else done.copied,
            _NOTE,
            IssueCode.W_COPIED_HISTORY,
            "Counters at the beginning that are the parent's, written again: {n}. They are counted there alone.",
        ),
    )
    for n, severity, code, sentence in findings:
        if n:
            yield Issue(severity, code, sentence.format(n=n), file=file)


def lineage_issue(done: Finished, file: str) -> Issue | None:
    """What it means for the total that the file of a thread's parent is not among those read."""
    session = done.thread.session
    if session.parent is None:
        return None
    if (session.kind is ThreadKind.FORK or done.thread.ancestors) and not done.copied:
        return Issue(
            _WARNING,
            IssueCode.W_COPIED_HISTORY,
            "The session that this one was forked from is not among the files, so what it repeats of it cannot be told"
            " apart: the total is an upper bound. Name the folder that holds both.",
            file=file,
        )
    return Issue(
        _NOTE,
        IssueCode.W_PHANTOM_PARENT,
        "The session that started this one is not among the files: the total is a lower bound of what both used."
        " Name the folder that holds both.",
        file=file,
    )
