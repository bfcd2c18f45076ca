"""Run as a script by ``init``: calls one function twice and says what a check of its result could be.

Arguments: the folders of the path (joined as a path), the module, the name, the arguments of the call, and the file
that takes the answer, a JSON object. Standard library only; it runs in a process of its own because it runs somebody
else's code. A call that raises is an answer.
"""

from __future__ import annotations

import ast
import asyncio
import importlib
import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any

LONGEST = 60
"""Characters of a result that is written into a probe: beyond, nobody reads it."""


def main(path: str, module: str, name: str, arguments: str, out: str) -> None:
    """Write ``{"shown": [repr, repr], "equal": bool, "plain": bool}``, or ``{"failed": sentence}``."""
    sys.path[:0] = path.split(os.pathsep)
    try:
        function = getattr(importlib.import_module(module), name)
        call = ast.parse(f"f({arguments})", mode="eval").body
        if not isinstance(call, ast.Call):
            raise TypeError(f"{arguments!r} are no arguments")

        def once() -> Any:
            # Afresh for each call: a list that the function changes must not be its next argument.
            words = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
            made = function(*map(ast.literal_eval, call.args), **words)
            return asyncio.run(made) if inspect.iscoroutine(made) else made

        first = once()
        shown = [repr(first)]
        second = once()
        shown.append(repr(second))
        answer = {"shown": shown, "equal": _equal(first, second), "plain": _plain(first)}
    except BaseException as error:
        said = next(iter(str(error).splitlines()), "")[:200]
        answer = {"failed": f"{type(error).__name__}: {said}" if said else type(error).__name__}
    Path(out).write_text(json.dumps(answer), encoding="utf-8")


def _equal(first: object, second: object) -> bool:
    try:
        return first is not None and bool(first == second)
    except Exception:
        return False  # an array, say, whose equality is no yes or no


def _plain(result: object) -> bool:
    """Whether the result can stand in a probe as it is: short, its own text, and without a float."""
    text = repr(result)
    try:
        same = len(text) <= LONGEST and ast.literal_eval(text) == result
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    # The last digit of a float may be another one on the next machine.
    numbers = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)) if same else ()
    return same and not any(isinstance(number, float | complex) for number in numbers)


if __name__ == "__main__":
    main(*sys.argv[1:])
