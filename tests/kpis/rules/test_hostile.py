"""A mebibyte made to stop a rule does not stop it.

No time is asserted: a rule that went back over such a text would run into the limit of the test.
"""

from __future__ import annotations

import pytest

from kpis.rules.catalogue import BUILT_IN
from kpis.rules.hallucination import NO_HALLUCINATION
from kpis.rules.subject import Subject
from kpis.rules.utf16 import units
from kpis.terms.evaluation import Case, Span

MIB = 1 << 20

GIVEN = (
    "Set x: true; 5 apples in 10 ms under section 3 with HTTP/1.1 500, react 1.2.3 and v1.2 on Jan 5 2026 at 12:30: "
    "0 rows, 2 failed, usage: --fast --dry-run, exactly 4\n0 2 * * * dump. Alerts fire above 90%. You may restart it. "
    "Never use eval.\nRefunds take days.\nMara Brandt: I keep it."
)

PIECES = [
    " ", "\n", " \n", "\t", '"', "'", "`", "``` ", "|", "| ", "[", "(", "[[(", "]", "{", "<!--", "<!-- ai ",
    "[//]: # (", "a", "A.", "a.", "0", "1-", "0.", "9 ", "@", "a@", "a@b.", "...", ". ", "ignore ", "ignore all ",
    "system: ", "you are now ", "dan ", "base64 ", 'x: "ignore ', "display: none>", "passport ", "dob ", "mrn ", "sk-",
    "seed words alpha ", "-----BEGIN ", "DE89370400", "4539 ", "415 867 ", "1.2.3.", "1 + ", "= 1+1=", "TODO ",
    "the TODO ", "# ", "# rest ", "if ", "|| true", "def f():\n", "def f(a):\n    # x\n", "goes here ", "i will ",
    "add x y z ", "tomorrow ", "total of 1 (", "- a: 1\n", "Smith et al. 2020 ", "[1]", "x is enabled ",
    "found 3 results ", "if section 3 ", "returned 404 ", "react 1.2.4 ", "10 s ", "Jan 6 ", "12:31 ", "Monday ",
    "runs daily ", "runs at 3 AM ", "every 5 ", "0 0 ", "* * ", "over 90% ", "more than ", "90% or ",
    "you must restart it ", "must ", "The document does not mention a ", "No a b c d\n", "According to Jane ",
    "Jane Roe said ", "Use eval ",
    "\u200b", "\u0430", "e\u0301", "\U0001f600", "\uff15 ", "\u201c", "not implemented ",
]  # fmt: skip


@pytest.mark.timeout(240)
@pytest.mark.parametrize("size", [MIB // 16, pytest.param(MIB, marks=pytest.mark.slow)])
@pytest.mark.parametrize("piece", PIECES)
def test_the_same_over_and_over(piece: str, size: int) -> None:
    text = piece * (size // len(piece.encode()) + 1)
    case = Case(text, input=GIVEN, expected=text[:1000])
    for rule in BUILT_IN:
        found = rule.evaluate(Subject(case))
        assert all(0 <= item.start <= item.end <= units(text) for item in found.evidence if isinstance(item, Span))


SAID = (
    "It runs at 3 AM every day. Alerts fire below 90%. You must restart it. Use eval to read. "
    "The document does not mention refunds. According to Peter Novik it is kept."
)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("size", [MIB // 16, pytest.param(MIB, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "piece", [*PIECES, "0 2 * * * x\n", "may restart ", "never use a", "refunds\n", "Mara Brandt: a "]
)
def test_the_same_over_and_over_in_what_was_given(piece: str, size: int) -> None:
    given = piece * (size // len(piece.encode()) + 1)
    assert NO_HALLUCINATION.evaluate(Subject(Case(SAID, input=given))).skip is None
    assert NO_HALLUCINATION.evaluate(Subject(Case(SAID, input=f"0 2 * * *\n{given}"))).skip is None
