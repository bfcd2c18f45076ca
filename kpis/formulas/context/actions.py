"""What an action is (its family) and when two are the same (its signature).

The family is found by a table that a user can replace, first match wins; the table travels with the result. The neutral
one looks into the command of a shell tool; the reference's takes every shell call for a test, and "latest" for one too.
A signature is the family with a digest of the normalised arguments: `read` and `view` of one file are one signature.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kpis.formulas.context.canonical import digest, normalised_query
from kpis.formulas.context.values import Mode
from kpis.terms.context_words import Family
from kpis.terms.trace_words import ToolOp

__all__ = [
    "ABSENT",
    "NEUTRAL",
    "PAGINATION",
    "REFERENCE",
    "FamilyRule",
    "args_digest",
    "family_of",
    "family_of_op",
    "signature",
]

_TESTS = re.compile(
    r"\b(pytest|unittest|tox|nox|jest|vitest|mocha|ctest|rspec|phpunit"
    r"|(go|cargo|dotnet|bazel|swift|mix|npm|pnpm|yarn|bun|deno)\s+(run\s+)?(test|nextest)"
    r"|make\s+(test|check)|gradlew?\s+(\S+\s+)*test|mvn\s+(\S+\s+)*(test|verify))\b"
)
_BUILDS = re.compile(
    r"\b((cargo|go|docker|dotnet|bazel|swift|npm|pnpm|yarn|bun)\s+(run\s+)?build"
    r"|make|cmake|ninja|tsc|gcc|g\+\+|clang|rustc|javac|gradlew?\s+(\S+\s+)*(build|assemble)"
    r"|mvn\s+(\S+\s+)*(compile|package|install))(?![\w-])"
)
_READS = re.compile(r"^\s*(cat|head|tail|less|more|sed\s+-n|ls|wc)\b[^|;&><]*$")
_SEARCHES = re.compile(r"^\s*(grep|rg|ag|find|fd|git\s+grep)\b[^;&><]*$")

ABSENT: Any = object()
"""In the place of arguments: there are none. A null is an argument."""

_COMMAND_CHARS = 4096  # what a command is shows at its beginning, and a here-document may follow

PAGINATION = frozenset({"page", "page_token", "pageToken", "cursor", "offset"})
"""Arguments of a search that ask for more of the same answer; left out of its signature only where asked for."""


@dataclass(frozen=True, slots=True)
class FamilyRule:
    """A tool is of ``family`` if its name in lower case is one of ``exact`` or holds one of ``contains``.

    ``shell``: the command decides, and the family stands where it says nothing.
    """

    family: Family
    exact: frozenset[str] = frozenset()
    contains: tuple[str, ...] = ()
    shell: bool = False

    def matches(self, name: str) -> bool:
        """Whether a tool of that name, in lower case, falls under the rule."""
        return name in self.exact or any(part in name for part in self.contains)


REFERENCE: tuple[FamilyRule, ...] = (
    FamilyRule(Family.RECALL, frozenset({"context_recall"})),
    FamilyRule(Family.SEARCH, frozenset({"context_search"}), ("search",)),
    FamilyRule(Family.READ, frozenset({"read", "view", "cat"})),
    FamilyRule(Family.TEST, frozenset({"bash", "test"}), ("test",)),
    FamilyRule(Family.EDIT, frozenset({"edit", "write", "str-replace-editor"}), ("edit",)),
    FamilyRule(Family.BUILD, frozenset({"build", "compile"})),
    FamilyRule(Family.DELEGATE, contains=("delegate", "subagent")),
)
"""The reference's table, with its quirks."""

NEUTRAL: tuple[FamilyRule, ...] = (
    FamilyRule(Family.RECALL, frozenset({"context_recall", "recall", "recall_memory"})),
    FamilyRule(
        Family.OTHER,
        frozenset({"bash", "shell", "sh", "exec", "terminal", "run_command", "execute_bash", "exec_command"}),
        shell=True,
    ),
    FamilyRule(Family.SEARCH, frozenset({"grep", "glob", "find", "webfetch"}), ("search",)),
    FamilyRule(Family.READ, frozenset({"read", "view", "cat", "ls", "notebookread", "read_file", "open_file"})),
    FamilyRule(Family.TEST, frozenset({"test", "run_tests", "pytest"})),
    FamilyRule(
        Family.EDIT,
        frozenset({"edit", "write", "multiedit", "notebookedit", "write_file", "apply_patch", "str_replace_editor"}),
        ("str-replace", "str_replace"),
    ),
    FamilyRule(Family.BUILD, frozenset({"build", "compile"})),
    FamilyRule(Family.DELEGATE, frozenset({"task", "agent"}), ("delegate", "subagent")),
)
"""The table that holds unless another is given."""

_BY_OP: Mapping[ToolOp, Family] = {
    ToolOp.READ: Family.READ,
    ToolOp.LIST: Family.READ,
    ToolOp.SEARCH: Family.SEARCH,
    ToolOp.WEB: Family.SEARCH,
    ToolOp.TEST: Family.TEST,
    ToolOp.WRITE: Family.EDIT,
    ToolOp.SPAWN: Family.DELEGATE,
    ToolOp.RECALL: Family.RECALL,
}


def family_of(tool: str, command: str | None = None, table: Sequence[FamilyRule] = NEUTRAL) -> Family:
    """The family of a call of ``tool``; ``command`` is what a shell tool was told to run."""
    name = tool.lower()
    rule = next((rule for rule in table if rule.matches(name)), None)
    if rule is None:
        return Family.OTHER
    return _of_command(command, rule.family) if rule.shell else rule.family


def family_of_op(op: ToolOp, command: str | None = None) -> Family:
    """The family of what a trace calls ``op``; of a shell call a test or a build where the command is one."""
    if op is ToolOp.EXEC:
        found = _of_command(command, Family.OTHER)
        return found if found in (Family.TEST, Family.BUILD) else Family.OTHER
    return _BY_OP.get(op, Family.OTHER)


def _of_command(command: str | None, otherwise: Family) -> Family:
    for pattern, family in (
        (_TESTS, Family.TEST),
        (_BUILDS, Family.BUILD),
        (_READS, Family.READ),
        (_SEARCHES, Family.SEARCH),
    ):
        if pattern.search((command or "")[:_COMMAND_CHARS]):
            return family
    return otherwise


def args_digest(
    family: Family,
    target: str | None = None,
    args: Any = ABSENT,
    mode: Mode = Mode.STRICT,
    drop: frozenset[str] = frozenset(),
) -> str:
    """The digest of normalised arguments, in hexadecimal.

    A search by a ``query`` in words is normalised and its target left out; anything else is its target and arguments
    as they are. ``drop`` names arguments of such a search to leave out (:data:`PAGINATION`).

    Raises:
        TypeError: the arguments are no JSON value.
    """
    if family is Family.SEARCH and isinstance(args, Mapping) and isinstance(args.get("query"), str):
        kept = {key: value for key, value in args.items() if key not in drop}
        return digest({**kept, "query": normalised_query(args["query"])}, mode)
    told = {} if target is None else {"target": target}
    return digest(told if args is ABSENT else {**told, "args": args}, mode)


def signature(family: Family, args_hash: str) -> str:
    """What two actions share where one repeats the other."""
    return f"{family.value}:{args_hash}"
