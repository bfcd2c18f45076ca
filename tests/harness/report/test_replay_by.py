"""Attribution in words: names that can be told apart on eighty columns, and dashes for what is not known."""

from __future__ import annotations

import io

from harness.report.page import console_on
from harness.report.replay_by import render_attribution
from kpis.formulas.recorded.carried import RESIDUAL, CarriedParts, CarriedRow


def table(rows: dict[str, CarriedRow], by: str = "file", *, verbose: bool = False, **more: int) -> list[str]:
    whole = sum(row.initial + row.carried for row in rows.values())
    parts = CarriedParts(rows=rows, prompt=whole, unsized=sum(row.unsized for row in rows.values()), **more)
    stream = io.StringIO()
    render_attribution(parts, by, console_on(stream, 80), verbose=verbose)
    return stream.getvalue().splitlines()[1:]


PATHS = [f"services/billing/src/main/handlers/file_{at}.py" for at in range(3)]


def test_paths_and_tools_that_begin_alike_are_told_apart() -> None:
    for names in (PATHS, [f"mcp__company_internal_search__{what}_docs" for what in ("find", "list", "read")]):
        shown = [row.split()[0] for row in table({name: CarriedRow(1, 10) for name in names})[1:4]]
        assert len(set(shown)) == 3
        assert all(name.startswith("...") for name in shown)


def test_a_label_of_ours_keeps_its_beginning() -> None:
    assert table({RESIDUAL: CarriedRow(0, 10)})[1].startswith("(system prompt, tool...  ")


def test_no_name_is_cut_where_everything_is_asked_for() -> None:
    rows = table({**{name: CarriedRow(1, 10) for name in PATHS}, "x" * 190: CarriedRow(1, 5)}, verbose=True)
    assert [row for row in rows if row in PATHS] == PATHS
    assert max(map(len, rows)) <= 80
    assert "".join(rows).count("x") == 190


def test_an_agent_has_its_name_whole() -> None:
    key = "subagent explore, result never read: agent-a1b2c3"
    assert key in table({key: CarriedRow(2, 10)}, "agent")


def test_what_no_call_says_is_a_dash_and_a_sentence() -> None:
    rows = table({"Read": CarriedRow(calls=2, unsized=2), "Bash": CarriedRow(calls=2, initial=40, unsized=1)}, "tool")
    assert next(row for row in rows if row.startswith("Read")).split() == ["Read", "2", "-", "-", "0", "-", "-"]
    assert next(row for row in rows if row.startswith("Bash")).split()[:4] == ["Bash", "2", "40", "0"]
    said = " ".join(" ".join(rows).split())
    assert "3 calls do not say how large the result was, which is in the row of the prompt." in said
    assert "not say how large" not in " ".join(table({"Read": CarriedRow(1, 10)}, "tool"))


def test_where_a_prompt_is_not_known_the_sentence_says_what_is_in_a_row() -> None:
    said = " ".join(" ".join(table({"Read": CarriedRow(calls=1, unsized=1)}, "tool", unknown=1)).split())
    assert "1 call does not say how large the result was or stands beside a prompt that is not known" in said
    assert "1 request does not say the whole prompt, whose tokens are in no row; the known cost is." in said
