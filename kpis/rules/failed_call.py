"""Did a call of a trajectory fail, by its own word: an error text, an exit code, a status, or an answer that begins so.

What the call was for is not known here: a search that finds nothing has not failed, and a command that prints the word
error in its second line has not either.
"""

from __future__ import annotations

import re

from kpis.rules.utf16 import SPACE, trimmed
from kpis.terms.evaluation import ToolCall

__all__ = ["failed"]

_HEAD = 400
"""Characters of an answer in which its first line is looked for."""

_NAME = 60
"""Characters that the name of an exception before its colon may have."""

_WHITE = re.compile(SPACE)
_PREFIXES = (
    "error:",
    "error -",
    "error!",
    "fatal:",
    "fatal error",
    "exception:",
    "traceback (most recent call last)",
    "panic:",
    "uncaught ",
    "unhandled ",
    "segmentation fault",
)
_PHRASES = (
    "no such file or directory",
    "command not found",
    "permission denied",
    "operation not permitted",
    "cannot access",
    "cannot find",
    "is not recognized as an internal or external command",
    "connection refused",
    "no such table",
)


def failed(call: ToolCall, *, snake_case: bool = True) -> str | None:
    """What shows that the call failed, in a few words; None when nothing does.

    ``snake_case``: an answer that says ``is_error`` says so as well as one with ``isError``.
    """
    if isinstance(call.error, str) and trimmed(call.error):
        return trimmed(call.error)
    if isinstance(call.output, str):
        return _failed_text(call.output)
    return _failed_object(call.output, snake_case=snake_case) if isinstance(call.output, dict) else None


def _failed_text(output: str) -> str | None:
    line = next((trimmed(line) for line in output[:_HEAD].split("\n") if trimmed(line)), "").lower()
    name, colon, _ = line.partition(":")
    thrown = colon and len(name) <= _NAME and name.endswith(("error", "exception")) and not _WHITE.search(name)
    if thrown or line.startswith(_PREFIXES) or any(phrase in line for phrase in _PHRASES):
        return line
    return None


def _failed_object(output: dict[str, object], *, snake_case: bool) -> str | None:
    for key in ("error", "stderr"):
        value = output.get(key)
        if trimmed(value) if isinstance(value, str) else value is not None and value is not False:
            return trimmed(value) if isinstance(value, str) else key
    for key in ("ok", "success"):
        if output.get(key) is False:
            return f"{key} is false"
    for key in ("isError", "is_error") if snake_case else ("isError",):
        if output.get(key) is True:
            return key
    status = output.get("status")
    if isinstance(status, str) and status.lower() in {"error", "failed", "failure"}:
        return f"status {status}"
    for key in ("exit_code", "exitCode", "returncode"):
        code = output.get(key)
        if isinstance(code, int | float) and not isinstance(code, bool) and code != 0:
            return f"{key} {code}"
    return None
