"""The turn floor's contract: what a planner and a view take and give.

A span is what the planner knows of one message: never its text. A plan is a partition of scored spans into selected
and elided ones, and every elided one keeps a handle by which it can be paged in again. This module holds records and
Protocols only: it scores nothing, plans nothing and renders nothing. The records are named tuples because a planner
makes thousands of them a turn.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

__all__ = [
    "COVERAGE",
    "DEFAULT_BUDGET",
    "EXACT",
    "GREEDY",
    "VALUE_SCALE",
    "Candidate",
    "Durability",
    "Elided",
    "ElisionReason",
    "Forecast",
    "Geometry",
    "Materialized",
    "Message",
    "Outlook",
    "Plan",
    "Planner",
    "RefusalReason",
    "Refused",
    "Rendered",
    "Selected",
    "Span",
    "View",
    "Weights",
    "Witness",
]

DEFAULT_BUDGET = 4096
"""Tokens that a view may hold where nobody says otherwise."""

GREEDY = "greedy-density"
"""The objective every planner offers: most benefit a token first."""

EXACT = "exact-dp"
"""The objective of the greatest benefit that the tokens can hold, benefits counted in steps of 1/``VALUE_SCALE``."""

COVERAGE = "coverage"
"""The objective under which a word of the intents counts once, with the first selected span that holds it."""

VALUE_SCALE = 1_000_000
"""An exact plan adds whole numbers: a benefit times this, rounded."""


class Durability(StrEnum):
    """How long what a span says stays true."""

    TURN = "turn"
    SESSION = "session"
    BOUNDED = "bounded"
    DURABLE = "durable"


class ElisionReason(StrEnum):
    """Why a span is not in the view. ``no_benefit``: to what the objective had chosen it would have added nothing."""

    SEALED = "sealed"
    TOMBSTONED = "tombstoned"
    RELEASED = "released"
    DUPLICATE = "duplicate"
    OVER_BUDGET = "over_budget"
    NO_BENEFIT = "no_benefit"


class RefusalReason(StrEnum):
    """Why a span could not be paged in although it was asked for."""

    SEALED = "sealed_by_trust_gate"
    TOMBSTONED = "tombstoned_by_context_control"
    PAGE_IN = "page_in_refused"


class Message(NamedTuple):
    """One chat message. ``role`` is system, user, assistant or tool, or a runtime's own word such as goal."""

    role: str
    content: str
    name: str = ""


class Span(NamedTuple):
    """What is known of one message: its place (``step``), its first line, its SHA-256 and its size in bytes.

    ``utility`` is a rating from 0 to 4; anything outside is clamped when scored.
    """

    id: str
    step: int
    role: str
    descriptor: str
    digest: str
    bytes: int
    durability: Durability = Durability.TURN
    sealed: bool = False
    tombstoned: bool = False
    utility: float = 0.0


class Weights(NamedTuple):
    """What each signal of a span counts for. All zero means the defaults."""

    relevance: float = 1.0
    utility: float = 0.5
    durability: float = 0.4
    recency: float = 0.2
    primacy: float = 0.0


class Forecast(NamedTuple):
    """What the coming turns will need: intents in words, and the ids of spans to pin and to release."""

    intents: tuple[str, ...] = ()
    horizon: int = 1
    pins: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()
    weights: Weights = Weights()


class Geometry(NamedTuple):
    """Of which parts a benefit is made, so that what two spans both say can be counted once.

    ``words`` are those of the intents that the span holds, of ``asked`` words in all; all of them together are worth
    ``relevance``. ``rest`` is what utility, durability and recency are worth; primacy is in neither part.
    """

    words: frozenset[str]
    asked: int
    relevance: float
    rest: float


class Candidate(NamedTuple):
    """A scored span: ``cost`` in tokens (not negative), ``benefit`` finite and without unit.

    One without ``geometry`` is worth its benefit whatever else was chosen.
    """

    cell: Span
    cost: int
    benefit: float
    geometry: Geometry | None = None


class Selected(NamedTuple):
    """A span of the plan. ``bytes`` is the size that the span declared, against which the rendered body is held."""

    id: str
    step: int
    role: str
    descriptor: str
    bytes: int
    cost: int
    benefit: float
    density: float
    pinned: bool


class Elided(NamedTuple):
    """A span left out, and the handle (``id`` with ``digest``) by which it is recovered."""

    id: str
    step: int
    role: str
    digest: str
    cost: int
    benefit: float
    reason: ElisionReason


