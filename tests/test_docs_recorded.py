"""The pages of the formats that a user writes: every field that is read stands there, and what is shown is sound."""

from __future__ import annotations

import json
import re
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

import pytest

from harness.formats.context_events import read_context_file
from harness.formats.limits import Limits
from kpis import prices
from kpis.formulas.context.evaluate import evaluate
from kpis.formulas.recorded.pricing import PriceTable
from kpis.prices import user_prices
from kpis.terms.context_run import Action, ContextRequest, Fold, RunEnd, RunHeader
from kpis.terms.context_state import Anchor, OracleVerdict, Presented, StateChange
from tests.conftest import REPO
from tests.test_docs import lay_out

CONTEXT = (REPO / "docs" / "context-format.md").read_text(encoding="utf-8")
PRICES = (REPO / "docs" / "prices.md").read_text(encoding="utf-8")
LINES: dict[str, Any] = {
    "run": RunHeader, "request": ContextRequest, "fold": Fold, "action": Action, "anchor": Anchor,
    "state": StateChange, "presented": Presented, "verdict": OracleVerdict, "end": RunEnd,
}  # fmt: skip


def needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def test_every_field_of_a_context_run_has_a_row_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\*\*)?`(\w+)`", CONTEXT, re.MULTILINE)
    told = {(line, name, bool(bold)) for line, bold, name in rows}
    assert len(told) == len(rows)
    assert told == {(line, each.name, needed(each)) for line, kind in LINES.items() for each in fields(kind)}


def test_the_context_run_that_is_shown_says_what_it_should(tmp_path: Path) -> None:
    lay_out("docs/context-format.md", tmp_path)
    path = tmp_path / "context.jsonl"
    with path.open("rb") as blob:
        (run,) = read_context_file(blob, "context.jsonl", Limits()).runs
    assert run.issues == ()
    assert {json.loads(line)["type"] for line in path.read_text("utf-8").splitlines()} == LINES.keys()
    found = {name: metric.value for name, metric in evaluate(run).items()}
    assert found["shared_prefix_tokens"] == 400
    assert found["reclaimed_tokens"] == 800
    assert found["recall_returned_tokens"] == 120
    assert found["authority_loss_rate"] == 0


def test_every_key_of_a_price_file_has_a_row_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", PRICES, re.MULTILINE)
    assert sorted(rows) == sorted(["replaces", *prices._KEYS])


def shown(folder: Path, before: str = "") -> PriceTable:
    lay_out("docs/prices.md", folder)
    path = folder / "prices.toml"
    path.write_text(before + path.read_text(encoding="utf-8"), encoding="utf-8")
    return user_prices(path, Path.read_bytes)


@pytest.mark.parametrize("model", ["corp-large", "CORP-Large-20261101", "corp-xl-9"])
def test_the_prices_that_are_shown_are_taken(model: str, tmp_path: Path) -> None:
    row = shown(tmp_path).find(model)
    assert row is not None
    assert (row.price.fresh, row.price.write_5m, row.above) == (2_500_000, 3_125_000, 200_000)
    assert row.long is not None
    assert row.long.write_1h == row.long.fresh == 5_000_000


def test_the_table_stands_alone_where_it_says_so(tmp_path: Path) -> None:
    assert shown(tmp_path).find("gpt-5") is not None
    assert shown(tmp_path, "replaces = true\n").find("gpt-5") is None
