"""The books of the preflight rung: what was caught, and how often it was asked."""

from __future__ import annotations

from hashlib import sha256

from seams.contract.syscall import ToolCall
from seams.syscall.kernel import fresh_kernel
from seams.syscall.preflight import CATCHES, Catch, PreflightRung, offer


def test_there_is_no_rate_before_the_first_call() -> None:
    ladder = PreflightRung({})
    assert ladder.catch_rate() is None
    ladder.adjudicate(ToolCall("x", b"{oops"))
    assert (ladder.catch_rate(), list(ladder.catches)) == (None, []), "it was only decided"


def test_each_catch_is_a_row_without_the_arguments() -> None:
    ladder = PreflightRung({"t": {"n": "number"}})
    for args in (b"{oops", b'{"n":"1"}', b'{"n":1}', b"{}"):
        ladder.adjudicate(ToolCall("t", args, seq=1))
    assert list(ladder.catches) == [
        Catch("t:" + sha256(b"{oops").hexdigest(), -1, 0, "DENY", "MALFORMED"),
        Catch("t:" + sha256(b'{"n":"1"}').hexdigest(), 0, 1, "DENY", "MALFORMED"),
        Catch("t:" + sha256(b"{}").hexdigest(), 0, 1, "DENY", "MALFORMED"),
    ]
    assert (ladder.caught, ladder.total, ladder.catch_rate(), ladder.evicted) == (3, 4, 0.75, 0)


def test_the_oldest_rows_go_and_the_counts_stay() -> None:
    ladder = PreflightRung({}, cap=3)
    for number in range(5):
        ladder.adjudicate(ToolCall(f"t{number}", b"[]", seq=1))
    assert [row.call_hash.partition(":")[0] for row in ladder.catches] == ["t2", "t3", "t4"]
    assert (ladder.caught, ladder.total, ladder.evicted) == (5, 5, 2)
    assert PreflightRung({}).catches.maxlen == CATCHES == 8_192


def test_a_kernel_shows_its_ladder() -> None:
    kernel = offer("noop")
    assert kernel is not None
    kernel.submit(ToolCall("get_x", b"{oops"))
    kernel.submit(ToolCall("get_x"))
    kernel.submit(ToolCall("list_all_airports"))
    assert (kernel.ladder.caught, kernel.ladder.total) == (1, 2), "a fast-path answer never comes to it"
    assert [offer(engine) for engine in ("none", "remote")] == [None, None]


def test_a_repair_is_counted_once_though_it_is_judged_twice() -> None:
    kernel = fresh_kernel("airline")
    kernel.submit(ToolCall("convert_currency", b'{"from":"USD","to":"EUR","amount":1}'))
    assert (kernel.ladder.total, kernel.counters().transforms) == (1, 1)
