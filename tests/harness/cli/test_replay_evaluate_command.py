"""``replay --evaluate`` as it is typed: words, exit codes, the file, and the page on eighty columns."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.cli.own import Said
from tests.harness.jobs.session_files import Session, put

HEADINGS = {"verdict", "risk", "open", "decided", "veto", "advisory", "no answer", "not judged", "in part", "not asked"}


def session(name: str, results: str, minute: float = 0) -> Session:
    """A session that makes one call for each of ``results``: a letter is what came of it, ``!`` an error."""
    made = Session(name, minute=minute).ask()
    for at, said in enumerate(results):
        made.answer(f"{name}-m{at}", (f"{name}-{at}", "Bash", {"command": "make"}))
        made.result(f"{name}-{at}", said, error=said == "!")
    return made


LOOPED, CLEAN, FAILED, SILENT = "aaaaa", "abc", "ab!", ""


@pytest.fixture
def run(replay: Callable[..., Said], tmp_path: Path) -> Callable[..., Said]:
    """Run ``replay`` in a folder that holds nothing but a configuration in which one rule is critical."""
    put(tmp_path / "critical.toml", 'criticalRules = ["no_tool_loop"]\n')
    return replay


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--config", "critical.toml", "x"), "replay PATH --evaluate --config FILE"),
        (("--evaluate", "--gate", "a", "x"), "--evaluate judges runs, and --gate asks something else of them"),
        (("--evaluate", "--by", "tool", "x"), "and --by asks something else"),
        (("--evaluate", "--time", "x"), "and --time asks something else"),
        (("--evaluate", "--explain", "tool_calls", "x"), "and --explain asks something else"),
        (("--evaluate", "--compare", "a", "b"), "and --compare asks something else"),
        (("--evaluate",), "Nothing was named to read"),
        (("--evaluate", "x", "--config", "nowhere.toml"), "nowhere.toml cannot be read"),
        (("--evaluate", "x", "--config", "bad.toml"), "no_tool_lop"),
        (("--evaluate", "x", "--config", "critical.toml", "--json", "critical.toml"), "names an input"),
        (("--evaluate", "nowhere"), "nowhere cannot be read"),
    ],
)
def test_words_that_make_no_sense(words: tuple[str, ...], said: str, run: Callable[..., Said], tmp_path: Path) -> None:
    put(tmp_path / "x", session("s-1", CLEAN).data)
    put(tmp_path / "bad.toml", 'criticalRules = ["no_tool_lop"]\n')
    code, out, err = run(*words)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("runs", "words", "expected"),
    [
        ([CLEAN], (), 0),
        ([LOOPED], (), 3),
        ([LOOPED], ("--config", "critical.toml"), 1),
        ([FAILED], ("--config", "critical.toml"), 3),
        ([SILENT], (), 3),
        ([CLEAN, SILENT], (), 3),
        ([CLEAN, FAILED, LOOPED], ("--config", "critical.toml"), 1),
    ],
)
def test_exit_codes(
    runs: list[str], words: tuple[str, ...], expected: int, run: Callable[..., Said], tmp_path: Path
) -> None:
    for at, results in enumerate(runs):
        session(f"s-{at}", results, at).save(tmp_path / "runs")
    assert run("runs", "--evaluate", *words)[0] == expected


@pytest.mark.parametrize(("results", "expected"), [(CLEAN, 3), (LOOPED, 1)])
def test_what_could_not_be_read_is_told_and_never_passes(
    results: str, expected: int, run: Callable[..., Said], tmp_path: Path
) -> None:
    made = session("s-1", results)
    made.lines[-1] = b'{"type": "user", "message": \n'
    made.ask()
    made.save(tmp_path / "runs")
    code, out, _ = run("runs", "--evaluate", "--config", "critical.toml")
    assert code == expected
    assert "s-1.jsonl" in out


def test_a_file_that_is_left_out_ends_with_six(run: Callable[..., Said], tmp_path: Path) -> None:
    session("s-1", CLEAN).save(tmp_path / "runs")
    put(tmp_path / "runs" / "broken.zip", b"PK\x03\x04 and no more")
    code, out, _ = run("runs", "--evaluate")
    assert code == 6
    assert "verdict     pass, clean" in out


def test_one_run_on_eighty_columns(run: Callable[..., Said], tmp_path: Path) -> None:
    session("s-1", "aaaaa!").save(tmp_path)
    code, out, err = run("s-1.jsonl", "--evaluate", "--config", "critical.toml")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[:4] == [
        "run s-1  claude-code  6 tool calls",
        "  verdict     fail, detector_veto by no_tool_loop",
        "  decided     no_tool_loop: One call was made 5 times, over 3 (its accuracy is",
        "              unmeasured)",
    ]
    assert "              s-1.jsonl:2  Bash, repeated call" in lines
    assert "              s-1.jsonl:12  Bash, error" in lines
    assert {line[2:13].strip() for line in lines[1:] if line and line[2] != " "} <= HEADINGS
    assert "  not judged  safe_output, grounded, complete, relevant: not carried: no text of" in lines


RULES = """
[[deployed_rules]]
severity = "critical"
definition = {name = "is_json", type = "json_schema"}
[[deployed_rules]]
definition = {name = "is_short", type = "max_length", config = {max = 9}}
"""


@pytest.mark.parametrize("runs", [1, 3])
def test_rules_of_ones_own_that_a_recording_cannot_answer_are_named(
    runs: int, run: Callable[..., Said], tmp_path: Path
) -> None:
    put(tmp_path / "rules.toml", f'onCriticalSkipped = "fail"{RULES}')
    for at in range(runs):
        session(f"s-{at}", CLEAN, at).save(tmp_path / "runs")
    code, out, _ = run("runs", "--evaluate", "--config", "rules.toml")
    lines = out.splitlines()
    assert code == 1
    assert lines.count("  verdict     fail, critical_unknown by is_json") == runs
    assert lines.count("  no answer   is_json: not carried: the text that it is to read") == runs
    assert lines.count("  skipped     is_short: not carried: no text of a recording is kept") == 1


def test_an_open_verdict_says_what_it_waits_for(run: Callable[..., Said], tmp_path: Path) -> None:
    session("s-1", LOOPED).save(tmp_path)
    said = " ".join(run("s-1.jsonl", "--evaluate")[1].split())
    assert "open no_tool_loop: One call was made 5 times, over 3; how often no_tool_loop is right is" in said
    assert "unmeasured (no accuracy table was given); set accuracy or criticalRules s-1.jsonl:2 Bash" in said
    assert "decided" not in said


def test_a_fail_by_the_prior_alone_accuses_nobody(run: Callable[..., Said], tmp_path: Path) -> None:
    put(tmp_path / "prior.toml", 'accuracy = "loopladder"\nprior = 0.9\n')
    session("s-1", CLEAN).save(tmp_path)
    code, out, _ = run("s-1.jsonl", "--evaluate", "--config", "prior.toml")
    assert code == 1
    assert "  verdict     fail, risk_over_loss\n" in out
    assert "              no detector fired; the prior decides; likeliest:" in out


def test_a_question_answered_in_part_says_by_which_rule_it_was_not(run: Callable[..., Said], tmp_path: Path) -> None:
    put(tmp_path / "cost.toml", "[ruleThresholds]\ncost_threshold = 5\n")
    session("s-1", CLEAN).save(tmp_path)
    said = " ".join(run("s-1.jsonl", "--evaluate", "--config", "cost.toml")[1].split())
    assert "in part within_budget: 1 of 2 rules (verbosity_ratio: not carried: " in said


def test_a_long_place_stays_whole(run: Callable[..., Said], tmp_path: Path) -> None:
    folder = "a-folder-with-a-long-name/and-another-one-below-it"
    session("s-1", LOOPED).save(tmp_path / folder)
    _, out, _ = run(folder, "--evaluate")
    lines = out.splitlines()
    at = lines.index(f"{'':<14}{folder}/s-1.jsonl:2")
    assert lines[at + 1] == f"{'':<16}Bash, repeated call"


def test_of_many_runs_those_that_passed_are_counted(run: Callable[..., Said], tmp_path: Path) -> None:
    for at in range(30):
        session(f"s-{at:02}", (CLEAN, FAILED, LOOPED)[at % 3], at).save(tmp_path / "runs")
    code, out, _ = run("runs", "--evaluate", "--config", "critical.toml")
    assert code == 1
    assert "30 runs: 10 pass, 10 fail, 10 unknown" in out
    assert out.count("\nrun ") + out.startswith("run ") == 20
    assert out.count("no text of") == 1
    for at in range(30, 60):
        session(f"s-{at:02}", FAILED, at).save(tmp_path / "runs")
    _, out, _ = run("runs", "--evaluate", "--config", "critical.toml")
    assert out.count("  verdict     fail") == 10
    assert out.count("  verdict     unknown") == 15
    assert "25 more runs with an open verdict are not shown; --verbose names all." in out
    _, out, _ = run("runs", "--evaluate", "--config", "critical.toml", "--verbose")
    assert out.count("  verdict     ") == 60


def test_one_file_says_all(run: Callable[..., Said], tmp_path: Path) -> None:
    session("s-1", LOOPED).save(tmp_path)
    _, out, err = run("s-1.jsonl", "--evaluate", "--json", "-")
    document = json.loads(out)
    evaluation = document["runs"][0]["evaluation"]
    assert evaluation["verdict"]["by"] == ["no_tool_loop"]
    assert evaluation["case"] == document["runs"][0]["run"] == "s-1"
    assert document["runs"][0]["metrics"]["tool_calls"]["value"] == 5
    assert "verdict     unknown" in err
    assert run("s-1.jsonl", "--evaluate", "--json", "all.json")[1] != ""
    written = json.loads((tmp_path / "all.json").read_bytes())
    for each in (written, document):
        del each["runs"][0]["evaluation"]["provenance"]["judgedAt"]
    assert written == document


def test_what_was_read_before_is_neither_used_nor_replaced(
    run: Callable[..., Said], tmp_path: Path, caches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.cli import replay

    monkeypatch.setattr(replay, "_LEDGER_BYTES", 0)  # as if it were a large tree
    session("s-1", LOOPED).save(tmp_path / "runs")
    plain = run("runs", "--json", "-")
    (kept,) = (caches / "loopladder").iterdir()
    before = kept.read_bytes()
    judged = run("runs", "--evaluate")
    assert judged == run("runs", "--evaluate", "--afresh")
    assert kept.read_bytes() == before
    assert run("runs", "--json", "-") == plain


def test_names_from_a_recording_are_shown_inert(run: Callable[..., Said], tmp_path: Path) -> None:
    made = Session("s\x1b[31m-1").ask()
    for at in range(5):
        made.answer(f"m{at}", (f"c{at}", "Ba\x1b[2Jsh\u202e", {"command": "make"})).result(f"c{at}")
    put(tmp_path / "s.jsonl", made.data)
    _, out, _ = run("s.jsonl", "--evaluate")
    assert "repeated call" in out
    assert not {"\x1b", "\u202e"} & set(out)


@pytest.mark.parametrize(("words", "expected"), [((), False), (("--evaluate",), True)])
def test_a_plain_replay_imports_nothing_of_it(words: tuple[str, ...], expected: bool, tmp_path: Path) -> None:
    session("s-1", CLEAN).save(tmp_path)
    code = (
        "import sys; from harness.cli.main import main; main(sys.argv[1:]);"
        "print([name for name in sys.modules if 'kpis.rules' in name or 'jobs.evaluate' in name"
        " or 'judge.evaluation' in name or 'evaluation_write' in name], file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, "replay", str(tmp_path / "s-1.jsonl"), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stderr.splitlines()[-1] != "[]") is expected
