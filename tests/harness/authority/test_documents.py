"""Documents by their parts: what counts as a free number, where blocks lie, how a constant is written."""

import math

import pytest

from harness.report.authority_blocks import document_of, filled
from harness.report.authority_constants import FORMATS, ConstantError, constant_faults, constant_text, constants_filled
from harness.report.authority_lint import free_numbers
from harness.report.authority_numbers import cell, links_in, resolve

KINDS = ("authority", "peers")


def free(text):
    return list(free_numbers(document_of(text, KINDS)))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("It takes 12 ns.", "12 ns"),
        ("It takes 1,234.5µs at most.", "1,234.5µs"),
        ("a wait of .5 s", ".5 s"),
        ("within 60s", "60s"),
        ("20 seconds", "20 seconds"),
        ("2 % slower", "2 %"),
        ("2% slower", "2%"),
        ("five or 7 per cent", "7 per cent"),
        ("4.9\N{MULTIPLICATION SIGN} faster", "4.9\N{MULTIPLICATION SIGN}"),
        ("10x faster", "10x"),
        ("1,200 tok", "1,200 tok"),
        ("a file of 40 kB", "40 kB"),
        ("an 80-byte call", "80-byte"),
        ("3 MiB", "3 MiB"),
        ("it costs $0.0054", "$0.0054"),
        ("1e-3 ms", "1e-3 ms"),
        ("2\N{NO-BREAK SPACE}ms", "2 ms"),
        ("a line that ends in 16\n  ms", "16 ms"),
        ("| cell | 5 ms |", "5 ms"),
        ("# Up to 9 ms", "9 ms"),
        ("[5 ms](x.md)", "5 ms"),
        ("the `code` of 5 ms and `more`", "5 ms"),
        ("1-2 ms", "2 ms"),
        ("5 milliseconds", "5 milliseconds"),
        ("5 microseconds", "5 microseconds"),
        ("5 nanoseconds", "5 nanoseconds"),
        ("5 minutes", "5 minutes"),
        ("1 h", "1 h"),
        ("1 hour", "1 hour"),
        ("4 days", "4 days"),
        ("5 kilobytes", "5 kilobytes"),
        ("5 megabytes", "5 megabytes"),
        ("5 GB", "5 GB"),
        ("5 MS", "5 MS"),
        ("5 Seconds", "5 Seconds"),
        ("**5** ms", "5 ms"),
        ("_5_ ms", "5 ms"),
        ("~~5~~ ms", "5 ms"),
        ("5  ms", "5 ms"),
        ("5\tms", "5 ms"),
        ("5\N{THIN SPACE}ms", "5 ms"),
        ("5\N{ZERO WIDTH SPACE} ms", "5 ms"),
        ("5&nbsp;ms", "5 ms"),
        ("&#53; ms", "5 ms"),
        ("<b>5</b> ms", "5 ms"),
        ("<5 ms and >3", "5 ms"),
        ("| 5 | ms |", "5 | ms"),
        ("900 calls per second", "900 calls per second"),
        ("900 requests/s", "900 requests/s"),
        ("3 times faster", "3 times faster"),
        ("3-fold", "3-fold"),
        ("5k tokens", "5k tokens"),
        ("5 million tokens", "5 million tokens"),
        ("5 percentage points", "5 percentage points"),
        ("10 EUR", "10 EUR"),
        ("EUR 10", "EUR 10"),
        ("``` x ```\n5 ms", "5 ms"),
        ("an odd ` and 5 ms", "5 ms"),
        ("<!-- no end, 5 ms", "5 ms"),
    ],
)
def test_a_number_with_a_unit_is_found(text, number):
    assert [found for _, found in free(text)] == [number]


@pytest.mark.parametrize(
    "text",
    [
        "16 pairs, 64 fresh pairs, 12 processes of 5 values",
        "3 processes x 3 values, or 12 x 5",
        "at 0 of 60",
        "Python 3.11, Apache-2.0, x86_64, sha256",
        "in the 1990s",
        "`--budget 60s`, ``5 ms``, `mean:5%`",
        "a span `that goes\nover 5 ms` of lines",
        "```sh\nsleep 5 s\n```",
        "~~~\n5 ms\n```\n6 ms\n~~~",
        "   ````\n5 ms\n```\n6 ms\n````",
        '[there](page-5ms.md) and [here](a.md "5 ms")',
        "<!-- 5 ms -->",
        "<!-- peers:begin -->\n| 5 ms |\n<!-- peers:end -->",
        "<!-- authority:begin x kpis=a -->\n\n```\n5 ms\n<!-- authority:end -->",
        "A point lasts <!--=a:B ms-->5 ms<!--=--> or longer.",
        "exit code 3 means unknown",
        "5 stages, 7 seams, 2 sides, 3 bounds",
    ],
)
def test_what_is_no_free_number_is_left_alone(text):
    assert free(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "`" * 500_000,
        " ".join("`" * length for length in range(1, 1000)),
        "<!-- " * 100_000,
        "<!--=a:b-->" * 50_000,
        "5," * 200_000,
        "5" + " " * 500_000,
        "5 aaa bbb " * 50_000,
        "<b" * 200_000,
        "a" + "_" * 500_000 + "b",
        "](" * 200_000,
    ],
    ids=("ticks", "lengths", "comments", "marks", "digits", "blanks", "words", "tags", "lines", "links"),
)
def test_a_hostile_text_is_read_to_its_end(text):
    """In time that grows with the text: with its square, each of these would take longer than a test may."""
    assert free(f"a {text}\n\nIt takes 7 ms.")[-1] == (3, "7 ms")


