"""The seam ``syscall/hook``: one decision from a line of JSON to a line of JSON, for a process started for it.

The same chain as in process; only the way in and out is added. What is judged are the bytes of the arguments as they
stand in the line: read and written anew they would be another text, and without its twin keys. It starts no process
itself, and imports only what a decision needs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from seams.contract import Engine
from seams.contract.arguments import no_twins
from seams.contract.syscall import ToolCall, Verdict
from seams.syscall.decide import Decider, chain_of
from seams.syscall.fold import Chain, kind_name
from seams.syscall.policy import Policy
from seams.syscall.reasons import reason_name
from seams.syscall.worlds import world_named

__all__ = ["HookInputError", "chain_for", "decide_line", "offer", "read_call", "verdict_line"]


_DECODER = json.JSONDecoder()
_STRICT = json.JSONDecoder(object_pairs_hook=no_twins)
_space = re.compile(r"[ \t\n\r]*").match


class HookInputError(ValueError):
    """The text is no call."""


def chain_for(world: str, policy: Policy | None = None) -> Chain:
    """The chain of that world, with ``policy`` in place of its own where one is given."""
    return chain_of(world_named(world), policy)


def read_call(text: bytes) -> ToolCall:
    """A call from ``{"tool": str, "args": any JSON, "meta": {str: str}}`` in UTF-8; the last two may be left out.

    The call has the very bytes of ``args``.

    Raises:
        HookInputError: it is something else, or has a key twice outside of ``args``.
    """
    try:
        given = no_twins(list(_members(text.decode("utf-8-sig", "surrogatepass"))))
        tool, meta = (_STRICT.decode(given[key]) if key in given else None for key in ("tool", "meta"))
    except (ValueError, RecursionError) as error:
        raise HookInputError(f"The call on standard input is not JSON: {error}.") from error
    if not isinstance(tool, str):
        raise HookInputError('The call on standard input must be an object with "tool" as text.')
    meta = meta or {}
    if not isinstance(meta, dict) or not all(isinstance(value, str) for value in meta.values()):
        raise HookInputError('The "meta" of the call on standard input must map text to text.')
    return ToolCall(tool, given.get("args", "").encode("utf-8", "surrogatepass"), meta)


def _members(text: str) -> Iterator[tuple[str, str]]:
    """The keys of an object, and the text of each value as it stands there; none of any other JSON."""
    at = _end_of_space(text, 0)
    if not text.startswith("{", at):
        _DECODER.decode(text)
        return
    at = _end_of_space(text, at + 1)
    more = not text.startswith("}", at)
    while more:
        if not text.startswith('"', at):
            raise json.JSONDecodeError("A key in double quotes was expected", text, at)
        key, at = _DECODER.raw_decode(text, at)
        at = _past(":", text, at)
        _, end = _DECODER.raw_decode(text, at)
        yield key, text[at:end]
        at = _end_of_space(text, end)
        more = text.startswith(",", at)
        if more:
            at = _end_of_space(text, at + 1)
    if _past("}", text, at) != len(text):
        raise json.JSONDecodeError("There is more behind the object", text, at)


def _past(mark: str, text: str, at: int) -> int:
    """The place of the next word behind ``mark``, which has to come next."""
    at = _end_of_space(text, at)
    if not text.startswith(mark, at):
        raise json.JSONDecodeError(f"A {mark} was expected", text, at)
    return _end_of_space(text, at + 1)


def _end_of_space(text: str, at: int) -> int:
    found = _space(text, at)
    return at if found is None else found.end()


def verdict_line(verdict: Verdict) -> str:
    """``{"kind", "reason", "by"}`` on one line."""
    named = {"kind": kind_name(verdict.kind), "reason": reason_name(verdict.reason), "by": verdict.by}
    return json.dumps(named, ensure_ascii=False)


def decide_line(chain: Chain, text: bytes) -> str:
    """One call in, one verdict out.

    Raises:
        HookInputError: ``text`` is no call.
    """
    return verdict_line(chain.fold(read_call(text)))


def offer(engine: Engine) -> Decider | None:
    """The in-process decision that the spawned one must repeat; only ``none`` is answered."""
    return Decider(chain_for("default")) if engine == "none" else None
