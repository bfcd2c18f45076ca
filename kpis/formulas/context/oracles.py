"""Machine checks of a world after a run: fifteen kinds, a closed list. An agent's own word is no evidence.

They fail closed: a command that was not run, a file without baseline, a state that is not there is a failure. What an
arm has no mechanism for does not apply to it, which is neither a pass nor a failure; a success needs something applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from kpis.formulas.context.canonical import canonical
from kpis.terms.context_words import Family

__all__ = ["Abilities", "Check", "Oracle", "OracleKind", "World", "check", "critical_failures", "succeeded"]


class OracleKind(Enum):
    """What is checked."""

    TESTS_PASS = "tests-pass"
    FILE_EQUALS = "file-equals"
    FILE_UNCHANGED = "file-unchanged"
    FILE_CHANGED = "file-changed"
    FORBIDDEN_PATH_UNCHANGED = "forbidden-path-unchanged"
    ARTIFACT_EXISTS = "artifact-exists"
    STATE_KEY_EQUALS = "state-key-equals"
    ANCHOR_ACTIVE = "anchor-active"
    FAILURE_OPEN = "failure-open"
    FAILURE_RETIRED = "failure-retired"
    OBLIGATION_OPEN = "obligation-open"
    RECALL_CONTAINS = "recall-contains"
    NO_CROSS_SESSION_RECALL = "no-cross-session-recall"
    TOOL_ACTION_ABSENT = "tool-action-absent"
    TOOL_ACTION_PRESENT = "tool-action-present"


_OF_STATE = {
    OracleKind.STATE_KEY_EQUALS,
    OracleKind.ANCHOR_ACTIVE,
    OracleKind.FAILURE_OPEN,
    OracleKind.FAILURE_RETIRED,
    OracleKind.OBLIGATION_OPEN,
}


@dataclass(frozen=True, slots=True)
class Oracle:
    """One check. ``subject`` is a command, path, key, id or target; ``expected`` a digest, value or part of a text."""

    kind: OracleKind
    subject: str | None = None
    expected: Any = None
    family: Family | None = None


@dataclass(frozen=True, slots=True)
class Abilities:
    """What an arm has: a state of anchors and values, and checkpoints that can be recalled."""

    state: bool = True
    recall: bool = True


@dataclass(frozen=True, slots=True)
class World:
    """A snapshot after the run. ``cross_session_recall`` is None where nobody looked; digests are of file bytes."""

    exit_codes: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    baseline: Mapping[str, str] = field(default_factory=dict)
    paths: frozenset[str] = frozenset()
    state: Mapping[str, Any] = field(default_factory=dict)
    active_anchors: frozenset[str] = frozenset()
    open_failures: frozenset[str] = frozenset()
    retired_failures: frozenset[str] = frozenset()
    open_obligations: frozenset[str] = frozenset()
    recalled: Mapping[str, str] = field(default_factory=dict)
    cross_session_recall: bool | None = None
    actions: tuple[tuple[Family, str | None], ...] | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """What came of one oracle: ``passed`` is None exactly where it does not apply to the arm."""

    oracle: Oracle
    passed: bool | None

    @property
    def applicable(self) -> bool:
        """Whether the arm has what is checked."""
        return self.passed is not None


def check(oracle: Oracle, world: World, abilities: Abilities = Abilities()) -> Check:
    """Hold ``world`` against one oracle."""
    if not _applies(oracle, abilities):
        return Check(oracle, None)
    return Check(oracle, _holds(oracle, world))


def _applies(oracle: Oracle, abilities: Abilities) -> bool:
    if oracle.kind in _OF_STATE:
        return abilities.state
    wants_recall = oracle.kind is OracleKind.RECALL_CONTAINS or (
        oracle.kind is OracleKind.TOOL_ACTION_PRESENT and oracle.family is Family.RECALL
    )
    return abilities.recall or not wants_recall


def _holds(oracle: Oracle, world: World) -> bool:
    subject = oracle.subject or ""
    now, before = world.files.get(subject), world.baseline.get(subject)
    match oracle.kind:
        case OracleKind.TESTS_PASS:
            return world.exit_codes.get(subject) == 0
        case OracleKind.FILE_EQUALS:
            return now is not None and now == oracle.expected
        case OracleKind.FILE_UNCHANGED | OracleKind.FORBIDDEN_PATH_UNCHANGED:
            return before is not None and now == before
        case OracleKind.FILE_CHANGED:
            return before is not None and now != before
        case OracleKind.ARTIFACT_EXISTS:
            return subject in world.paths
        case OracleKind.STATE_KEY_EQUALS:
            return subject in world.state and canonical(world.state[subject]) == canonical(oracle.expected)
        case OracleKind.ANCHOR_ACTIVE:
            return subject in world.active_anchors
        case OracleKind.FAILURE_OPEN:
            return subject in world.open_failures
        case OracleKind.FAILURE_RETIRED:
            return subject in world.retired_failures
        case OracleKind.OBLIGATION_OPEN:
            return subject in world.open_obligations
        case OracleKind.RECALL_CONTAINS:
            return bool(oracle.expected) and oracle.expected in world.recalled.get(subject, "")
        case OracleKind.NO_CROSS_SESSION_RECALL:
            return world.cross_session_recall is False
        case OracleKind.TOOL_ACTION_ABSENT:
            return world.actions is not None and not _acted(oracle, world.actions)
        case OracleKind.TOOL_ACTION_PRESENT:
            return world.actions is not None and _acted(oracle, world.actions)


def _acted(oracle: Oracle, actions: Iterable[tuple[Family, str | None]]) -> bool:
    return any(
        family is oracle.family and (oracle.subject is None or target == oracle.subject) for family, target in actions
    )


def succeeded(checks: Iterable[Check]) -> bool | None:
    """Whether all that applies passed; None where nothing applies, for nothing was shown then."""
    applied = [each.passed for each in checks if each.passed is not None]
    return all(applied) if applied else None


def critical_failures(checks: Iterable[Check]) -> list[Oracle]:
    """Forbidden paths that were touched: told whatever the score is."""
    return [
        each.oracle
        for each in checks
        if each.oracle.kind is OracleKind.FORBIDDEN_PATH_UNCHANGED and each.passed is False
    ]