@dataclass(frozen=True, slots=True)
class Plan:
    """A partition of ``candidates`` scored spans; both parts are in (step, id) order.

    ``objective`` names what really filled the budget. ``over_budget``: the pins alone cost more than ``budget``; they
    stay, and nothing else is selected. ``benefit`` sums the selected spans, each as scored alone. ``fell_back_from``:
    the objective that was asked for, where its work would have been too much and ``objective`` did it instead.
    """

    budget: int
    objective: str
    selected: tuple[Selected, ...]
    elided: tuple[Elided, ...]
    candidates: int
    cost_used: int
    pinned_tokens: int
    benefit: float
    over_budget: bool
    fell_back_from: str | None = None


class Rendered(NamedTuple):
    """A selected span with its text: ``bytes`` and ``tokens`` are those of ``body``, not the declared ones."""

    id: str
    step: int
    role: str
    descriptor: str
    bytes: int
    tokens: int
    body: str


class Refused(NamedTuple):
    """A selected span whose text the trust gate did not let in."""

    id: str
    step: int
    role: str
    reason: RefusalReason


@dataclass(frozen=True, slots=True)
class Witness:
    """What a plan, and the view made of it, can be shown to keep.

    ``partition``: no blank id, no id on both sides, and the counts add up. ``faithful``: a partition whose elided
    spans can all be recovered. ``reconciled``: each selected span was rendered or refused. ``cost_contract``: each
    rendered body has the size its span declared; ``cost_diverged`` names those that have not. The last five are those
    of a view that has not been rendered until it is.
    """

    candidates: int
    resident: int
    elided: int
    recoverable: int
    unrecoverable: tuple[str, ...]
    resident_tokens: int
    elided_tokens: int
    partition: bool
    faithful: bool
    rendered: int = 0
    refused: int = 0
    reconciled: bool = False
    cost_contract: bool = False
    cost_diverged: tuple[str, ...] = ()


class Materialized(NamedTuple):
    """A plan made text: what was rendered and what was refused, in step order, and the witness of both."""

    plan: Plan
    rendered: tuple[Rendered, ...]
    refused: tuple[Refused, ...]
    witness: Witness


class Outlook(NamedTuple):
    """What a turn is planned from: its messages lowered to spans, and the forecast read off them."""

    spans: tuple[Span, ...]
    forecast: Forecast


class Planner(Protocol):
    """The seam ``turn/planner``. The methods may be coroutine functions."""

    @property
    def scorings(self) -> int:
        """How many spans were scored so far, each evaluation of a benefit counted where it happens."""
        ...

    def candidates(self, spans: Sequence[Span], forecast: Forecast, cap: int | None = None) -> list[Candidate]:
        """Score every span; with ``cap``, choose and score at most that many of them, the forecast's pins first.

        A candidate for each span scored, and for no other: none is scored and then left out.
        """
        ...

    def optimize(
        self,
        candidates: Sequence[Candidate],
        budget: int,
        pins: Collection[str] = (),
        releases: Collection[str] = (),
        objective: str = GREEDY,
    ) -> Plan:
        """Partition ``candidates`` within ``budget`` tokens.

        An objective that the planner does not offer is a ValueError. One whose work would be too much may be replaced,
        and the plan then names what took its place.
        """
        ...


class View(Protocol):
    """The seam ``turn/view``: the messages that a turn is spawned with. The methods may be coroutine functions.

    Four messages may be pinned: the first one of the role goal, the first of the role system, and of the user's the
    first and the last. Pins alone may take a view beyond its budget, and then nothing else is in it. A message without
    a role is the user's; the last of the user's is in every view.
    """

    @property
    def budget(self) -> int:
        """Tokens that the view may hold: for each text its bytes in UTF-8 over four, rounded up."""
        ...

    def forecast(self, messages: Sequence[Message]) -> Outlook:
        """Lower the messages to spans and read the forecast off them."""
        ...

    def plan(self, messages: Sequence[Message], outlook: Outlook) -> Plan:
        """Score the spans and choose within the budget."""
        ...

    def render(self, messages: Sequence[Message], plan: Plan) -> list[Message]:
        """Page in what the plan selected, in step order."""
        ...

    def render_turn(self, messages: list[Message]) -> list[Message]:
        """The three above in one call: what it costs to spawn a turn."""
        ...
