"""A mebibyte made to stop a rule does not stop it.

No time is asserted: a rule that went back over such a text would run into the limit of the test.
"""

from __future__ import annotations

import pytest

from kpis.rules.catalogue import BUILT_IN
from kpis.rules.subject import Subject
from kpis.rules.utf16 import units
from kpis.terms.evaluation import Case, Span

MIB = 1 << 20

GIVEN = (
    "Set x: true; 5 apples in 10 ms under section 3 with HTTP/1.1 500, react 1.2.3 and v1.2 on Jan 5 2026 at 12:30: "
    "0 rows, 2 failed, usage: --fast --dry-run, exactly 4"
)

PIECES = [
    " ", "\n", " \n", "\t", '"', "'", "`", "``` ", "|", "| ", "[", "(", "[[(", "]", "{", "<!--", "<!-- ai ",
    "[//]: # (", "a", "A.", "a.", "0", "1-", "0.", "9 ", "@", "a@", "a@b.", "...", ". ", "ignore ", "ignore all ",
    "system: ", "you are now ", "dan ", "base64 ", 'x: "ignore ', "display: none>", "passport ", "dob ", "mrn ", "sk-",
    "seed words alpha ", "-----BEGIN ", "DE89370400", "4539 ", "415 867 ", "1.2.3.", "1 + ", "= 1+1=", "TODO ",
    "the TODO ", "# ", "# rest ", "if ", "|| true", "def f():\n", "def f(a):\n    # x\n", "goes here ", "i will ",
    "add x y z ", "tomorrow ", "total of 1 (", "- a: 1\n", "Smith et al. 2020 ", "[1]", "x is enabled ",
    "found 3 results ", "if section 3 ", "returned 404 ", "react 1.2.4 ", "10 s ", "Jan 6 ", "12:31 ", "Monday ",
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
