"""The reference monitor, last rung of the chain: applies a policy to one call.

In order: an explicit deny, a write into a protected path, argument predicates, then allow or refuse. Redaction comes
after the allow, because a TRANSFORM lets a call run and would admit one that no rule allows. There is no egress block,
no lint and no preview of irreversible calls here, and no call is asked twice. Whatever is looked for in a model's text
is looked for in time linear in it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from seams.contract.arguments import plain_name
from seams.contract.syscall import ToolCall, Verdict
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall.canonical import canonical
from seams.syscall.patterns import glob_matcher, regex_finder
from seams.syscall.policy import Policy, Predicate
from seams.syscall.protected import path_finder, slashed, writes

__all__ = ["Monitor"]

_ALLOW = Verdict(VerdictKind.ALLOW, ReasonCode.NONE, "monitor")
_REFUSE = Verdict(VerdictKind.DENY, ReasonCode.DEFAULT_DENY, "monitor")
_SELF_MODIFY = Verdict(VerdictKind.DENY, ReasonCode.SELF_MODIFY, "monitor")
_UNREADABLE = Verdict(VerdictKind.DENY, ReasonCode.MALFORMED, "monitor")

_WRITES = ("write", "edit", "delete", "patch", "put", "exec", "run", "modify", "create")
_PATH_ARGS = frozenset(("path", "file_path", "filepath", "file", "target", "filename", "dir"))
"""In lower case, as they are compared."""
_SHELLS = ("bash", "shell", "exec", "command", "terminal")
_REDACTED = "[REDACTED]"
_PLANS = 4096
"""Plans kept; a model that invents tool names must not grow the table without bound."""


class _Check(NamedTuple):
    """A predicate with its patterns compiled."""

    predicate: Predicate
    within: Callable[[str], bool] | None
    denied: Callable[[str], bool] | None


class _Plan(NamedTuple):
    """What the policy says of one tool before its arguments are looked at."""

    denied: Verdict | None
    writes: bool
    shell: bool
    checks: tuple[_Check, ...]
    allowed: bool


class Monitor:
    """The rung of rank 100 that holds the policy.

    Raises:
        PatternError: a predicate has a pattern that cannot be matched; found here, and not at the first call.
    """

    __slots__ = ("_checks", "_named", "_names", "_plain_name", "_plans", "policy")

    name = "monitor"
    rank = 100
    tools: frozenset[str] | None = None

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._plans: dict[str, _Plan] = {}
        self._checks = tuple(_compiled(each) for each in policy.predicates)
        self._named = path_finder(policy.protected)
        self._names = frozenset(name.casefold() for name in policy.redact)
        plain = [re.escape(name.encode()) for name in sorted(self._names) if name.isascii()]
        self._plain_name = re.compile(b"|".join(plain)).search if plain else None

    def adjudicate(self, call: ToolCall) -> Verdict:
        """ALLOW, a redacting TRANSFORM, or DENY; never DEFER."""
        plan = self._plans.get(call.tool) or self._plan(call.tool)
        if plan.denied is not None:
            return plan.denied
        if plan.writes or plan.shell or plan.checks:
            refused = self._inspect(call, plan)
            if refused is not None:
                return refused
        if not plan.allowed:
            return _REFUSE
        return self._redact(call) if self._names and self._maybe_secret(call.args) else _ALLOW

    def _plan(self, tool: str) -> _Plan:
        policy, lower = self.policy, tool.lower()
        code = policy.deny.get(tool)
        guarded = bool(policy.protected)
        plan = _Plan(
            denied=None if code is None else Verdict(VerdictKind.DENY, code, "monitor"),
            writes=guarded and any(needle in lower for needle in _WRITES),
            shell=guarded and any(needle in lower for needle in _SHELLS),
            checks=tuple(each for each in self._checks if each.predicate.tool == tool),
            allowed=tool in policy.allow or tool.startswith(policy.allow_prefixes),
        )
        if len(self._plans) < _PLANS:
            self._plans[tool] = plan
        return plan

    def _inspect(self, call: ToolCall, plan: _Plan) -> Verdict | None:
        args = call.arguments()
        if args is None:
            return _UNREADABLE  # what cannot be read cannot be shown to be harmless
        if plan.writes:
            paths = [value for key, value in args.items() if plain_name(key).lower() in _PATH_ARGS]
            if self._named(paths):
                return _SELF_MODIFY
        # Every argument of a shell: a command comes in many words, as a list of words, and beside its folder.
        if plan.shell and self._named(args) and writes(args):
            return _SELF_MODIFY
        for check in plan.checks:
            predicate = check.predicate
            for key, value in args.items():
                if plain_name(key) == predicate.arg and not _passes(value, check):
                    return Verdict(VerdictKind.DENY, predicate.reason, "monitor")
        return None

    def _maybe_secret(self, args: bytes) -> bool:
        """A cheap look at the bytes: what may hide a name (an escape, a letter that folds to another) is read."""
        if b"\\" in args or not args.isascii():
            return True
        return self._plain_name is not None and self._plain_name(args.lower()) is not None

    def _redact(self, call: ToolCall) -> Verdict:
        args = call.arguments()
        if args is None:
            return _UNREADABLE
        clean = _redacted(args, self._names)
        if clean == args:
            return _ALLOW
        return Verdict(VerdictKind.TRANSFORM, ReasonCode.NONE, "monitor", canonical(clean))


def _compiled(each: Predicate) -> _Check:
    within = glob_matcher(tuple(map(slashed, each.allow_globs))) if each.allow_globs else None
    return _Check(each, within, regex_finder(each.deny_regex) if each.deny_regex is not None else None)


def _passes(value: Any, check: _Check) -> bool:
    predicate, within, denied = check
    text = value if isinstance(value, str) else canonical(value).decode("utf-8", "surrogatepass")
    # Normalised first: the glob "work/*" must not hold for "work/../etc/passwd", however the steps up are written.
    if within is not None and not (isinstance(value, str) and within(posixpath.normpath(slashed(value)))):
        return False
    if denied is not None and denied(text):
        return False
    return predicate.max_bytes is None or len(text.encode("utf-8", "surrogatepass")) <= predicate.max_bytes


def _redacted(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {
            key: _REDACTED if plain_name(key).casefold() in names else _redacted(each, names)
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [_redacted(each, names) for each in value]
    return value
