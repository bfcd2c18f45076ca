"""The baseline file: the same rows give the same bytes, and whatever is amiss in one has a sentence of its own."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from harness.record.baseline import BaselineFile, Moved, Row, Session, Waiver, different, encode
from harness.record.baseline_read import BaselineError, decode
from harness.record.baselines import load, parse
from harness.record.run import Mode
from kpis.terms.kpi import Direction, Estimand, Gate
from kpis.terms.quantity import Unit

DAY = date(2031, 1, 1)
RUN = "0123456789abcdef"

TIMED = Row(
    unit=Unit.NS,
    direction=Direction.LOWER,
    gate=Gate.TIMED,
    estimand=Estimand.CALL_MEAN,
    limit=1234.567,
    mode=Mode.DEFAULT,
    isolation="noop",
    loops=4096,
    values=5,
    workload="ab" * 32,
    sessions=(Session(DAY, "a1b2c3", RUN, 1000.25, 12), Session(date(2031, 1, 2), "a1b2c3", RUN, 1001.0, 12)),
    waiver=Waiver("the disk is being replaced", date(2031, 2, 1)),
    moved=Moved("a slower and safer parser", DAY),
)
COUNT = Row(
    unit=Unit.COUNT,
    direction=Direction.NEUTRAL,
    gate=Gate.EXACT,
    estimand=Estimand.HISTOGRAM,
    limit=12,
    mode=Mode.DEFAULT,
    isolation=None,
    workload=None,
    sessions=(Session(DAY, "unknown", RUN),),
    histogram={"deny": 4, "allow": 8},
    pending=DAY,
)
RATE = replace(
    COUNT, estimand=Estimand.RATE, unit=Unit.RATIO, limit=0.75, numerator=3, denominator=4, histogram=None, pending=None
)
FILE = BaselineFile(
    {"python": "3.11.7"}, {"cores": 2}, {"reap[slice=kernel]": TIMED, 'why says "so"': COUNT, "a_rate": RATE}
)
NAME = "baselines/box/turn.toml"


def test_what_is_written_is_read() -> None:
    blob = encode(FILE)
    assert decode(blob, NAME) == FILE
    assert encode(decode(blob, NAME)) == blob


def test_rows_stand_in_the_order_of_their_names() -> None:
    turned = replace(FILE, rows=dict(reversed(FILE.rows.items())), exact=dict(reversed(FILE.exact.items())))
    assert encode(turned) == encode(FILE)
    text = encode(FILE).decode()
    assert text.index("[kpi.a_rate]") < text.index('[kpi."reap[slice=kernel]"]') < text.index('[kpi."why says')


def test_a_session_is_one_line_of_a_diff() -> None:
    lines = encode(FILE).decode().splitlines()
    session = '    { day = 2031-01-01, boot = "a1b2c3", median = 1000.25, n = 12, run = "0123456789abcdef" },'
    assert session in lines
    long = replace(TIMED, sessions=(Session(DAY, "a1b2c3", RUN, 123456789.125, 12),))
    assert "[[" not in encode(replace(FILE, rows={"k": long})).decode()


def test_sessions_of_one_day_and_boot_are_one() -> None:
    again = [
        Session(DAY, "a", RUN, 1.0, 12), Session(DAY, "a", RUN, 2.0, 12), Session(DAY, "b", RUN, 3.0, 12),
        Session(date(2031, 1, 2), "a", RUN, 4.0, 12),
    ]  # fmt: skip
    assert [session.median for session in different(again)] == [1.0, 3.0, 4.0]


def test_a_release_has_a_tag_and_a_layer_none() -> None:
    blob = encode(replace(FILE, tag="v1"))
    assert decode(blob, NAME, release=True).tag == "v1"
    with pytest.raises(BaselineError, match="unknown key 'tag'"):
        decode(blob, NAME)
    with pytest.raises(BaselineError, match="has no tag"):
        decode(encode(FILE), NAME, release=True)


SOUND = encode(replace(FILE, rows={"k": TIMED})).decode()
COUNTED = encode(replace(FILE, rows={"k": replace(RATE, waiver=None)})).decode()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("schema = 1\nx", "not valid TOML"),
        ("\udcff".encode("utf-8", "surrogateescape").decode("latin-1") + "=", "not valid TOML"),
        ("", "is no baseline file: its schema is 'None'"),
        ('schema = "harness.run/1"', "is no baseline file: its schema is 'harness.run/1'"),
        ('schema = "harness.baseline/2"', r"is of harness.baseline/2 and this version reads .*; upgrade"),
        ('schema = "harness.baseline/1"', "the file has no fingerprint"),
        ("x = " + "[" * 5000, "nested too deeply"),
        (SOUND.replace("limit = 1234.567", "limmit = 1234.567"), r"unknown key 'limmit' \(did you mean limit\?\)"),
        (SOUND.replace("limit = 1234.567", 'limit = "1234"'), r"\[kpi.k\]\.limit has to be a number"),
        (SOUND.replace("limit = 1234.567", "limit = true"), r"\.limit has to be a number"),
        (SOUND.replace("limit = 1234.567", "limit = nan"), r"\.limit is nan, which is not a finite number"),
        (SOUND.replace("limit = 1234.567", "limit = inf"), r"\.limit is inf, which is not a finite number"),
        (SOUND.replace("limit = 1234.567", "limit = -3"), r"\.limit is -3, and a time is above zero"),
        (SOUND.replace("median = 1000.25", "median = nan"), r"sessions\[0\]\.median is nan"),
        (SOUND.replace("median = 1000.25, ", ""), r"sessions\[0\] has no median"),
        (SOUND.replace("n = 12", "n = 1.5"), r"sessions\[0\]\.n has to be a whole number"),
        (SOUND.replace("loops = 4096", "loops = 0"), r"\.loops is 0, and there is at least one"),
        (SOUND.replace("values = 5", "values = 5.0"), r"\.values has to be a whole number"),
        (COUNTED.replace("limit = 0.75", "limit = 0.75\nloops = 4096"), r"\[kpi.k\] has the unknown key 'loops'"),
        (SOUND.replace(RUN, "latest"), "16 digits that name a run file"),
        (SOUND.replace("ab" * 32, "ab"), "64 digits of a workload"),
        (SOUND.replace("day = 2031-01-01", 'day = "2031-01-01"'), "has to be a date like 2031-01-31, without quotes"),
        (SOUND.replace("day = 2031-01-01", "day = 2031-01-01T10:00:00"), "has to be a date"),
        (SOUND.replace('unit = "ns"', 'unit = "fortnight"'), r"\.unit is 'fortnight'; known are ns"),
        (SOUND.replace('unit = "ns"\n', ""), r"\[kpi.k\] has no unit"),
        (SOUND.replace('gate = "timed"', 'gate = "report"'), "what only reports has no row"),
        (SOUND.replace('why = "the disk is being replaced"', 'why = " "'), "waiver.why has to be a text"),
        (SOUND.replace("until = 2031-02-01", ""), "waiver has no until"),
        (SOUND.replace("on = 2031-01-01", "on = 2031-01-01\nby = 'me'"), "moved has the unknown key 'by'"),
        (SOUND.replace("cores = 2", "cores = 2.5"), "fingerprint.time.cores has to be a text or a whole number"),
        (SOUND + "\n[extra]\n", "the file has the unknown key 'extra'"),
        (COUNTED.replace("limit = 0.75\n", ""), r"\[kpi.k\] has no limit"),
        (COUNTED.replace("denominator = 4\n", ""), r"\[kpi.k\] has no denominator"),
        (COUNTED.replace('boot = "unknown", ', 'boot = "unknown", median = 3.0, '), "unknown key 'median'"),
    ],
)  # fmt: skip
def test_whatever_is_amiss_has_one_sentence(text: str, said: str) -> None:
    with pytest.raises(BaselineError, match=said) as caught:
        decode(text.encode("utf-8"), NAME)
    sentence = str(caught.value)
    assert sentence.startswith(NAME)
    assert "\n" not in sentence.partition("TOML")[0]
    assert "git checkout -- baselines/box/turn.toml" in sentence or "pip install" in sentence


@pytest.mark.parametrize("mark", ["<<<<<<< HEAD", "=======", ">>>>>>> theirs"])
def test_a_conflict_that_nobody_resolved_is_named_with_its_line(mark: str) -> None:
    blob = SOUND.replace("sessions = [\n", f"sessions = [\n{mark}\n").encode()
    with pytest.raises(BaselineError, match=r"turn\.toml, line \d+, holds a merge conflict .*--theirs.*accept"):
        decode(blob, NAME)


def test_a_row_keeps_at_most_twenty_sessions() -> None:
    many = tuple(Session(DAY, f"{boot:06x}", RUN, 1000.0, 12) for boot in range(21))
    assert decode(encode(replace(FILE, rows={"k": replace(TIMED, sessions=many[:20])})), NAME)
    with pytest.raises(BaselineError, match="21 sessions, and a row keeps at most 20"):
        decode(encode(replace(FILE, rows={"k": replace(TIMED, sessions=many)})), NAME)


def test_one_row_stands_in_one_layer(tmp_path: object) -> None:
    blob = encode(FILE)
    record = parse("box", {"turn": blob})
    assert record is not None
    assert [name for _, name, _ in record.rows] == sorted(FILE.rows)
    with pytest.raises(BaselineError, match=r"stands in syscall\.toml as well"):
        parse("box", {"turn": blob, "syscall": blob})


def test_a_machine_with_run_files_alone_has_no_record(tmp_path: object) -> None:
    assert parse("box", {}) is None
    assert parse("box", {"release": encode(replace(FILE, tag="v1"))}) is None


def test_another_folder_is_no_record(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "baselines" / "box" / "runs").mkdir(parents=True)
    assert load(tmp_path, "box") is None
    (tmp_path / "baselines" / "box" / "turn.toml").write_bytes(encode(FILE))
    assert load(tmp_path, "box") is not None
    assert load(tmp_path, "other") is None
