"""Ten edits that must not cost time: what a gate has to stay quiet about, made by rule so that nobody picks them.

An edit takes the source of a module and gives it back changed, with the same behaviour. Refuses a module that offers
no place for the edit, and never gives back what does not compile. The tenth, a longer path, changes no source.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Callable, Iterator
from itertools import pairwise

__all__ = ["EDITS", "LONGER_PATH", "Inapplicable", "edited"]

LONGER_PATH = "longer path"
"""The head lies in a folder with a longer name; its sources are the same."""

Tree = ast.Module
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Inapplicable(ValueError):  # noqa: N818 - an answer about a module, not a fault
    """The module has no place for this edit."""


def _top(source: str) -> int:
    """The line (from 0) after the imports at the top of a module: new statements go there."""
    last = 0
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import | ast.ImportFrom) or (last == 0 and isinstance(node, ast.Expr)):
            last = node.end_lineno or node.lineno
        else:
            break
    return last


def _lines(source: str) -> list[str]:
    """The lines as the parser counts them: a form feed ends none."""
    return list(io.StringIO(source))


def _with_lines(source: str, at: int, *added: str) -> str:
    lines = _lines(source)
    return "".join([*lines[:at], *(f"{line}\n" for line in added), *lines[at:]])


def _docstring(source: str) -> str:
    first = next(iter(ast.parse(source).body), None)
    if not (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    ):
        raise Inapplicable("the module has no docstring")
    line = (first.end_lineno or first.lineno) - 1
    lines = _lines(source)
    head, quotes, tail = lines[line].rpartition('"""')
    if not quotes:
        raise Inapplicable("the docstring is quoted in another way")
    lines[line] = f"{head}\n\nOne sentence more, which is read by people only.\n{quotes}{tail}"
    return "".join(lines)


def _comment(source: str) -> str:
    return _with_lines(source, _top(source), "# A comment, which is no code.", "# And a second line of it.")


def _blank_lines(source: str) -> str:
    return _with_lines(source, _top(source), *[""] * 7)


def _unused_import(source: str) -> str:
    return _with_lines(source, _top(source), "import string")


def _unused_constant(source: str) -> str:
    return _with_lines(source, _top(source), "_NEVER_READ = (1, 2, 3)")


def _unused_function(source: str) -> str:
    return _with_lines(source, _top(source), "def _never_called(value: int) -> int:", "    return value + 1")


def _unused_class(source: str) -> str:
    return _with_lines(source, _top(source), "class _NeverMade:", '    """Nobody makes one."""', "    kind = 1")


def _functions(tree: Tree) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _locals(function: Function) -> Iterator[str]:
    """Names that are bound in ``function`` alone: not parameters, and not shared with a scope inside or around."""
    inner = [node for node in ast.walk(function) if isinstance(node, ast.Global | ast.Nonlocal)]
    taken = {arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)}
    if not inner:
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in taken:
                taken.add(node.id)
                yield node.id


def _renamed_local(source: str) -> str:
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    for function in _functions(ast.parse(source)):
        first, last = function.lineno, function.end_lineno or function.lineno
        for name in _locals(function):
            named = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
            places = [t for t in tokens if t.type == tokenize.NAME and t.string == name and first <= t.start[0] <= last]
            # As many tokens as names: then none is an attribute, a keyword, or inside a string.
            if len(named) == len(places):
                lines = _lines(source)
                for token in sorted(places, key=lambda found: found.start, reverse=True):
                    row, column = token.start[0] - 1, token.start[1]
                    lines[row] = f"{lines[row][:column]}{name}_renamed{lines[row][column + len(name) :]}"
                return "".join(lines)
    raise Inapplicable("no function has a local name that can be renamed by tokens")


def _plain(node: ast.stmt) -> bool:
    """A function whose definition runs nothing: its place in the module does not matter."""
    if not isinstance(node, ast.FunctionDef) or node.decorator_list:
        return False
    defaults = [each for each in (*node.args.defaults, *node.args.kw_defaults) if each is not None]
    return all(isinstance(default, ast.Constant | ast.Name) for default in defaults)


def _moved_function(source: str) -> str:
    body = ast.parse(source).body
    lines = _lines(source)
    for one, other in pairwise(body):
        if _plain(one) and _plain(other):
            start, middle, end = one.lineno - 1, other.lineno - 1, other.end_lineno
            swapped = [*lines[middle:end], "\n", "\n", *lines[start : one.end_lineno], *lines[end:]]
            return "".join([*lines[:start], *swapped])
    raise Inapplicable("no two functions stand beside each other")


EDITS: dict[str, Callable[[str], str]] = {
    "docstring": _docstring,
    "unused import": _unused_import,
    "renamed local": _renamed_local,
    "moved function": _moved_function,
    "unused class": _unused_class,
    LONGER_PATH: lambda source: source,
    "comment": _comment,
    "blank lines": _blank_lines,
    "unused constant": _unused_constant,
    "unused function": _unused_function,
}
"""The edits by name; the first six are those that people make most."""


def edited(source: str, edit: str) -> str:
    """``source`` after the edit; it compiles.

    Raises:
        Inapplicable: the module has no place for it.
        KeyError: there is no such edit.
    """
    make = EDITS[edit]
    try:
        changed = make(source)
        compile(changed, "<edited>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, tokenize.TokenError) as error:
        raise Inapplicable(str(error)) from error
    return changed
