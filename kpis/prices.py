"""The price tables that ship, and a user's own: TOML in, :class:`~kpis.formulas.recorded.pricing.PriceTable` out.

A table names each model's ids, its prices in dollars a million tokens, where they were read and when. A user's file has
the same shape and goes before ours, or with ``replaces = true`` in its place. Every fault is one sentence with the
file, the model and the key.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from kpis.errors import did_you_mean
from kpis.formulas.recorded.pricing import ModelPrice, Price, PriceTable

__all__ = ["PriceError", "read_prices", "shipped_prices", "user_prices"]

_FOLDER = Path(__file__).parent / "prices"
_PRICES = ("fresh", "cache_read", "write_5m", "write_1h", "output")
_KEYS = ("ids", *_PRICES, "above", "as_of", "source")
_LONG = ("prompt", *_PRICES)
_AGAIN = "correct it, then run `python -m harness replay` again."
_LARGEST = 1_000_000  # dollars a million tokens: a dollar a token is no price but a slip


class PriceError(ValueError):
    """A price file cannot be used: one sentence."""


@cache
def shipped_prices() -> PriceTable:
    """The tables that come with this package, as one."""
    rows: list[ModelPrice] = []
    for path in sorted(_FOLDER.glob("*.toml")):
        rows += read_prices(path.read_bytes(), path.name).rows
    return PriceTable(tuple(rows), f"price table {max(row.as_of for row in rows):%Y-%m}")


def user_prices(path: Path, read: Callable[[Path], bytes]) -> PriceTable:
    """The prices of the file at ``path``, before those that ship, or alone where it says that it replaces them.

    ``read`` gives its bytes and bounds how many.

    Raises:
        PriceError: the file cannot be read or used.
    """
    try:
        body = read(path)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no name of a file"
        raise PriceError(
            f"{path} cannot be read ({why}): name a price file that can, then run `python -m harness replay` again."
        ) from None
    name = str(path)
    tables = _tables(body, name)
    replaces = tables.pop("replaces", False)
    if not isinstance(replaces, bool):
        raise PriceError(f"{name}: replaces must be true or false: {_AGAIN}")
    own = _table(tables, name, ("replaces", "model"))
    return own if replaces else own.over(shipped_prices())


def read_prices(body: bytes, name: str) -> PriceTable:
    """The table that ``body`` is; ``name`` is how its user knows it.

    Raises:
        PriceError: it is not TOML, or a row of it cannot be used.
    """
    return _table(_tables(body, name), name, ("model",))


def _tables(body: bytes, name: str) -> dict[str, Any]:
    try:
        return tomllib.loads(body.decode("utf-8"), parse_float=Decimal)
    except UnicodeDecodeError:
        raise PriceError(
            f"{name} is not UTF-8 text: save it as UTF-8, then run `python -m harness replay` again."
        ) from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise PriceError(f"{name} is not TOML ({error}): {_AGAIN}") from None


def _table(tables: Mapping[str, Any], name: str, keys: Sequence[str]) -> PriceTable:
    """The table of a file whose top has one of ``keys``, of which all but the models are read already."""
    unknown = sorted(set(tables) - {"model"})
    if unknown:
        what = f"table [{unknown[0]}]" if isinstance(tables[unknown[0]], dict) else f"key {unknown[0]}"
        raise PriceError(f"{name} has the unknown {what}{did_you_mean(unknown[0], keys)}: {_AGAIN}")
    models = tables.get("model")
    if not isinstance(models, dict) or not models:
        raise PriceError(f'{name} has no table [model."NAME"], so it prices nothing: {_AGAIN}')
    rows = tuple(_row(name, model, row) for model, row in models.items())
    owner: dict[str, str] = {}
    for each in rows:
        for known in each.ids:
            first = owner.setdefault(known, each.name)
            if first != each.name:
                raise PriceError(f'{name}: [model."{each.name}"] has the id {known[:80]!r} of "{first}" too: {_AGAIN}')
    return PriceTable(rows, name)


def _row(name: str, model: str, row: Any) -> ModelPrice:
    where = f'{name}: [model."{model}"]'
    if not isinstance(row, dict):
        raise PriceError(f"{where} is no table: {_AGAIN}")
    _only(where, row, _KEYS)
    ids = row.get("ids", [model])
    if not isinstance(ids, list) or not ids or not all(isinstance(each, str) and each.strip("*") for each in ids):
        raise PriceError(f'{where}: ids must be a list of names, as ["{model}"]: {_AGAIN}')
    inside = next((each for each in ids if "*" in each[:-1]), None)
    if inside is not None:
        raise PriceError(f"{where}: the id {inside[:80]!r} has a * before its end, which fits nothing: {_AGAIN}")
    as_of, source = row.get("as_of"), row.get("source", "")
    if type(as_of) is not date:
        raise PriceError(f"{where}: as_of must be the day on which the price held, as 2026-01-31: {_AGAIN}")
    if not isinstance(source, str):
        raise PriceError(f"{where}: source must be a string: {_AGAIN}")
    above: int | None = None
    long: Price | None = None
    if "above" in row:
        higher = row["above"]
        if not isinstance(higher, dict):
            raise PriceError(f"{where}: above must be a table with a prompt and prices: {_AGAIN}")
        _only(f"{where}, above", higher, _LONG)
        above = higher.get("prompt")
        if type(above) is not int or above <= 0:
            raise PriceError(f"{where}, above: prompt must be a number of tokens, as 200000: {_AGAIN}")
        long = _price(f"{where}, above", higher)
    return ModelPrice(model, tuple(each.lower() for each in ids), _price(where, row), as_of, source, above, long)


def _only(where: str, row: Mapping[str, Any], keys: tuple[str, ...]) -> None:
    for key in row:
        if key not in keys:
            raise PriceError(f"{where} has the unknown key {key}{did_you_mean(key, keys)}: {_AGAIN}")


def _price(where: str, row: Mapping[str, Any]) -> Price:
    """The prices of a row; a write that has no price of its own is charged as fresh input."""
    fresh = _pico(where, row, "fresh")
    return Price(
        fresh=fresh,
        cache_read=_pico(where, row, "cache_read"),
        write_5m=_pico(where, row, "write_5m") if "write_5m" in row else fresh,
        write_1h=_pico(where, row, "write_1h") if "write_1h" in row else fresh,
        output=_pico(where, row, "output"),
    )


def _pico(where: str, row: Mapping[str, Any], key: str) -> int:
    """Dollars a million tokens as picodollars a token."""
    if key not in row:
        raise PriceError(f"{where} has no {key}, in dollars a million tokens: {_AGAIN}")
    given = row[key]
    if type(given) is not int and not isinstance(given, Decimal):
        raise PriceError(f"{where}: {key} must be a number of dollars a million tokens, not {given!r:.40}: {_AGAIN}")
    price = Decimal(given)
    if not price.is_finite() or not 0 <= price <= _LARGEST:
        raise PriceError(f"{where}: {key} must be between 0 and {_LARGEST:,} dollars a million tokens: {_AGAIN}")
    scaled = price * 1_000_000
    if scaled != scaled.to_integral_value():
        raise PriceError(f"{where}: {key} has more than six decimals, which no bill has: {_AGAIN}")
    return int(scaled)
