"""``replay`` as it is typed: words that make no sense, exit codes, where the file and the page go."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli import replay as command
from kpis.formulas.recorded.evidence import EXPLAINED
from kpis.recorded_metrics import load
from tests.harness.cli.own import Command, Said
from tests.harness.jobs.session_files import Session, authored, busy, lines, put, rollout, verdicts


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Name a file or a folder: python -m harness replay ~/.claude/projects"),
        (("--format", "codx", "x"), "There is no format 'codx' (did you mean codex?); it is one of claude-code, "),
        (("--by", "colour", "x"), "Nothing is attributed by 'colour', but by tool, file, agent, model, "),
        (("--processes", "0", "x"), "--processes takes a number from 1 on"),
        (("--accept", "x"), "none is named: python -m harness replay --gate NAME --accept PATH"),
        (("--gate", "a", "--accept", "--worse", "b", "--why", " ", "--", "x"), "--worse goes with a reason"),
        (("--worse", "b", "--", "x"), "--worse goes with a reason"),
        (("--why", "so", "x"), "--why is the reason of --worse"),
        (("--gate", "a", "--accept", "--why", "so", "x"), "--why is the reason of --worse"),
        (
            ("--gate", "a", "--accept", "--worse", "tool_erors", "--why", "so", "x"),
            "There is no metric 'tool_erors' (did you mean tool_errors?) for --worse to name",
        ),
        (("--compare", "a", "b", "--", "c"), "--compare takes two folders or more, and nothing is named beside them"),
        (("--compare", "a", "b", "--gate", "c"), "goes without --gate"),
        (("--explain", "cache_breaks", "--by", "tool", "x"), "--explain goes with what is read"),
        (("--explain", "cache_brakes", "x"), "named cache_brakes (did you mean cache_breaks?)"),
        (("--explain", "folding_capture_retrieval", "x"), "There is no metric"),
        (("--prices", "nowhere.toml", "x"), "nowhere.toml"),
        (("--prices", "pipe", "x"), "pipe cannot be read (it is no regular file): name a price file that can"),
        (("--oracles", "nowhere.jsonl", "x"), "nowhere.jsonl cannot be read"),
        (("--oracles", "pipe", "x"), "pipe cannot be read (it is no regular file)"),
        (
            ("nowhere",),
            "nowhere cannot be read: No such file or directory. Name a file or a folder that can be read: python -m ",
        ),
        (("--gate", "A/B", "log.jsonl"), "names no record"),
    ],
)
def test_words_that_make_no_sense(
    words: tuple[str, ...], said: str, replay: Callable[..., Said], tmp_path: Path
) -> None:
    put(tmp_path / "log.jsonl", busy().data)
    put(tmp_path / "x", busy().data)
    os.mkfifo(tmp_path / "pipe")
    code, out, err = replay(*words)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


def test_what_no_format_knows(replay: Callable[..., Said], tmp_path: Path) -> None:
    put(tmp_path / "tree" / "a.txt", b"hello")
    code, out, err = replay("tree")
    assert (code, out) == (2, "")
    assert "in none of the known formats (claude-code, claude-stream, codex, " in err
    code, out, err = replay("tree/a.txt")
    assert (code, out) == (2, "")
    assert "tree/a.txt is in no known format of recorded runs." in err


def test_one_run_fills_one_screen(replay: Callable[..., Said], tmp_path: Path) -> None:
    busy().save(tmp_path)
    code, out, err = replay("s-1.jsonl")
    assert (code, err) == (0, "")
    words = [line.split()[0] for line in out.splitlines() if not line.startswith(" ")]
    assert words == ["run", "tokens", "money", "cache", "work", "time", "trust"]
    assert len(out.splitlines()) < 24


def test_part_of_the_input_was_left_out(replay: Callable[..., Said], tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", busy().data + b"garbage\n")
    put(tmp_path / "b.jsonl", rollout())
    assert replay("a.jsonl")[0] == 6
    assert replay("b.jsonl")[0] == 0
    assert replay("b.jsonl", "nowhere")[0] == 6
    put(tmp_path / "c.txt", b"hello")
    assert replay("b.jsonl", "c.txt")[0] == 6
    code, out, _ = replay(".")
    assert code == 6, "a garbage line below a folder is told all the same"
    assert "1 file was in no known format and passed over." in out


def test_a_recording_without_a_request_is_a_recording(replay: Callable[..., Said], tmp_path: Path) -> None:
    Session().ask().save(tmp_path)
    code, out, _ = replay("s-1.jsonl")
    assert code == 0
    assert "0 requests" in out


@pytest.mark.parametrize("body", [b"", b"\n", b"\n\n", b"\0" * 300, b"{", b"[]", b"{}", b"\xef\xbb\xbf\n", b"\xff" * 9])
def test_files_that_hold_nothing(body: bytes, replay: Callable[..., Said], tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", body)
    code, out, err = replay("a.jsonl")
    assert (code, out) == (2, "")
    assert "no known format" in err
    code, _, err = replay("--format", "claude-code", "a.jsonl")
    assert code in (0, 2, 6)
    assert "Traceback" not in err


def test_the_file_and_the_page(replay: Callable[..., Said], tmp_path: Path) -> None:
    busy().save(tmp_path)
    code, page, _ = replay("s-1.jsonl", "--json", "out.json")
    assert code == 0
    assert replay("s-1.jsonl", "--json", "-")[2] == page
    assert json.loads((tmp_path / "out.json").read_bytes())["schema"] == "harness.replay/1"


def test_standard_output_is_the_file_and_nothing_else(loopladder: Command, tmp_path: Path) -> None:
    busy().save(tmp_path)
    done = loopladder("replay", "s-1.jsonl", "--json", "-")
    assert done.returncode == 0
    assert json.loads(done.stdout)["runs"][0]["run"] == "s-1"
    assert "trust" in done.stderr
    told = loopladder("replay", "s-1.jsonl", "--json", "-", "--gate", "mine", "--accept")
    assert json.loads(told.stdout)
    assert "metrics of 1 run are on record: mine.toml" in told.stderr


@pytest.mark.parametrize("target", ["s-1.jsonl", "./x/../s-1.jsonl", "link.json", "checks.jsonl"])
def test_an_input_is_never_written_over(target: str, replay: Callable[..., Said], tmp_path: Path) -> None:
    path = busy().save(tmp_path)
    (tmp_path / "x").mkdir()
    (tmp_path / "link.json").symlink_to(path)
    put(tmp_path / "checks.jsonl", lines({"run": "s-1", "passed": True}))
    before = {each: each.read_bytes() for each in tmp_path.glob("*.jsonl")}
    for paths in (["s-1.jsonl"], ["."]):
        code, _, err = replay(*paths, "--oracles", "checks.jsonl", "--json", target)
        assert code == 2
        assert "names an input and would replace it. Name a new file: --json replay.json" in err
    assert {each: each.read_bytes() for each in tmp_path.glob("*.jsonl")} == before


def test_a_reader_that_goes_away(loopladder: Command, tmp_path: Path) -> None:
    authored(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), "COLUMNS": "80"}
    for words in (["--json", "-"], [], ["--verbose"]):
        command = [sys.executable, "-m", "harness", "replay", ".", *words]
        with subprocess.Popen(
            command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            process.stdout.close()
            err = process.stderr.read().decode()
            assert process.wait(60) == 0
        assert "Traceback" not in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("words", [("--json", "-"), ()])
def test_standard_output_on_a_full_disk(words: tuple[str, ...], tmp_path: Path) -> None:
    busy().save(tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), "COLUMNS": "80"}
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "harness", "replay", "s-1.jsonl", *words]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 70
    assert "The output could not be written: No space left on device." in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_cannot_be_written(
    replay: Callable[..., Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy().save(tmp_path)
    code, _, err = replay("s-1.jsonl", "--json", "s-1.jsonl/out.json")
    assert code == 70
    assert "s-1.jsonl" in err
    assert "Traceback" not in err

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = replay("s-1.jsonl", "--json", "out.json")
    assert code == 70
    assert "the disk (or your quota) is full" in err
    assert not (tmp_path / "out.json").exists()


def test_a_pipe_that_nobody_reads_is_not_waited_for(replay: Callable[..., Said], tmp_path: Path) -> None:
    busy().save(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    code, _, err = replay("s-1.jsonl", "--json", "pipe")
    assert code == 70
    assert "pipe cannot be written: it is a pipe that nobody reads" in err
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert replay("s-1.jsonl", "--json", "pipe")[0] == 0
        assert os.read(reader, 1) == b"{"
    finally:
        os.close(reader)


@pytest.mark.parametrize("score", [1e15, -1e15])
def test_a_score_or_a_cost_beyond_any_real_one(score: float, replay: Callable[..., Said], tmp_path: Path) -> None:
    told = json.dumps({"score": score, "cost_usd": 1e15})[1:-1].encode() + b', "success"'
    put(tmp_path / "a.jsonl", verdicts("c", passed=True).replace(b'"success"', told))
    code, out, err = replay("a.jsonl", "--json", "out.json")
    assert (code, err) == (6, "")
    assert "A score beyond 1,000,000,000,000 is none and was left out." in out
    assert "trust    LOWER BOUNDS" in out
    found = json.loads((tmp_path / "out.json").read_bytes())
    assert found["all"]["metrics"]["score_per_action"]["value"] is None
    assert found["all"]["metrics"]["cost_reported_usd"]["value"] is None


def test_an_output_that_ends_on_no_number_is_a_lower_bound(replay: Callable[..., Said], tmp_path: Path) -> None:
    first, last = busy().answer("msg_x", out=3).data, Session("s-1y", minute=9, sessionId="s-1").answer("msg_x").data
    (end,) = [json.loads(line) for line in last.splitlines()]
    end["message"]["usage"]["output_tokens"] = -7
    put(tmp_path / "s-1.jsonl", first + lines(end))
    code, out, _ = replay("s-1.jsonl")
    assert code == 6
    assert "output >= " in out
    assert "[observed]" not in out


def test_own_prices_go_before_those_that_ship(replay: Callable[..., Said], tmp_path: Path) -> None:
    busy().save(tmp_path)
    put(tmp_path / "own.toml", '[model."claude-sonnet-4-5"]\nfresh = 1000\ncache_read = 1000\noutput = 1000\n'
        "write_5m = 1000\nwrite_1h = 1000\nas_of = 2026-01-31\n")  # fmt: skip
    code, out, _ = replay("s-1.jsonl", "--prices", "own.toml")
    assert code == 0
    assert "$132.51 computed (" in out


def test_verdicts_from_outside(replay: Callable[..., Said], tmp_path: Path) -> None:
    put(tmp_path / "a.jsonl", verdicts("c", passed=True))
    put(tmp_path / "checks.jsonl", lines({"case": "c", "passed": False, "score": 0.25}))
    assert "verdict  1 of 1 judged run passed" in replay("a.jsonl")[1]
    out = replay("a.jsonl", "--oracles", "checks.jsonl", "--json", "out.json")[1]
    assert "verdict  0 of 1 judged run passed" in out
    metrics = json.loads((tmp_path / "out.json").read_bytes())["all"]["metrics"]
    assert metrics["score_per_action"]["value"] == 0.25
    explained = replay("a.jsonl", "--oracles", "checks.jsonl", "--explain", "score_per_action")[1]
    assert explained.startswith("score_per_action: 0.25")


def test_verdicts_that_match_no_run_are_told(replay: Callable[..., Said], tmp_path: Path) -> None:
    put(tmp_path / "a" / "a.jsonl", verdicts("c", passed=True))
    put(tmp_path / "b" / "b.jsonl", verdicts("c", passed=True, prompt=7))
    missed = [{"case": "d", "replicate": 2, "passed": False}, {"run": "e", "passed": True}]
    put(tmp_path / "some.jsonl", lines({"case": "c", "passed": False}, *missed))
    code, out, err = replay("a", "--oracles", "some.jsonl", "--json", "out.json")
    said = "2 of 3 verdicts match no run: the first is on case d, replicate 2."
    assert (code, err) == (0, "")
    assert said in out
    assert [each["message"] for each in json.loads((tmp_path / "out.json").read_bytes())["issues"]] == [said]
    put(tmp_path / "none.jsonl", lines(*missed))
    for words in (["a"], ["--compare", "a", "b"], ["a", "--explain", "score_per_action"]):
        code, _, err = replay("--oracles", "none.jsonl", *words)
        assert code == 0
        assert err.startswith("loopladder: None of the verdicts is on a run that was read: ")
    put(tmp_path / "some.jsonl", lines({"case": "c", "arm": "a", "passed": False}, *missed))
    assert replay("--oracles", "some.jsonl", "--compare", "a", "b")[2] == ""


def test_a_small_folder_tells_the_time_and_leaves_nothing_behind(
    replay: Callable[..., Said], tmp_path: Path, caches: Path
) -> None:
    busy().save(tmp_path / "tree")
    code, out, _ = replay("tree", "--json", "out.json")
    assert code == 0
    assert "time     wall " in out
    (run,) = json.loads((tmp_path / "out.json").read_bytes())["runs"]
    walls = sum(turn["ms"]["wall"] for turn in run["turns"])
    assert walls == run["metrics"]["time_wall_ms"]["value"] > 0
    assert {turn["file"] for turn in run["turns"]} == {"tree/s-1.jsonl"}
    assert list(caches.iterdir()) == []


def test_turns_are_shown_where_time_was_asked_for(replay: Callable[..., Said], tmp_path: Path) -> None:
    busy().save(tmp_path / "tree")
    assert "turn, first answer" not in replay("tree")[1]
    out = replay("tree", "--time")[1]
    rows = out[out.index("turn, first answer") :].splitlines()
    assert rows[0].split()[-6:] == ["wall", "model", "tool", "user", "idle", "other"]
    assert all(row.startswith("tree/s-1.jsonl:") for row in rows[1:3])


def test_the_dollars_of_a_tier_are_dollars(replay: Callable[..., Said], tmp_path: Path) -> None:
    Session().ask().answer("msg_1", fresh=1000, read=2000, write=3000, out=40).save(tmp_path)
    out = " ".join(replay("--explain", "cost_computed_usd", "s-1.jsonl")[1].split())
    assert "detail cache_read $0.0006, cache_write $0.0112, fresh $0.003, output $0.0006" in out
    page = " ".join(replay("s-1.jsonl")[1].split())
    assert "(fresh input $0.003, cache reads $0.0006, cache writes $0.0112, output $0.0006)" in page


def test_what_has_no_file_names_its_run(replay: Callable[..., Said], tmp_path: Path) -> None:
    session = Session().ask()
    for at in range(4):
        session.answer(f"msg_{at}", out=1, text="w" * 400, stop=None)
    session.save(tmp_path)
    out = replay("--explain", "output_tokens", "s-1.jsonl")[1]
    assert "(no file)" not in out
    assert "  run s-1: W_PLACEHOLDER_OUTPUT: " in out


def test_a_cache_that_is_kept_says_the_same(
    replay: Callable[..., Said], tmp_path: Path, caches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_LEDGER_BYTES", 0)  # as if it were a large tree
    authored(tmp_path / "tree")
    first = replay("tree", "--json", "-")
    assert list((caches / "loopladder").iterdir())
    assert replay("tree", "--json", "-") == first
    assert replay("tree", "--json", "-", "--afresh") == first


SHAPES = ("session", "sub-agents", "placeholder", "rollout", "log", "trajectory", "spans", "empty", "stream", "context")


@pytest.mark.parametrize("shape", SHAPES)
def test_every_number_explains_itself(shape: str, replay: Callable[..., Said], tmp_path: Path) -> None:
    path = authored(tmp_path)[shape].relative_to(tmp_path)
    computed = json.loads(replay(path, "--time", "--json", "-")[1])["all"]["metrics"]
    assert computed.keys() >= EXPLAINED
    for number in computed:
        code, out, err = replay("--explain", number, path)
        assert (code, err) == (0, ""), number
        assert out.splitlines()[0].startswith(number)
        assert max(map(len, out.splitlines())) <= 80, number
        assert load()[number].definition.split()[0] in out


def test_lines_behind_a_number_are_named(replay: Callable[..., Said], tmp_path: Path) -> None:
    busy().save(tmp_path)
    out = replay("--explain", "tool_denials", "s-1.jsonl")[1]
    assert "s-1.jsonl:6: " in out
    many = replay("--explain", "tool_errors", tmp_path)[1]
    assert many.count("s-1.jsonl:") == 7
    hidden = replay("--explain", "exposed_main_peak", "s-1.jsonl")[1]
    assert "/desk/" not in hidden
