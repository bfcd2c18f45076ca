"""Prices of models by the token: a table that knows its date, and what a row of usage costs by it.

A price is an integer of picodollars a token, which holds six decimals of a dollar a million tokens exactly, so that
costs add up in any order. A model is found by the longest id of the table that its own id begins with, where only a
date, a version or a variant follows: a newer model is not priced as an older one whose name it extends. Refuses to
guess a price.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from kpis.formulas.recorded.sums import TokenSums, is_undivided
from kpis.terms.trace import Tokens

__all__ = ["PICO", "ModelPrice", "Money", "Price", "PriceTable", "cost_of", "plain_id", "price_of", "token_cost"]

PICO = 10**12
"""Picodollars in a dollar."""

_MAKER = re.compile(r"^(?:(?:us|eu|apac|jp|au|global|us-gov)\.)?(?:anthropic|openai|google|meta|amazon)\.")
_SUFFIX = re.compile(
    r"(?:[-@]\d{8}|[-@]\d{4}-\d{2}-\d{2}|-\d{3,4}|-latest|-preview|-customtools|-v\d+(?::\d+)?|@\w+|\[\w+\]"
    r"|:(?:thinking|beta))*"
)


@dataclass(frozen=True, slots=True)
class Price:
    """Picodollars a token, by what the token was."""

    fresh: int
    cache_read: int
    write_5m: int
    write_1h: int
    output: int


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """The price of a model. ``long`` holds for every token of a request whose prompt exceeds ``above`` tokens."""

    name: str
    ids: tuple[str, ...]
    price: Price
    as_of: date
    source: str
    above: int | None = None
    long: Price | None = None


class Money(NamedTuple):
    """Picodollars between two bounds, equal where nothing is open."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Rows of prices; of two that fit a model equally well the earlier one is taken.

    ``below`` is asked only for models that no row of this table fits, however closely its own rows would.
    """

    rows: tuple[ModelPrice, ...]
    name: str = ""
    below: PriceTable | None = None
    _found: dict[str, ModelPrice | None] = field(default_factory=dict, repr=False, compare=False)

    def find(self, model: str | None) -> ModelPrice | None:
        """The row for ``model``, or None where the table has no price for it."""
        if model is None:
            return None
        if model not in self._found:
            own = _longest(self.rows, model)
            self._found[model] = self.below.find(model) if own is None and self.below is not None else own
        return self._found[model]

    def over(self, below: PriceTable) -> PriceTable:
        """This table, and ``below`` for the models that it does not have."""
        return PriceTable(self.rows, f"{self.name} over {below.name}", below)

    @property
    def as_of(self) -> date | None:
        """The date of the oldest row, by which all of them were right."""
        dates = [row.as_of for row in self.rows]
        if self.below is not None and self.below.as_of is not None:
            dates.append(self.below.as_of)
        return min(dates, default=None)


def plain_id(model: str) -> str:
    """``model`` in small letters, after its last slash and without the prefix of a region and a maker."""
    name = _MAKER.sub("", model.lower().rpartition("/")[2])
    return name.replace(".", "-") if name.startswith("claude") else name  # some resellers write versions with a dot


def _longest(rows: Iterable[ModelPrice], model: str) -> ModelPrice | None:
    name = plain_id(model)
    best: ModelPrice | None = None
    length = 0
    for row in rows:
        for known in row.ids:
            fits = name.startswith(known[:-1]) if known.endswith("*") else _is_version(name, known)
            if fits and len(known.rstrip("*")) > length:
                best, length = row, len(known.rstrip("*"))
    return best


def _is_version(name: str, known: str) -> bool:
    return name.startswith(known) and _SUFFIX.fullmatch(name, len(known)) is not None


def price_of(row: ModelPrice, prompt: int | None) -> Price:
    """The price that a request of that prompt pays: the long one above the threshold, whatever its tokens were."""
    if row.long is not None and row.above is not None and prompt is not None and prompt > row.above:
        return row.long
    return row.price


def token_cost(price: Price, tokens: Tokens) -> Money:
    """What one row of usage costs: :func:`cost_of` without building its sums."""
    certain = (
        (tokens.fresh_in or 0) * price.fresh
        + (tokens.cache_read or 0) * price.cache_read
        + (tokens.cache_write_5m or 0) * price.write_5m
        + (tokens.cache_write_1h or 0) * price.write_1h
        + (tokens.out_total or 0) * price.output
    )
    unsplit = (tokens.unattributed or 0) if is_undivided(tokens) else 0
    return _bounds(price, certain, tokens.cache_write_other or 0, unsplit)


def cost_of(price: Price, sums: TokenSums) -> Money:
    """What ``sums`` cost. A write of unknown lifetime, and a prompt given as one number, leave a range.

    Tokens that are not known cost nothing here: where ``sums.all_known`` is False the result is a lower bound.
    """
    certain = (
        sums.fresh_in * price.fresh
        + sums.cache_read * price.cache_read
        + sums.cache_write_5m * price.write_5m
        + sums.cache_write_1h * price.write_1h
        + sums.out_total * price.output
    )
    return _bounds(price, certain, sums.cache_write_other, sums.undivided)


def _bounds(price: Price, certain: int, writes: int, undivided: int) -> Money:
    if not writes and not undivided:
        return Money(certain, certain)
    either = (price.write_5m, price.write_1h)
    anything = (price.fresh, price.cache_read, *either)
    return Money(
        certain + writes * min(either) + undivided * min(anything),
        certain + writes * max(either) + undivided * max(anything),
    )
