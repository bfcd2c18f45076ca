"""How far the numbers of a recording can be trusted, and why not further.

The worst reason decides: ``not-recorded`` where no request says its output, ``lower-bound`` where some do not or part
of the recording could not be read, else ``ok``. Refuses to be reassured by large numbers: one unread line is a reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from kpis.formulas.recorded.parts import Summed
from kpis.formulas.recorded.view import RunView
from kpis.terms.trace import IssueCode, Severity

__all__ = ["Trust", "TrustParts", "trust_parts"]


class Trust(Enum):
    """What the totals are."""

    OK = "ok"
    LOWER_BOUND = "lower-bound"
    NOT_RECORDED = "not-recorded"


_FAULTS = "faults of the recording are listed as issues"
_UNREAD = (IssueCode.E_LONG_LINE, IssueCode.E_LIMIT, IssueCode.E_BAD_NUMBER)
_UNOPENED = (IssueCode.E_UNREADABLE, IssueCode.E_UNKNOWN_FORMAT, IssueCode.E_ARCHIVE)


@dataclass(frozen=True, slots=True)
class TrustParts(Summed):
    """What one run adds: rows of usage, those whose output is said, and how often each thing is wrong.

    A request without usage whose whole thread or run has a row is said by that row.
    """

    rows: int = 0
    observed: int = 0
    placeholder: int = 0
    no_output: int = 0
    no_prompt: int = 0
    bad_lines: int = 0
    unread: int = 0
    unopened: int = 0
    missing_parents: int = 0
    unpriced: int = 0
    other_errors: int = 0

    @property
    def level(self) -> Trust:
        """The worst of all reasons."""
        if self.rows and not self.observed:
            return Trust.NOT_RECORDED
        return Trust.LOWER_BOUND if any(True for _ in self.reasons()) else Trust.OK

    def _of_rows(self, n: int) -> str:
        return f"{n:,} of {self.rows:,} request{'s' * (self.rows != 1)}"

    def reasons(self) -> Iterator[str]:
        """One sentence a reason, the weightiest first."""
        if self.placeholder:
            hold = "holds an output that its" if self.placeholder == 1 else "hold an output that their"
            yield f"{self._of_rows(self.placeholder)} {hold} client never updated."
        if self.no_output:
            yield f"{self._of_rows(self.no_output)} {_say(self.no_output)} output."
        if self.no_prompt:
            yield f"{self._of_rows(self.no_prompt)} {_say(self.no_prompt)} whole prompt."
        if self.unopened:
            yield f"{self.unopened:,} {_files(self.unopened)} could not be read at all."
        if self.bad_lines:
            yield f"{self.bad_lines:,} {_lines(self.bad_lines)} could not be read."
        if self.unread:
            yield f"{self.unread:,} {_lines(self.unread)} went past a limit or held an impossible number."
        if self.missing_parents:
            some = "thread names" if self.missing_parents == 1 else "threads name"
            yield f"{self.missing_parents:,} {some} a parent that is not among the files."
        if self.other_errors:
            some = "fault of the recording is listed as an issue" if self.other_errors == 1 else _FAULTS
            yield f"{self.other_errors:,} other {some}."
        if self.unpriced:
            some = "request is of a model" if self.unpriced == 1 else "requests are of models"
            yield f"{self.unpriced:,} {some} without a price, so the cost has no total."


def _say(n: int) -> str:
    return "does not say its" if n == 1 else "do not say their"


def _files(n: int) -> str:
    return "file" if n == 1 else "files"


def _lines(n: int) -> str:
    return "line" if n == 1 else "lines"


_COUNTED = (*_UNREAD, *_UNOPENED, IssueCode.E_TORN_LINE, IssueCode.E_BAD_LINE)


def trust_parts(view: RunView, unpriced: int = 0) -> TrustParts:
    """The trust parts of one run; ``unpriced`` are its requests without a price."""
    issues = view.run.issues
    errors = [issue.code for issue in issues if issue.severity is Severity.ERROR]
    known = {thread.thread_id for thread in view.run.threads} | {chain.thread_id for chain in view.chains}
    parents = {thread.parent_thread_id for thread in view.run.threads} - {None} - known
    sums = view.sums
    coarse_out = sum(row.tokens.out_total is not None for row in view.coarse)
    covered = len(view.covered)
    said = sums.rows - sums.no_out - sums.placeholder_out + coarse_out + covered
    bad = sum(recording.bad_lines for recording in view.run.recordings)
    torn = sum(code in (IssueCode.E_TORN_LINE, IssueCode.E_BAD_LINE) for code in errors)
    return TrustParts(
        rows=sums.rows + len(view.coarse),
        observed=said,
        placeholder=sums.placeholder_out,
        no_output=sums.no_out - covered + len(view.coarse) - coarse_out,
        no_prompt=view.prompts.count(None) - covered,
        bad_lines=max(bad, torn),
        unread=sum(code in _UNREAD for code in errors),
        unopened=sum(code in _UNOPENED for code in errors),
        missing_parents=len(parents),
        unpriced=unpriced,
        other_errors=sum(code not in _COUNTED for code in errors),
    )
