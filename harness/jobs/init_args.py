"""Whether the arguments that ``init`` was given fit a function, read from its source; and some that do, to type.

Refuses what is no plain value: what is written into a probe must mean the same there.
"""

from __future__ import annotations

import ast
import inspect

__all__ = ["InitError", "require_fit"]

_VALUES = {
    "int": "3", "float": "0.5", "str": "'x'", "bytes": "b'x'", "bool": "True",
    "list": "[3, 1, 2]", "sequence": "[3, 1, 2]", "iterable": "[3, 1, 2]", "collection": "[3, 1, 2]",
    "tuple": "(3, 1)", "set": "{3, 1}", "dict": "{'x': 3}", "mapping": "{'x': 3}",
}  # fmt: skip
"""A plain value of an annotated type, for an example to type."""


class InitError(Exception):
    """The project cannot be set up; one sentence that ends with the next command."""


def require_fit(node: ast.FunctionDef | ast.AsyncFunctionDef, arguments: str, reference: str) -> None:
    """Refuse arguments that are no plain values or do not fit the signature; the sentence ends with some that do.

    Raises:
        InitError: they do not.
    """
    signature = _signature(node.args)
    example = f"python -m harness init {reference} --args {_quoted(_example(node.args))}"
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
    except SyntaxError:
        call = None
    if not isinstance(call, ast.Call):
        raise InitError(f"--args {arguments!r} are no arguments of a call; quote them, as in: {example}")
    for value in [*call.args, *(word.value for word in call.keywords)]:
        try:
            ast.literal_eval(value)
        except ValueError:
            raise InitError(f"--args takes plain values only, not {ast.unparse(value)!r}, as in: {example}") from None
    try:
        signature.bind(*call.args, **{str(word.arg): word.value for word in call.keywords})
    except TypeError as error:
        wanted = ", ".join(name for name, each in signature.parameters.items() if _required(each))
        needs = f"{reference} needs {wanted}" if wanted and not arguments else f"{reference}{signature}: {error}"
        raise InitError(f"{needs}. Give values that fit, as in: {example}") from None


def _signature(args: ast.arguments) -> inspect.Signature:
    """The signature, with None for every default."""
    kinds = inspect.Parameter
    plain = [*args.posonlyargs, *args.args]
    optional = len(plain) - len(args.defaults)
    made = [
        kinds(
            each.arg,
            kinds.POSITIONAL_ONLY if at < len(args.posonlyargs) else kinds.POSITIONAL_OR_KEYWORD,
            default=kinds.empty if at < optional else None,
        )
        for at, each in enumerate(plain)
    ]
    made += [kinds(args.vararg.arg, kinds.VAR_POSITIONAL)] if args.vararg else []
    made += [
        kinds(each.arg, kinds.KEYWORD_ONLY, default=kinds.empty if default is None else None)
        for each, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)
    ]
    made += [kinds(args.kwarg.arg, kinds.VAR_KEYWORD)] if args.kwarg else []
    return inspect.Signature(made)


def _required(parameter: inspect.Parameter) -> bool:
    several = (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    return parameter.default is parameter.empty and parameter.kind not in several


def _example(args: ast.arguments) -> str:
    """Arguments that fit the signature, with a value of the annotated type for each that is required."""
    annotated = {
        each.arg: ast.unparse(each.annotation) if each.annotation is not None else ""
        for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)
    }
    words = []
    for name, parameter in _signature(args).parameters.items():
        if _required(parameter):
            value = _VALUES.get(annotated[name].partition("[")[0].lower(), "3")
            words.append(value if parameter.kind is parameter.POSITIONAL_ONLY else f"{name}={value}")
    return ", ".join(words) or "3, 'x'"


def _quoted(text: str) -> str:
    return f'"{text}"'
