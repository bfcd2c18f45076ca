"""Which calls could send or destroy, by the instrument's own reading of a name and of arguments.

A live trace may refuse such a call for what came before it, which a single decision cannot know; so much may be excused
of a decision, and no more. The lists rather name too much, and are not the runtime's: one that widened its own could
otherwise excuse itself.
"""

from __future__ import annotations

import json
import re
from typing import Any

from seams.contract.syscall import ToolCall

__all__ = ["could_be_late"]

_DESTROYS = ("delete", "remove", "rm_", "drop", "truncate", "destroy", "purge", "wipe")
_SENDS = (
    *("send", "email", "http", "post", "fetch", "upload", "webhook", "publish", "exfil", "tweet", "slack"),
    *("notify", "forward", "sms", "request", "curl", "wget"),
)
_TO_A_PERSON = ("transfer_to_human", "transfer_to_human_agents")

_DOTS = str.maketrans("\u3002\uff0e\uff61", "...")
_SPLIT = re.compile(r"[\s,;<>\"'()]+").split
_ADDRESS = re.compile(
    r"\S*//\S+|[^\s@]+@[^\s@]+|(?:localhost|\[[0-9a-f:.]+\]|[\w-]+(?:\.[\w-]+)+\.?)(?::\d+)?(?:/\S*)?", re.IGNORECASE
).fullmatch


def could_be_late(call: ToolCall) -> bool:
    """Whether the call sends or destroys by its name, or has an address anywhere in arguments that can be read."""
    tool = call.tool.lower()
    if any(needle in tool for needle in _DESTROYS):
        return True
    if tool in _TO_A_PERSON:
        return False
    if any(needle in tool for needle in _SENDS):
        return True
    try:
        waiting: list[Any] = [json.loads(call.args)]
    except (ValueError, RecursionError):
        return False
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, str) and any(map(_ADDRESS, _SPLIT(value.translate(_DOTS)))):
            return True
    return False
