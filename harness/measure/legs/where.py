"""The worker's part of "where it got slower": which code a slice executes, how often, and for how many opcodes.

A fixed number of calls is profiled (about 20 times as slow) and then traced by opcode (about 60 times), so no clock
is read here and nothing is compared; ``harness.judge.where`` does that. Code is known by file and qualified name and
never by line, so that a function that only moved is the same function. Before Python 3.12 the opcodes of other
threads are not seen. Standard library only.
"""

from __future__ import annotations

import dis
import gc
import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path
from types import CodeType
from typing import Any

from harness.measure.legs.executed import Calls, Codes, Opcodes
from harness.measure.legs.rounds import WARM, Round, roots_of, shown
from harness.measure.opening import close, open_slice

__all__ = ["LOOPS", "digest", "run"]

LOOPS = 32
"""Calls in a round, where the job does not say: a call of 1 ms, traced 60 times as slow, then takes 2 s in all."""

_OURS = str(Path(__file__).parent)
_ENDED = "sys.setprofile"
"""The call that ends the counting is itself counted, and is not the slice's."""


def run(job: Mapping[str, Any]) -> dict[str, Any]:
    """Count over ``loops`` calls, or LOOPS where the job does not say; both sides must share them.

    The answer: ``loops``; ``functions`` by ``file:qualified name``, each with ``line``, ``calls`` and ``opcodes`` a
    call of the slice, ``digest`` (None for code outside the project) and ``set_up`` (executed there only);
    ``builtins``, calls of each C callable a call of the slice; ``scatter``, for what a second round called more or
    less often (a poll does, as time goes), by how much.
    """
    calls, opcodes = Calls(), Opcodes()
    loops, estimand = job.get("loops", LOOPS), job["estimand"]
    with calls:
        opened = open_slice(job)
        gc.disable()
        Round(opened, estimand, WARM).run()
    try:
        set_up, _ = calls.take()
        Round(opened, estimand, loops).run(calls)
        called, builtin = calls.take()
        Round(opened, estimand, loops).run(calls)
        called_again, builtin_again = calls.take()
        Round(opened, estimand, loops).run(opcodes)
    finally:
        close(opened)
    functions = _Functions(roots_of(job))
    functions.add(called, "calls", loops)
    scatter = _apart(functions.named(called), functions.named(called_again)) | _apart(builtin, builtin_again)
    functions.add(opcodes.python, "opcodes", loops)
    functions.add(set_up, None, loops)
    return {
        "loops": loops,
        "functions": functions.described(),
        "builtins": {name: times / loops for name, times in sorted(builtin.items()) if name != _ENDED},
        "scatter": {name: times / loops for name, times in sorted(scatter.items())},
    }


def _apart(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, int]:
    names = first.keys() | second.keys()
    return {each: apart for each in names if (apart := abs(first.get(each, 0) - second.get(each, 0)))}


class _Functions:
    """What is known of each function, merged by name: two lambdas of one function are one entry."""

    def __init__(self, roots: list[Path]) -> None:
        self._roots = roots
        self._entries: dict[str, dict[str, Any]] = {}
        self._digests: dict[str, set[str]] = {}

    def add(self, codes: Codes, quantity: str | None, loops: int) -> None:
        """Add the counts as ``quantity``; with None note what is new as code of the set-up, inside the roots only."""
        for key, code in codes.met.items():
            if code.co_filename.startswith(_OURS):
                continue
            file, inside = shown(code.co_filename, self._roots, sys.path)
            name = f"{file}:{code.co_qualname}"
            if quantity is None and (not inside or not self._entries.get(name, {"set_up": True})["set_up"]):
                continue
            entry = self._entries.setdefault(
                name, {"line": code.co_firstlineno, "calls": 0.0, "opcodes": 0.0, "set_up": quantity is None}
            )
            entry["line"] = min(entry["line"], code.co_firstlineno)
            if quantity is not None:
                entry[quantity] += codes.times[key] / loops
            if inside:
                self._digests.setdefault(name, set()).add(digest(code))

    def named(self, codes: Codes) -> dict[str, int]:
        """The counts by name alone."""
        found: dict[str, int] = {}
        for key, code in codes.met.items():
            if not code.co_filename.startswith(_OURS):
                name = f"{shown(code.co_filename, self._roots, sys.path)[0]}:{code.co_qualname}"
                found[name] = found.get(name, 0) + codes.times[key]
        return found

    def described(self) -> dict[str, dict[str, Any]]:
        """Every entry with its digest, sorted by name."""
        found = {}
        for name in sorted(self._entries):
            digests = sorted(self._digests.get(name, ()))
            whole = hashlib.sha256("".join(digests).encode()).hexdigest()[:16] if digests else None
            found[name] = {**self._entries[name], "digest": whole}
        return found


def digest(code: CodeType) -> str:
    """What ``code`` does, as 16 hexadecimal digits: its instructions with their constants and names resolved.

    Resolved, so that what does nothing does not count: a docstring, the name of a local, a line number, the order
    of the constants. Code nested in it stands for itself under its own name.
    """
    told: list[object] = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_exceptiontable]
    for each in dis.get_instructions(code):
        if each.opcode in dis.haslocal or each.opcode in dis.hasfree:
            told.append((each.opname, each.arg))
        elif each.opcode in dis.hasconst:
            told.append((each.opname, _plain(each.argval)))
        else:
            told.append((each.opname, each.argval))
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]


def _plain(constant: object) -> object:
    """A constant in a form whose repr is the same in every process."""
    if isinstance(constant, CodeType):
        return f"code {constant.co_qualname}"
    if isinstance(constant, tuple):
        return tuple(_plain(each) for each in constant)
    if isinstance(constant, frozenset):
        return ("frozenset", sorted(repr(_plain(each)) for each in constant))
    return constant
