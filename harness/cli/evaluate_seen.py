"""What ``evaluate`` has seen so far: how many cases of each kind, what could not be read, and the exit code."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from harness.cli.exits import Exit, highest
from harness.cli.streams import say

if TYPE_CHECKING:
    from harness.jobs.evaluate import Answer

__all__ = ["Seen"]


class Seen:
    """How many cases there were of each kind, and the first line that was none."""

    def __init__(self) -> None:
        self.cases = 0
        self._states: dict[Any, int] = {}
        self._first_bad: str | None = None
        self._faults = 0
        self._first_fault: Exception | None = None

    def add(self, answer: Answer) -> None:
        """Count one answer."""
        self.cases += 1
        self._states[answer.state] = self._states.get(answer.state, 0) + 1
        if answer.fault is not None:
            self._faults += 1
            self._first_fault = self._first_fault or answer.fault
        elif answer.state is None and self._first_bad is None:
            self._first_bad = answer.document["error"]

    def end(self, name: str) -> Exit:
        """What all of it says to the shell; what was left out is told."""
        from kpis.terms.claim import VerdictState

        bad = self._states.get(None, 0) - self._faults
        if not self.cases:
            say(f"{name} holds no case. Write one JSON object a line, then: python -m harness evaluate FILE")
            return Exit.UNCOVERED
        if bad:
            say(f"{bad:,} of {self.cases:,} lines could not be read and say so in their place. {self._first_bad}")
        if self._first_fault is not None:
            import traceback

            with suppress(OSError):
                traceback.print_exception(self._first_fault)
            say(
                f"For {self._faults:,} of {self.cases:,} lines loopladder itself broke, and they say so in their "
                "place; the others have their answers. This is a fault of loopladder, not of your input."
            )
            return Exit.INTERNAL
        if bad == self.cases:
            return Exit.UNUSABLE
        codes = [
            code
            for state, code in (
                (VerdictState.FAIL, Exit.FAILED),
                (VerdictState.UNKNOWN, Exit.UNKNOWN),
                (None, Exit.PARTLY_READ),
            )
            if self._states.get(state)
        ]
        return highest(codes)
