"""What a worker answered, as values: a result, or undefined with a reason, and how it ended.

Refuses to take for a result what cannot be read, and to raise for what a probe does: both are values of the answer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from harness.measure.heard import MOST_ANSWER, Heard

__all__ = ["Answer", "read_answer"]


@dataclass(slots=True)
class Answer:
    """What came of one worker. ``undefined`` is (reason, detail) where no result came.

    ``notices`` are sentences about how the worker ended: not by itself, with an error, or leaving processes behind.
    """

    result: dict[str, Any] = field(default_factory=dict)
    undefined: tuple[str, str] | None = None
    printed: int = 0
    output: str = ""
    seconds: float = 0.0
    notices: list[str] = field(default_factory=list)


def read_answer(answer: Answer, heard: Heard, code: int, limit: float) -> None:
    """Put into ``answer`` what was ``heard`` of a worker that ended with ``code``, within ``limit`` seconds or not."""
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit status {code}"
    if heard.line is None:
        if heard.flooded:
            answer.undefined = ("bad-value", f"Its answer is longer than {MOST_ANSWER >> 20} MiB.")
        elif heard.late:
            answer.undefined = ("timeout", f"It did not end within its limit of {limit:.1f} s.")
        else:
            strange = "; something else wrote to the pipe for its answer" if heard.strange else ""
            answer.undefined = ("crashed", f"Its worker {how} before it answered{strange}.")
        return
    if heard.lingers:
        answer.notices.append(
            "The worker had answered and did not end by itself (a thread or a close() that hangs?); it was ended."
        )
    elif code:
        answer.notices.append(f"The worker {how} after it had answered.")
    try:
        result = json.loads(heard.line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        answer.undefined = ("crashed", f"Its worker answered what cannot be read: {str(error)[:200]}.")
        return
    if not isinstance(result, dict):
        answer.undefined = ("crashed", "Its worker answered what is no answer.")
        return
    refused = result.get("undefined")
    if refused is not None:
        words = [refused.get(name) for name in ("reason", "detail")] if isinstance(refused, dict) else [None]
        if not all(isinstance(word, str) for word in words):
            answer.undefined = ("crashed", "Its worker answered undefined without a reason.")
            return
        answer.undefined = (refused["reason"], refused["detail"])
        answer.output += str(result.get("traceback", ""))
    answer.result = result


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")
