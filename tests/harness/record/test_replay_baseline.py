"""The record of recorded runs on a disk: stable, and refused where a hand was at it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.record.atomic import StoreError
from harness.record.replay_baseline import Recorded, ReplayBaseline, baseline_path, encode, read_baseline
from tests.harness.jobs.session_files import put

SMALL = ReplayBaseline(
    2, {"b": Recorded(0.25, of=4), "a": Recorded(7, None, "a longer task"), "c": Recorded(None, "nothing says it")}
)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    path = put(tmp_path / "x.toml", encode(SMALL))
    assert read_baseline(path) == SMALL
    assert encode(SMALL).index(b"metric.a") < encode(SMALL).index(b"metric.b")


NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(-1e300, 1e300)
ROWS = st.builds(Recorded, NUMBERS, st.none(), st.none() | st.text(max_size=9)) | st.builds(
    Recorded, st.none(), st.text(min_size=1, max_size=9)
)


@given(
    st.integers(0, 1 << 40), st.dictionaries(st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True), ROWS, max_size=4)
)
def test_every_record_is_read_back(runs: int, rows: dict[str, Recorded]) -> None:
    from tempfile import TemporaryDirectory

    baseline = ReplayBaseline(runs, rows)
    with TemporaryDirectory() as folder:
        path = put(Path(folder) / "x.toml", encode(baseline))
        back = read_baseline(path)
    assert back == baseline
    assert back is not None
    assert encode(back) == encode(baseline)


def test_what_was_written_before_there_were_context_runs_and_attempts_is_read(tmp_path: Path) -> None:
    path = put(tmp_path / "x.toml", HEAD + "[metric.a]\nvalue = 3\n")
    assert read_baseline(path) == ReplayBaseline(1, {"a": Recorded(3)}, 0)


def test_where_there_is_none(tmp_path: Path) -> None:
    assert read_baseline(tmp_path / "nowhere.toml") is None


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "../a", "A", "a b", "x" * 65, "-a", "a\n", "\x1b[31m", "~", "a\0"]
)
def test_a_name_that_leads_elsewhere(name: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="names no record"):
        baseline_path(tmp_path, name)


def test_where_a_record_lies(tmp_path: Path) -> None:
    assert baseline_path(tmp_path, "my.sessions-2") == tmp_path / "baselines" / "replay" / "my.sessions-2.toml"


HEAD = 'schema = "harness.replay-baseline/1"\nruns = 1\n'


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<<<<<<< ours\n" + HEAD, "is no record"),
        ("\x00\xff", "is no record"),
        ("a = " + "[" * 99_999, "is no record"),
        ("", "is of schema None"),
        (HEAD.replace("/1", "/9"), "is of schema 'harness.replay-baseline/9'"),
        (HEAD, "was edited by hand"),
        (HEAD + "more = 1\n[metric]\n", "was edited by hand"),
        (HEAD.replace("1\n", "-1\n") + "[metric]\n", "was edited by hand"),
        (HEAD.replace("runs = 1", "runs = true") + "[metric]\n", "was edited by hand"),
        (HEAD + "metric = 3\n", "was edited by hand"),
        (HEAD + "contexts = -1\n[metric]\n", "was edited by hand"),
        (HEAD + "[metric.a]\nvalue = 1\nof = -2\n", "metric a was edited by hand"),
        (HEAD + "[metric.a]\nvalue = 1\nof = 0.5\n", "metric a was edited by hand"),
        (HEAD + "[metric]\na = 3\n", "metric a was edited by hand"),
        (HEAD + "[metric.a]\n", "it has a value or why it is undefined"),
        (HEAD + '[metric.a]\nvalue = 1\nundefined = "x"\n', "it has a value or why it is undefined"),
        (HEAD + "[metric.a]\nvalue = 1\nlimit = 2\n", "metric a was edited by hand"),
        (HEAD + "[metric.A]\nvalue = 1\n", "metric A was edited by hand"),
        (HEAD + "[metric.a]\nundefined = 4\n", "metric a was edited by hand"),
        (HEAD + "[metric.a]\nvalue = 1\nwhy = 4\n", "metric a was edited by hand"),
        (HEAD + '[metric.a]\nvalue = "1"\n', "is no value"),
        (HEAD + "[metric.a]\nvalue = nan\n", "is no value"),
        (HEAD + "[metric.a]\nvalue = inf\n", "is no value"),
        (HEAD + "[metric.a]\nvalue = true\n", "is no value"),
        (HEAD + f"[metric.a]\nvalue = 1{'0' * 400}\n", "is no value"),
        (HEAD + "[metric.a]\nvalue = 2026-01-01\n", "is no value"),
        (HEAD + "[metric.success_ratio]\nvalue = 7.5\n", "metric success_ratio was edited by hand: it is never 7.5"),
        (HEAD + "[metric.cache_hit_ratio_normal]\nvalue = -0.1\n", "it is never -0.1"),
        (HEAD + "[metric.output_tokens]\nvalue = -400\n", "it is never -400"),
        (HEAD + "[metric.output_tokens]\nvalue = 6e23\n", "it is never 6e+23"),
        (HEAD + "[metric.tool_errors]\nvalue = -1\n", "it is never -1"),
        (HEAD + "[metric.cost_computed_usd]\nvalue = -0.5\n", "it is never -0.5"),
    ],
)
def test_what_we_did_not_write_is_refused(body: str, said: str, tmp_path: Path) -> None:
    path = put(tmp_path / "x.toml", body.encode("latin-1"))
    with pytest.raises(StoreError) as caught:
        read_baseline(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert str(caught.value).rpartition("git ")[1], "the sentence ends with a command"


@pytest.mark.parametrize(
    ("name", "value"),
    [("score_per_action", -3), ("success_ratio", 1), ("pma_all_pairs", 1.638), ("exposed_main_median", 2.5), ("a", -9)],
)
def test_what_a_metric_may_be_is_read(name: str, value: float, tmp_path: Path) -> None:
    path = put(tmp_path / "x.toml", f"{HEAD}[metric.{name}]\nvalue = {value}\n")
    read = read_baseline(path)
    assert read is not None
    assert read.metrics[name].value == value


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot be read: it is no regular file; see `ls -ld "):
        read_baseline(tmp_path)