def test_lines_are_counted_through_code_and_blocks():
    text = "a\n\n```\n1 ms\n```\n<!-- peers:begin -->\n2 ms\n<!-- peers:end -->\n`x\ny` 3 ms\n"
    assert free(text) == [(10, "3 ms")]


def test_a_block_that_no_command_fills_is_prose():
    text = "<!-- mine:begin -->\n5 ms\n<!-- mine:end -->\n"
    assert free(text) == [(2, "5 ms")]
    assert document_of(text, KINDS).blocks == []


def test_blocks_are_found_with_their_words_and_not_inside_code():
    mark = "  <!-- authority:begin main kpis=a,b points=all -->"
    text = f"```\n<!-- authority:begin no -->\n```\n{mark}\nx\n<!-- authority:end -->\n"
    (block,) = document_of(text, KINDS).blocks
    assert (block.begin, block.end, block.name) == (4, 6, "main")
    assert block.options == {"kpis": "a,b", "points": "all"}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("<!-- peers:begin -->\n", 1, "has no end"),
        ("<!-- peers:begin -->\n<!-- authority:begin x -->\n<!-- authority:end -->\n", 2, "inside that of line 1"),
        ("\n<!-- peers:end -->\n", 2, "has not begun"),
        ("<!-- peers:begin -->\n<!-- authority:end -->\n<!-- peers:end -->\n", 2, "has not begun"),
    ],
)
def test_a_mark_without_its_partner_is_a_fault_and_nothing_is_filled(text, line, words):
    faults = document_of(text, KINDS).faults
    assert (faults[0][0], words in faults[0][1]) == (line, True)
    assert filled(text, KINDS, lambda block: "new") == text


def test_filling_replaces_what_is_between_the_marks_and_nothing_else():
    peers = "<!-- peers:begin -->\nkept\n<!-- peers:end -->"
    text = f"a\r\n<!-- authority:begin x kpis=a -->\nold\n<!-- authority:end -->\n{peers}"
    once = filled(text, KINDS, lambda block: f"new {block.name}\n")
    assert once == text.replace("old\n", "\nnew x\n\n")
    assert filled(once, KINDS, lambda block: f"new {block.name}\n") == once


CONSTANTS = {("a", "B"): 0.02, ("a", "N"): 1600, ("a", "L"): math.log(1.05), ("a", "P"): 0.975, ("a", "T"): "text"}


def lookup(module, name):
    return CONSTANTS[module, name]


@pytest.mark.parametrize(
    ("name", "form", "text"),
    [
        ("B", "percent", "2 %"),
        ("B", "rest-percent", "98 %"),
        ("B", "ms", "20 ms"),
        ("B", "s", "0.02 s"),
        ("B", None, "0.02"),
        ("L", "log-percent", "5 %"),
        ("P", "percent", "97.5 %"),
        ("N", "plain", "1,600"),
        ("N", "hours", "1600 h"),
        ("N", "min", "26.6667 min"),
        ("N", "MiB", "0.00152588 MiB"),
    ],
)
def test_a_constant_is_written_in_its_format(name, form, text):
    assert constant_text("a", name, form, lookup) == text


def test_every_format_is_written_by_somebody():
    assert set(FORMATS) == {"plain", "percent", "rest-percent", "log-percent", "ms", "s", "min", "hours", "MiB"}


@pytest.mark.parametrize(("name", "form"), [("X", None), ("T", None), ("B", "miles")])
def test_a_constant_that_cannot_be_written_is_an_error(name, form):
    with pytest.raises(ConstantError):
        constant_text("a", name, form, lookup)


def test_a_constant_may_break_over_lines_and_is_mended_where_it_lies():
    text = "x <!--=a:B percent-->2\n%<!--=--> y <!--=a:N-->16<!--=-->\n"
    assert list(constant_faults(text, lookup)) == [(2, "reads '16' where a:N is '1,600'")]
    mended = constants_filled(text, lookup)
    assert mended == text.replace(">16<", ">1,600<")
    assert list(constant_faults(mended, lookup)) == []


def test_a_constant_in_code_is_an_example():
    text = "```\n<!--=a:N-->16<!--=-->\n```\n<!--=a:N-->16<!--=-->\n"
    code = document_of(text, KINDS).beside_prose
    assert code == {1, 2, 3}
    assert [line for line, _ in constant_faults(text, lookup, code)] == [4]
    assert constants_filled(text, lookup, code) == "```\n<!--=a:N-->16<!--=-->\n```\n<!--=a:N-->1,600<!--=-->\n"


def test_an_unknown_constant_stays_as_it_is():
    text = "<!--=a:X-->16<!--=-->"
    assert constants_filled(text, lookup) == text


def test_a_pointer_leads_where_rfc_6901_says():
    document = {"": 1, "a/b": {"m~n": [10, 20]}, "text": "abc"}
    assert resolve(document, "") is document
    assert resolve(document, "/") == 1
    assert resolve(document, "/a~1b/m~0n/1") == 20
    for lost in ("/a", "/a~1b/m~0n/2", "/a~1b/m~0n/-1", "/text/0", "/a~1b/m~0n/x"):
        with pytest.raises(LookupError):
            resolve(document, lost)


def test_a_link_is_read_back_with_whatever_is_in_its_text():
    text = cell("a|b [c] *d* `e` \\ <f> ~g~")
    (shown,) = links_in(f"| x | [{text}](../runs/0123456789abcdef.json#/readings/0/histogram) |")
    assert (shown.text, shown.path, shown.hash) == (text, "../runs/0123456789abcdef.json", "0123456789abcdef")
