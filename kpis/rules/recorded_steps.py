"""A recorded run as trajectories: one step a call, thread by thread, in the order in which it was made.

What is left out: calls that another run or thread counts already, and those of a branch that was taken back, which led
nowhere. A step holds no text. Refuses to guess how a call ended: only the recording's own word is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Outcome, ToolCall

__all__ = ["Ending", "Step", "steps_of"]


class Ending(Enum):
    """How a call ended, as far as a rule asks."""

    WORKED = "worked"
    FAILED = "failed"
    STOPPED = "stopped"  # a person refused or broke it off: no failure of the tool, and no success
    UNKNOWN = "unknown"


_ENDINGS = {
    Outcome.OK: Ending.WORKED,
    Outcome.ERROR: Ending.FAILED,
    Outcome.TIMEOUT: Ending.FAILED,
    Outcome.DENIED: Ending.STOPPED,
    Outcome.INTERRUPTED: Ending.STOPPED,
    Outcome.UNANSWERED: Ending.UNKNOWN,
    Outcome.ORPHAN: Ending.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class Step:
    """One call. ``given`` and ``got`` are the digests of its arguments and its result; what is None is not recorded.

    ``outcome`` is the recording's word for ``ending``, ``waits`` whether the tool is one that is asked again and again
    until something has happened. ``file`` and ``line`` say where the call stands, ``began`` and ``ended`` when it was
    made and answered, in Unix milliseconds.
    """

    thread: str
    tool: str | None
    given: str | None
    got: str | None
    ending: Ending
    outcome: str
    waits: bool
    file: str | None
    line: int | None
    began: int | None = None
    ended: int | None = None

    @property
    def name(self) -> str:
        """The tool, for people."""
        return self.tool or "(unnamed)"

    @property
    def asked(self) -> tuple[str, str, str] | None:
        """What was asked of which tool in which thread; None where the recording does not say it all."""
        if self.tool is None or self.given is None:
            return None
        return self.thread, self.tool, self.given


def steps_of(run: RecordedRun) -> tuple[Step, ...]:
    """The steps of ``run``, each thread's together."""
    return tuple(_step(call) for call in run.calls if call.in_conversation and not call.copied)


def _step(call: ToolCall) -> Step:
    ending, outcome = _ENDINGS[call.outcome], call.outcome.value
    if ending is Ending.WORKED and call.exit_code:  # the client is content, since it ran; its code is a word as well
        ending, outcome = Ending.FAILED, f"exit code {call.exit_code}"
    return Step(
        call.thread_id,
        call.name,
        call.arg_digest,
        call.result_digest,
        ending,
        outcome,
        bool(call.polling),
        call.file,
        call.line,
        call.t_start,
        call.t_end,
    )
