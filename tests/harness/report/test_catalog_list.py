"""``list`` on a terminal: ids are whole, status and unit are always there, questions are wrapped and never cut."""

import pytest

from harness.report.catalog_list import list_text
from kpis.registry import load
from kpis.terms.kpi import Status

CATALOG = load()
STATUSES = {kpi.id: Status.PROPOSED for kpi in CATALOG}


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal_and_nothing_is_cut(width):
    text = list_text(CATALOG, STATUSES, width)
    lines = text.splitlines()
    words = " ".join(text.split())
    assert max(map(len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)
    for kpi in CATALOG:
        at = next(index for index, line in enumerate(lines) if line.split()[:1] == [kpi.id])
        beside = " ".join(lines[at : at + 2]).split()
        assert beside[1:3] == ["proposed", kpi.unit.value]
        if width < 100:
            assert kpi.question in words


@pytest.mark.parametrize(
    ("width", "titles"),
    [
        (40, ["KPI", "status", "unit"]),
        (50, ["KPI", "status", "unit"]),
        (80, ["KPI", "status", "unit", "gate", "better"]),
        (160, ["KPI", "status", "unit", "gate", "better", "question"]),
    ],
)
def test_columns_have_headings(width, titles):
    assert list_text(CATALOG, STATUSES, width).partition("\n\n")[0].split() == titles


def test_a_question_has_a_column_where_that_is_wide_enough_and_else_stands_below():
    (wide, denies), (below, question) = (
        list_text([CATALOG.get("denies")], STATUSES, width).splitlines()[-2:] for width in (100, 60)
    )
    assert wide == "syscall: one tool call"
    assert denies == "  denies  proposed  count  exact  neutral  How many calls of the trace does the kernel refuse?"
    assert below == "  denies  proposed  count  exact  neutral"
    assert question == "    How many calls of the trace does the kernel refuse?"


def test_a_wrapped_question_stays_in_its_column():
    lines = list_text([CATALOG.get("turn_spawn_ns")], STATUSES, 100).splitlines()
    first, second = lines[-2:]
    assert second.index(second.strip()) == first.index("How long")


def test_an_empty_list_is_empty():
    assert list_text([], STATUSES, 80) == ""
