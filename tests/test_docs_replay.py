"""The page of recorded runs names every format and every metric that there is, as the code has them, and no other."""

from __future__ import annotations

import re

from harness.cli.exits import Exit
from harness.formats.run_formats import NAMES
from kpis.formulas.recorded.carried import BY
from kpis.formulas.recorded.evaluate import metric_ids
from kpis.recorded_metrics import load
from kpis.terms.kpi import Direction
from kpis.terms.metric import MetricClass
from tests.conftest import REPO

PAGE = (REPO / "docs" / "replay.md").read_text(encoding="utf-8")
BETTER = {Direction.LOWER: "lower", Direction.HIGHER: "higher", Direction.NEUTRAL: "-"}


def metric_tables() -> str:
    """What stands between the marks: a table a class, a row a metric that a transcript gives."""
    parts = []
    for kind in MetricClass:
        rows = [row for name, row in load().items() if row.metric_class is kind and name in metric_ids()]
        if rows:
            parts.append(f"**{kind.value.capitalize()}**\n")
            parts.append("| metric | kind | unit | better | many runs |\n|---|---|---|---|---|")
            parts += [
                f"| `{row.id}` | {row.kind.value} | {row.unit.value} | {BETTER[row.direction]} | {row.combine.value} |"
                for row in rows
            ]
            parts.append("")
    return "\n".join(parts).rstrip()


def test_every_metric_of_a_transcript_stands_on_the_page_as_it_is() -> None:
    found = re.search(r"<!-- metrics -->\n\n(.*?)\n\n<!-- metrics end -->", PAGE, re.DOTALL)
    assert found is not None
    assert found[1] == metric_tables(), f"between the marks of docs/replay.md there should stand:\n{metric_tables()}"


def test_every_format_has_a_row() -> None:
    table = PAGE.partition("<!-- formats -->")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE) == list(NAMES)
    assert {line.count(" | ") for line in table.splitlines() if line.startswith("| `")} == {5}


def test_every_key_and_every_exit_code_is_named() -> None:
    assert all(f"`{key}`" in PAGE for key in BY)
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)}
    assert codes == {int(code) for code in Exit if code < Exit.INTERRUPTED}
