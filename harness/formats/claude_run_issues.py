"""What a reading of a run has to say against its own numbers, as values: one issue a kind of fault, with its count.

This module refuses to repair: what it reports was already left out, kept unknown or marked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.formats.claude_run_gather import Gather
from harness.formats.claude_run_state import FileState
from harness.formats.json_files import uncounted
from kpis.terms.trace import Issue, IssueCode, Outcome, Severity

__all__ = ["file_issues", "issues"]

_ERROR, _WARNING, _NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


def issues(gather: Gather, files: Sequence[FileState], placeholders: int, phantoms: int) -> Iterator[Issue]:
    """The issues of the whole run, then those of each file."""
    requests = list(gather.requests.all.values())
    calls = gather.calls.all.values()
    of = len(requests)
    unused = [
        r for r in requests if r.tokens.out_total is None and r.tokens.fresh_in is None and r.tokens.cache_read is None
    ]
    unnamed = [r for r in requests if r.request_id in gather.requests.unnamed and r.tokens.out_total is not None]
    orphans = [c for c in calls if c.outcome is Outcome.ORPHAN]
    unanswered = [c for c in calls if c.outcome is Outcome.UNANSWERED]
    findings: tuple[tuple[int, Severity, IssueCode, str], ...] = (
        (
            placeholders,
            _WARNING,
            IssueCode.W_PLACEHOLDER_OUTPUT,
            f"Requests whose output is a placeholder: {{n}} of {of}. The output total is a lower bound.",
        ),
        (
            len(unused),
            _NOTE,
            IssueCode.W_NO_USAGE,
            f"Requests without usage: {{n}} of {of}. Their tokens are unknown.",
        ),
        (
            len(unnamed),
            _NOTE,
            IssueCode.W_NO_REQUEST_ID,
            f"Requests without a request id: {{n}} of {of}. They were told apart by message id.",
        ),
        (
            len(gather.requests.shrunk),
            _NOTE,
            IssueCode.W_REEMIT,
            f"Requests that end on a smaller output than an earlier line says: {{n}} of {of}. The largest was taken.",
        ),
        (
            len(gather.requests.split),
            _WARNING,
            IssueCode.W_TOTAL_MISMATCH,
            f"Requests that split their cache writes into more than the total: {{n}} of {of}.",
        ),
        (
            len(orphans),
            _WARNING,
            IssueCode.W_ORPHAN_RESULT,
            "Tool results that answer no call in these files: {n}.",
        ),
        (
            len(unanswered),
            _NOTE,
            IssueCode.W_UNANSWERED_CALL,
            "Tool calls without a result in these files: {n}.",
        ),
        (
            phantoms,
            _WARNING,
            IssueCode.W_PHANTOM_PARENT,
            "Lines that name a parent outside these files: {n}. The order of lines was followed there.",
        ),
    )
    for n, severity, code, sentence in findings:
        if n:
            yield Issue(severity, code, sentence.format(n=n))
    for file in files:
        yield from file_issues(file)


def file_issues(file: FileState) -> Iterator[Issue]:
    """The issues of one file's lines."""
    findings: tuple[tuple[int, Severity, IssueCode, str], ...] = (
        (
            file.bad_numbers,
            _ERROR,
            IssueCode.E_BAD_NUMBER,
            "Token counts that are negative or beyond any real one: {n}. They were left out.",
        ),
        (
            len(file.copied),
            _NOTE,
            IssueCode.W_COPIED_HISTORY,
            "Requests that another file of the run counts already: {n}. They were counted once.",
        ),
        (
            file.repeated,
            _NOTE,
            IssueCode.W_REPEATED_LINE,
            "Lines that repeat an earlier line's id: {n}. They were left out.",
        ),
        (
            file.drifted,
            _NOTE,
            IssueCode.W_SCHEMA_DRIFT,
            "Lines that are not shaped as expected: {n}. What fitted was kept.",
        ),
    )
    for n, severity, code, sentence in findings:
        if n:
            yield Issue(severity, code, sentence.format(n=n), file=file.name)
    for kind, n in sorted(file.unknown.items()):
        sentence = f"Lines of the unknown kind {kind}: {n}. They were left out."
        yield Issue(_NOTE, IssueCode.W_UNKNOWN_KIND, sentence, file=file.name)
    if file.uncounted:
        yield uncounted(file.uncounted, file.name)
    yield from file.log.issues(file.name)
