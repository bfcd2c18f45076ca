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
from json import JSONDecoder
from typing import Any, NamedTuple

from seams.contract.syscall import ToolCall, Verdict
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall.canonical import canonical
from seams.syscall.patterns import glob_matcher, regex_finder
from seams.syscall.policy import Policy, Predicate

__all__ = ["Monitor"]

_ALLOW = Verdict(VerdictKind.ALLOW, ReasonCode.NONE, "monitor")
_REFUSE = Verdict(VerdictKind.DENY, ReasonCode.DEFAULT_DENY, "monitor")
_SELF_MODIFY = Verdict(VerdictKind.DENY, ReasonCode.SELF_MODIFY, "monitor")
_UNREADABLE = Verdict(VerdictKind.DENY, ReasonCode.MALFORMED, "monitor")

_WRITES = ("write", "edit", "delete", "patch", "put", "exec", "run", "modify", "create")
_PATH_ARGS = ("path", "file_path", "filePath", "filepath", "file", "target", "filename", "dir")
_SHELLS = ("bash", "shell", "exec", "command", "terminal")
_SHELL_ARGS = ("command", "cmd", "script")
_SHELL_WRITE = re.compile(r">|\b(?:tee|rm|mv|cp|dd|ln|chmod|chown|truncate|install|patch)\b")
_SED = re.compile(r"\bsed\b")
_IN_PLACE = re.compile(r"\s-\w*i")
_COMMANDS = re.compile(r"[|;&]")
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

    __slots__ = ("_checks", "_maybe_secret", "_plans", "policy")

    name = "monitor"
    rank = 100
    tools: frozenset[str] | None = None

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._plans: dict[str, _Plan] = {}
        self._checks = tuple(_compiled(each) for each in policy.predicates)
        # A cheap look at the bytes. A backslash may hide a name behind an escape, so then the object is read.
        names = [re.escape(canonical(each)[1:-1]) for each in sorted(policy.redact)]
        self._maybe_secret = re.compile(b"|".join([rb"\\", *names])).search if names else None

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
        if self._maybe_secret is not None and self._maybe_secret(call.args):
            return self._redact(call)
        return _ALLOW

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
        if plan.writes and any(self._names_protected(args.get(key)) for key in _PATH_ARGS):
            return _SELF_MODIFY
        if plan.shell and any(self._shell_writes(args.get(key)) for key in _SHELL_ARGS):
            return _SELF_MODIFY
        for check in plan.checks:
            predicate = check.predicate
            if predicate.arg in args and not _passes(args[predicate.arg], check):
                return Verdict(VerdictKind.DENY, predicate.reason, "monitor")
        return None

    def _names_protected(self, value: Any) -> bool:
        if isinstance(value, list):
            return any(self._names_protected(each) for each in value)
        if not isinstance(value, str):
            return False
        path = value.replace("\\", "/")
        spellings = (path, posixpath.normpath(path))
        return any(fragment in spelling for fragment in self.policy.protected for spelling in spellings)

    def _shell_writes(self, value: Any) -> bool:
        return isinstance(value, str) and self._names_protected(value) and _writes(value)

    def _redact(self, call: ToolCall) -> Verdict:
        args = call.arguments()
        if args is None:
            return _UNREADABLE
        names, found = self.policy.redact, False

        def look(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            nonlocal found
            found = found or any(key in names and value != _REDACTED for key, value in pairs)
            return dict(pairs)

        try:
            # Every pair of the text, not of the object: the first of two under one key is in the bytes all the same.
            JSONDecoder(object_pairs_hook=look).decode(call.args.decode())
        except RecursionError:
            return _UNREADABLE
        if not found:
            return _ALLOW
        return Verdict(VerdictKind.TRANSFORM, ReasonCode.NONE, "monitor", canonical(_redacted(args, names)))


def _writes(command: str) -> bool:
    if _SHELL_WRITE.search(command) is not None:
        return True
    # Command by command: looked for in the whole text at once, each of many sed would read on to its end.
    for part in _COMMANDS.split(command):
        sed = _SED.search(part)
        if sed is not None and _IN_PLACE.search(part, sed.end()) is not None:
            return True
    return False


def _compiled(each: Predicate) -> _Check:
    within = glob_matcher(each.allow_globs) if each.allow_globs else None
    return _Check(each, within, regex_finder(each.deny_regex) if each.deny_regex is not None else None)


def _passes(value: Any, check: _Check) -> bool:
    predicate, within, denied = check
    text = value if isinstance(value, str) else canonical(value).decode("utf-8", "surrogatepass")
    # Normalised first: the glob "work/*" must not hold for "work/../etc/passwd".
    if within is not None and not (isinstance(value, str) and within(posixpath.normpath(value))):
        return False
    if denied is not None and denied(text):
        return False
    return predicate.max_bytes is None or len(text.encode("utf-8", "surrogatepass")) <= predicate.max_bytes


def _redacted(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {key: _REDACTED if key in names else _redacted(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [_redacted(each, names) for each in value]
    return value
