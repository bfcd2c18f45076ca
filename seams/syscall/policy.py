"""A policy as data: what is allowed, denied, redacted and protected. Whatever it does not name is refused.

A frozen value, read from TOML or JSON text, so that users keep policies in files. It decides nothing; the monitor
does. An unknown key, type or reason is an error that names the file: a policy that is half understood must not load.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from seams.contract.arguments import no_twins
from seams.contract.verdict import ReasonCode
from seams.syscall.patterns import PatternError, glob_matcher, regex_finder
from seams.syscall.reasons import UnknownReasonError, reason_code

__all__ = ["Policy", "PolicyError", "Predicate", "parse_policy"]


class PolicyError(ValueError):
    """The text is no policy; the sentence names the file and the key."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A restriction of one argument of one tool; it refuses and never allows. An absent argument passes.

    ``allow_globs``: the value, as a normalised path with slashes for backslashes, must match one of them (``*`` crosses
    slashes). ``deny_regex``, in the syntax of RE2: must not be found in it. ``max_bytes``: its longest length in UTF-8.
    A value that is no string is judged as its compact JSON text, and matches no glob.
    """

    tool: str
    arg: str
    allow_globs: tuple[str, ...] = ()
    deny_regex: str | None = None
    max_bytes: int | None = None
    reason: int = ReasonCode.POLICY_BLOCK


@dataclass(frozen=True, slots=True)
class Policy:
    """``deny`` maps a tool to the code of its reason; ``protected`` are path fragments no write may name.

    A protected one that ends in a slash is a folder, and named without the slash as well. ``redact`` are names of
    arguments, in any case and at any depth. What is said of an argument ``x`` holds for ``named:x`` too.

    Where rules overlap, the one that refuses wins: a ``deny`` over ``allow`` and over every prefix, a predicate over
    both. Every predicate on a tool must hold; the first that does not, in the order of the file, gives the reason.
    """

    allow: frozenset[str] = frozenset()
    allow_prefixes: tuple[str, ...] = ()
    deny: Mapping[str, int] = field(default_factory=dict)
    redact: frozenset[str] = frozenset()
    protected: tuple[str, ...] = ()
    predicates: tuple[Predicate, ...] = ()


def parse_policy(text: str, filename: str) -> Policy:
    """Read a policy from TOML, or from JSON where the name ends in ``.json`` or the text begins with a brace.

    The keys are those of :class:`Policy`: lists of strings, ``deny`` as a table ``tool = "REASON"``, and
    ``predicates`` as a list of tables with the keys of :class:`Predicate`.

    Raises:
        PolicyError: the text does not parse, or holds what a policy does not have.
    """
    loaded = _load(text, filename)
    _refuse_unknown(loaded, Policy, filename, "the policy")
    return Policy(
        allow=frozenset(_strings(loaded, "allow", filename)),
        allow_prefixes=_strings(loaded, "allow_prefixes", filename),
        deny={tool: _reason(name, filename) for tool, name in _table(loaded, "deny", filename).items()},
        redact=frozenset(_strings(loaded, "redact", filename)),
        protected=_strings(loaded, "protected", filename),
        predicates=tuple(_predicate(each, filename) for each in _list(loaded, "predicates", filename)),
    )


def _load(text: str, filename: str) -> dict[str, Any]:
    try:
        if filename.endswith(".json") or text.lstrip().startswith("{"):
            loaded = json.loads(text, object_pairs_hook=no_twins)  # as TOML would have it
        else:
            import tomllib  # only here: a hook that needs no policy file starts without it

            loaded = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise PolicyError(f"{filename} is not a policy: {error}. Correct the file and try again.") from error
    if not isinstance(loaded, dict):
        raise PolicyError(f"{filename} is not a policy: it must hold one table, with keys such as allow and deny.")
    return loaded


def _refuse_unknown(table: Mapping[str, Any], kind: type[Policy] | type[Predicate], filename: str, what: str) -> None:
    known = [each.name for each in fields(kind)]
    for key in table:
        if key not in known:
            raise PolicyError(f"{filename}: {what} has no key {key!r}; the keys are {', '.join(known)}.")


def _list(table: Mapping[str, Any], key: str, filename: str) -> list[Any]:
    value = table.get(key, [])
    if not isinstance(value, list):
        raise PolicyError(f"{filename}: {key} must be a list.")
    return value


def _strings(table: Mapping[str, Any], key: str, filename: str) -> tuple[str, ...]:
    value = _list(table, key, filename)
    # An empty prefix or fragment would match everything, and turn "default deny" into its opposite.
    if not all(isinstance(each, str) and each for each in value):
        raise PolicyError(f"{filename}: {key} must be a list of strings that are not empty.")
    return tuple(value)


def _table(table: Mapping[str, Any], key: str, filename: str) -> dict[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise PolicyError(f'{filename}: {key} must be a table such as delete_account = "POLICY_BLOCK".')
    return value


def _reason(name: Any, filename: str) -> int:
    try:
        code = reason_code(name)
    except (UnknownReasonError, TypeError) as error:
        raise PolicyError(f"{filename}: {error}") from error
    if code == ReasonCode.NONE:
        raise PolicyError(f"{filename}: NONE is no reason to refuse.")
    return code


def _predicate(table: Any, filename: str) -> Predicate:
    if not isinstance(table, dict):
        raise PolicyError(f"{filename}: every entry of predicates must be a table with tool and arg.")
    _refuse_unknown(table, Predicate, filename, "a predicate")
    tool, arg, regex, longest = (table.get(key) for key in ("tool", "arg", "deny_regex", "max_bytes"))
    if not (isinstance(tool, str) and tool and isinstance(arg, str) and arg):
        raise PolicyError(f"{filename}: a predicate needs tool and arg, both strings that are not empty.")
    where = f"{filename}: the predicate on {tool}.{arg}"
    if longest is not None and (not isinstance(longest, int) or isinstance(longest, bool) or longest < 0):
        raise PolicyError(f"{where} needs max_bytes as a whole number from 0.")
    if regex is not None and not (isinstance(regex, str) and regex):
        raise PolicyError(f"{where} needs deny_regex as a string that is not empty; an empty one is found everywhere.")
    globs = _strings(table, "allow_globs", filename)
    try:
        what = "deny_regex"
        if regex is not None:
            regex_finder(regex)
        what = "allow_globs"
        glob_matcher(globs)
    except PatternError as error:
        raise PolicyError(f"{where}: {what} {error}.") from error
    if not globs and regex is None and longest is None:
        raise PolicyError(f"{where} restricts nothing; give it allow_globs, deny_regex or max_bytes.")
    reason = _reason(table["reason"], filename) if "reason" in table else ReasonCode.POLICY_BLOCK
    return Predicate(tool, arg, globs, regex, longest, reason)
