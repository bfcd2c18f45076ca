"""A run recorded for its context metrics: what every request showed the model, every fold, action and verdict.

Plain values; ``None`` is "not observed", never 0. Token counts and indices are not negative, and each type says so by
refusing others, so that a reader can tell a bad line from a good one; nor are they larger than a float holds exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kpis.terms.context_state import Anchor, OracleVerdict, Presented, StateChange
from kpis.terms.context_words import Family, FoldMode, NodeKind, PriceBasis, Purpose, RecallKind, RunOutcome
from kpis.terms.trace import Issue

__all__ = [
    "Action",
    "ContextEvent",
    "ContextNode",
    "ContextRequest",
    "ContextRun",
    "Fold",
    "RecallUse",
    "RunEnd",
    "RunHeader",
    "Tokenizer",
    "Usage",
]


_MOST = 1 << 53
"""Larger counts are no counts, and a ratio of them would not fit a float."""


def _not_negative(owner: object, *names: str) -> None:
    for name in names:
        value = getattr(owner, name)
        if value is None:
            continue
        if value < 0:
            raise ValueError(f"`{name}` is {value}, and cannot be negative")
        if value > _MOST:
            raise ValueError(f"`{name}` is more than {_MOST:,}, and no count of a run is")


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """What counted the tokens of nodes, prompts, folds and recalls."""

    id: str
    basis: PriceBasis


@dataclass(frozen=True, slots=True)
class RunHeader:
    """The header line. ``boundary_seq``: where the continuation that is judged begins; ``pair_key`` names its twin.

    ``semantic_mode`` is what wrote the summaries of folds, ``none`` where no model was asked.
    """

    run_id: str
    case_id: str
    arm: str
    replicate: int
    harness_rev: str
    policy_rev: str
    tokenizer: Tokenizer
    sessions: tuple[str, ...]
    semantic_mode: str | None = None
    model: str | None = None
    provider: str | None = None
    temperature: float | None = None
    seed: int | None = None
    requires_recall: bool | None = None
    pair_key: str | None = None
    boundary_seq: int | None = None
    window_tokens: int | None = None
    concurrency: int | None = None

    def __post_init__(self) -> None:
        _not_negative(self, "replicate", "boundary_seq", "window_tokens", "concurrency")


@dataclass(frozen=True, slots=True)
class ContextNode:
    """One node of a prompt; ``id`` is a digest. A ``checkpoint_id`` marks a frozen checkpoint; a summary has none."""

    id: str
    role: str
    kind: NodeKind
    tokens: int | None = None
    checkpoint_id: str | None = None

    def __post_init__(self) -> None:
        _not_negative(self, "tokens")


@dataclass(frozen=True, slots=True)
class Usage:
    """The provider's own disjoint counters of one request."""

    input_uncached: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    total: int | None = None

    def __post_init__(self) -> None:
        _not_negative(self, "input_uncached", "cache_read", "cache_write", "output", "total")


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """One model request. ``nodes`` is None where the prompt could not be rebuilt."""

    seq: int
    request_id: str
    session: str
    purpose: Purpose
    ok: bool
    nodes: tuple[ContextNode, ...] | None = None
    envelope_tokens: int | None = None
    prompt_tokens: int | None = None
    usage: Usage | None = None
    t_start: float | None = None
    t_end: float | None = None

    def __post_init__(self) -> None:
        _not_negative(self, "envelope_tokens", "prompt_tokens")

    @property
    def node_tokens(self) -> tuple[int, ...] | None:
        """The price of every node, or None unless all are known."""
        if self.nodes is None:
            return None
        known = tuple(node.tokens for node in self.nodes if node.tokens is not None)
        return known if len(known) == len(self.nodes) else None

    @property
    def prompt(self) -> int | None:
        """The whole prompt in tokens: as recorded, else nodes and envelope where all of them are known."""
        if self.prompt_tokens is not None:
            return self.prompt_tokens
        tokens = self.node_tokens
        return None if tokens is None or self.envelope_tokens is None else sum(tokens) + self.envelope_tokens


@dataclass(frozen=True, slots=True)
class Fold:
    """One attempt to make the context smaller, also where it failed. Tokens are of one surface, just around it."""

    seq: int
    fold_id: str
    mode: FoldMode
    ok: bool
    checkpoint_id: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    replaced: tuple[str, ...] | None = None
    covers_folds: tuple[str, ...] | None = None
    failure_kind: str | None = None
    aux_request_ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _not_negative(self, "tokens_before", "tokens_after")


@dataclass(frozen=True, slots=True)
class RecallUse:
    """What an action asked of folded history, and the checkpoints that it named."""

    kind: RecallKind
    refs: tuple[str, ...]
    returned_tokens: int | None = None
    cross_session: bool | None = None

    def __post_init__(self) -> None:
        _not_negative(self, "returned_tokens")


@dataclass(frozen=True, slots=True)
class Action:
    """One tool action. ``env_before`` and ``env_after`` are versions of what it depends on."""

    seq: int
    index: int
    request_id: str
    family: Family
    tool: str
    args_hash: str
    ok: bool
    args: Any = None
    target: str | None = None
    env_before: str | None = None
    env_after: str | None = None
    time_sensitive: bool | None = None
    recall: RecallUse | None = None
    t_start: float | None = None
    t_end: float | None = None

    def __post_init__(self) -> None:
        _not_negative(self, "index")


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The last line: how the run ended. ``score`` is a part of success in [0, 1], ``wall_s`` seconds."""

    seq: int
    outcome: RunOutcome
    score: float | None = None
    turns: int | None = None
    wall_s: float | None = None

    def __post_init__(self) -> None:
        _not_negative(self, "turns", "wall_s")
        if self.score is not None and not 0 <= self.score <= 1:
            raise ValueError(f"`score` is {self.score}, and must lie between 0 and 1")


ContextEvent = ContextRequest | Fold | Action | Anchor | StateChange | Presented | OracleVerdict | RunEnd
"""Every line but the header."""


@dataclass(frozen=True, slots=True)
class ContextRun:
    """A header and its events in order of ``seq``, with what the reader found wrong on the way.

    ``places`` says by ``seq`` in which file and line an event stands.
    """

    header: RunHeader
    requests: tuple[ContextRequest, ...] = ()
    folds: tuple[Fold, ...] = ()
    actions: tuple[Action, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    states: tuple[StateChange, ...] = ()
    presented: tuple[Presented, ...] = ()
    verdicts: tuple[OracleVerdict, ...] = ()
    end: RunEnd | None = None
    issues: tuple[Issue, ...] = ()
    places: Mapping[int, tuple[str, int]] = field(default_factory=dict)

    def main_chains(self) -> Iterator[tuple[ContextRequest, ...]]:
        """The answered main requests, one chain a session: prefixes are compared within a chain alone."""
        by_session: dict[str, list[ContextRequest]] = {}
        for request in self.requests:
            if request.purpose is Purpose.MAIN and request.ok:
                by_session.setdefault(request.session, []).append(request)
        yield from map(tuple, by_session.values())
