"""An engine that knows every tool and does none: it echoes the call, deterministically, and reports tokens.

The token counts are a rule over lengths, there to be summed and compared; they are no model of any tokenizer.
"""

from __future__ import annotations

import json

from seams.contract.syscall import Result, ToolCall
from seams.contract.verdict import Status

__all__ = ["MockEngine"]

_ECHOED = 256
_quote = json.JSONEncoder(ensure_ascii=False).encode


class MockEngine:
    """Completes every call; ``completed`` counts them."""

    __slots__ = ("completed",)

    def __init__(self) -> None:
        self.completed = 0

    def complete(self, call: ToolCall) -> Result:
        """``{"tool": ..., "echo": <the first 256 bytes of the arguments>, "ok": true}``.

        ``input_tokens`` is 50 + a quarter of the arguments' bytes, ``output_tokens`` a quarter of the body's, both
        rounded down.
        """
        self.completed += 1
        echo = call.args[:_ECHOED].decode(errors="replace")
        body = f'{{"tool":{_quote(call.tool)},"echo":{_quote(echo)},"ok":true}}'.encode("utf-8", "replace")
        tokens = {"input_tokens": str(50 + len(call.args) // 4), "output_tokens": str(len(body) // 4)}
        return Result(Status.OK, body, tokens)
