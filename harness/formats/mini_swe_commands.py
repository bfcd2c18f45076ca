"""The commands in an answer of mini-swe-agent, and what became of them.

Version 1 writes a command as a fenced block and refuses an answer that holds any number of blocks but one; version 1.1
records the actions that it took, or leaves the tool calls to say so. This module refuses to run or expand anything.
"""

from __future__ import annotations

import re
from typing import Any

from harness.formats.openai_answer import Answer, MadeCall, message_calls
from harness.formats.whole_json import as_dict, as_int, as_list, as_str
from kpis.terms.trace import Outcome

__all__ = ["FENCES", "commands_of", "ending_of"]

FENCES = ("```mswea_bash_command", "```bash")
"""How a block begins, in the newer and in the older version."""

_CODE = re.compile(r"<returncode>\s*+(-?\d{1,9})\s*+</returncode>")
_TIMED_OUT = "The last command <command>"


def ending_of(text: str, recorded: Any) -> tuple[Outcome, int | None]:
    """What a result says of its command, and the exit code: ``recorded`` apart, else the tag in its text."""
    code = as_int(recorded)
    if code is None and (found := _CODE.search(text)) is not None:
        code = int(found[1])
    if code is None and text.startswith(_TIMED_OUT):
        return Outcome.TIMEOUT, None
    return (Outcome.ERROR if code else Outcome.OK), code


def commands_of(message: dict[str, Any], answer: Answer, extra: dict[str, Any], text: str) -> list[MadeCall]:
    """The commands of an answer that were run."""
    actions = [as_dict(each) for each in as_list(extra.get("actions"))]
    ran = [
        MadeCall("bash", {"command": action["command"]}, as_str(action.get("tool_call_id")))
        for action in actions
        if as_str(action.get("command"))
    ]
    made = ran or list(message_calls(message)) or answer.calls
    blocks = [] if made else _blocks(text)
    return made if len(blocks) != 1 else [MadeCall("bash", {"command": blocks[0]}, None)]


def _blocks(text: str) -> list[str]:
    """The fenced commands of an answer, found in one pass: what is open at the end is none."""
    fence = next((each for each in FENCES if each in text), None)
    found: list[str] = []
    at = -1 if fence is None else text.find(fence)
    while fence is not None and at >= 0:
        start = text.find("\n", at + len(fence))
        end = text.find("\n```", start) if start >= 0 else -1
        if end < 0:
            break
        if not text[at + len(fence) : start].strip():
            found.append(text[start + 1 : end].strip())
        at = text.find(fence, end + 4)
    return found
