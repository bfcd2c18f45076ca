"""The table of this package names tests that exist, for every report and hazard."""

from __future__ import annotations

import importlib
import re

import pytest

from tests.harness import fails_closed

HERE = fails_closed.__name__


def listed() -> dict[str, list[tuple[str, str]]]:
    """(module, test) by the row that it stands under."""
    rows: dict[str, list[tuple[str, str]]] = {}
    for line in (fails_closed.__doc__ or "").split("\n\n", 2)[2].splitlines():
        if line.startswith("    "):
            module, _, test = line.strip().partition("::")
            rows[next(reversed(rows))].append((re.sub(r"^here\b", HERE, module), test))
        elif line:
            rows[line.partition(" (")[0]] = []
    return rows


def test_no_row_is_empty_and_no_report_is_left_out() -> None:
    rows = listed()
    assert {row for row in rows if row.isdigit()} == {str(number) for number in range(1, 22)}
    assert [row for row, tests in rows.items() if not tests] == []


@pytest.mark.parametrize(("module", "test"), sorted({each for tests in listed().values() for each in tests}))
def test_a_test_that_is_named_exists(module: str, test: str) -> None:
    assert test.startswith("test_")
    assert callable(getattr(importlib.import_module(module), test))
