"""Floors from recorded edits: which trials count, whose machine they are; and what this judge alone is asked."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from ci.gatebench import score
from ci.gatebench.generate import stream
from ci.gatebench.recorded import recorded
from ci.gatebench.this_judge import UNSTATED, at_own_margins, by_load, load_class
from harness.judge.floor import LEAST_EDITS, floor_of
from harness.measure import machine
from harness.record.edit_floors import PLANNED, floors, of_machine
from harness.record.floors import calibration_path, facts_of, write_floors
from harness.record.trials import Kind, Trial, line_of

OURS = facts_of(machine.fingerprint())
SLUG = machine.slug(machine.fingerprint())
OLDER = {**OURS, "kernel": "2.6"}


def edit(
    name: str | None,
    *,
    by: float = 0.0,
    seed: int = 1,
    pairs: int = 64,
    planned: int | None = 64,
    facts: dict[str, object] | None = None,
    void: str | None = None,
    slug: str = SLUG,
) -> Trial:
    rng = Random(f"{name} {seed}")
    times = tuple((5e6, round(5e6 * math.exp(rng.gauss(by, 0.016)), 1)) for _ in range(pairs))
    load = "1.0 to 1.2 on 2 cores"
    return Trial("a", Kind.NEUTRAL, 1.0, seed, slug, load, times, (), 1.0, name, void, planned, facts)


def edits(count: int = LEAST_EDITS, **more: object) -> list[Trial]:
    return [edit(f"edit {at}", **more) for at in range(count)]  # type: ignore[arg-type]


def test_a_floor_rests_on_the_pairs_that_were_planned() -> None:
    """A trial of twenty is long only where the judge suspected it; and of a planned one the tail is chosen, too."""
    found = floors(edits())["a"]
    assert (found.edits, found.pairs) == (LEAST_EDITS, 64 * LEAST_EDITS)
    suspected = [edit(f"other {at}", by=0.05, planned=planned) for at, planned in enumerate((None, 20, PLANNED - 1))]
    assert floors([*edits(), *suspected]) == {"a": found}
    longer = [replace(trial, pairs=(*trial.pairs, *((1.0, 9.0),) * 48)) for trial in edits()]
    assert floors(longer) == {"a": found}
    assert floors(edits(pairs=112, planned=112))["a"].pairs == 112 * LEAST_EDITS


def test_what_broke_off_has_no_name_or_is_no_edit_does_not_count() -> None:
    strange = [edit("broken", by=0.1, void="head: gone"), edit(None, by=0.1), replace(edit("x"), kind=Kind.NULL)]
    assert floors([*edits(), *strange]) == floors(edits())


def test_an_edit_that_was_recorded_again_is_one_edit_with_more_pairs() -> None:
    """Were repeats draws of their own, three edits recorded twice would bound what six do."""
    assert floors([*edits(3), *edits(3, seed=2)]) == {}
    again = [*edits(), *edits(seed=2), *edits(seed=3)]
    found = floors(again)["a"]
    assert (found.edits, found.pairs) == (LEAST_EDITS, 3 * 64 * LEAST_EDITS)
    apart = floor_of({str(at): [math.log(h / b) for b, h in trial.pairs] for at, trial in enumerate(again)})
    assert apart is not None
    assert apart.edits == 3 * LEAST_EDITS
    assert found.largest < apart.largest, "the estimate of an edit is that of all its pairs"


def test_floors_are_those_of_the_machine_that_the_last_edit_was_recorded_on() -> None:
    before, after, silent = edits(by=0.1, facts=OLDER), edits(facts=OURS), edits(seed=5)
    assert of_machine([*before, *after]) == (floors(after), OURS)
    assert of_machine([*after, *before])[1] == OLDER
    assert of_machine([*silent, *after]) == (floors(after), OURS), (
        "what states no machine is not taken to be of this one"
    )
    assert of_machine([*after, *silent]) == (floors(silent), None)
    assert of_machine([]) == ({}, None)


def scored(
    root: Path, monkeypatch: pytest.MonkeyPatch, trials: Iterable[Trial], *words: str
) -> tuple[int, Path, list[Trial]]:
    """(exit code, the streams, the trials) of the script in a repository of its own, without the slow section."""
    streams = root / "streams"
    streams.mkdir(exist_ok=True)
    listed = list(trials)
    (streams / "neutral.jsonl").write_text("".join(line_of(trial) + "\n" for trial in listed))
    (root / "gate.md").write_text("<!-- gatebench:begin -->\nsection\n<!-- gatebench:end -->\n")
    monkeypatch.setattr(score, "ROOT", root)
    monkeypatch.setattr(score, "PAGE", root / "gate.md")
    monkeypatch.setattr(score, "section", lambda _: "section")
    return score.main([*words, "--streams", str(streams)]), streams, listed


def test_the_machine_of_trials_that_give_a_name_only_is_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor is it the one that an earlier file states: that may have another interpreter by now."""
    write_floors(tmp_path, SLUG, {}, OURS)
    code, _, trials = scored(tmp_path, monkeypatch, edits(), "--floors")
    assert (code, json.loads(calibration_path(tmp_path, SLUG).read_bytes())["fingerprint"]) == (0, None)
    assert "no gate takes these floors" in capsys.readouterr().err
    assert scored(tmp_path, monkeypatch, trials, "--check")[0] == 0
    scored(tmp_path, monkeypatch, edits(facts=OURS), "--floors")
    assert json.loads(calibration_path(tmp_path, SLUG).read_bytes())["fingerprint"] == OURS
    assert capsys.readouterr().err == ""


def test_a_floor_that_is_not_what_the_streams_say_fails_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    trials = edits(facts=OURS)
    assert scored(tmp_path, monkeypatch, trials, "--check")[0] == 1
    assert "type: python ci/gatebench/score.py --floors" in capsys.readouterr().err
    scored(tmp_path, monkeypatch, trials, "--floors")
    assert scored(tmp_path, monkeypatch, [*trials, edit("a seventh", by=0.03, facts=OURS)], "--check")[0] == 1
    assert scored(tmp_path, monkeypatch, trials, "--check")[0] == 0
    capsys.readouterr()
    assert scored(tmp_path, monkeypatch, edits(2, facts=OURS), "--check")[0] == 1, "too few for a floor"
    capsys.readouterr()
    assert scored(tmp_path, monkeypatch, [], "--check")[0] == 1
    assert capsys.readouterr().err.endswith(f"type: git rm baselines/{SLUG}/calibration.json\n")


@pytest.mark.parametrize(
    ("load", "name"),
    [
        ("0.6 to 9.0 on 2 cores", "under 1.6"),
        ("1.5 to 1.6 on 2 cores", "under 1.6"),
        ("1.6 to 0.1 on 2 cores", "1.6 to 3"),
        ("3.0 to 3.0 on 2 cores", "3 to 4.6"),
        ("4.6 to 1.0 on 2 cores", "4.6 and above"),
        ("12 to 1.0 on 2 cores", "4.6 and above"),
        ("none", UNSTATED),
    ],
)
def test_the_class_of_a_load_is_that_before_the_trial(load: str, name: str) -> None:
    assert load_class(replace(edit("x"), load=load)) == name


def test_undecided_windows_are_counted_by_load_and_kind() -> None:
    quiet, busy = "1.0 to 1.2 on 2 cores", "5.0 to 5.2 on 2 cores"
    null = replace(stream("iid", 1.0, 1), kind=Kind.NULL)
    cut = replace(stream("iid", 1.10, 1), kind=Kind.NULL, pairs=stream("iid", 1.10, 1).pairs[:30])
    trials = [
        replace(null, load=quiet),
        replace(cut, load=busy),
        replace(null, load=busy),
        replace(cut, load=busy, void="head: gone"),
        replace(cut, load=busy, kind=Kind.INJECTED),
        replace(cut, load=quiet, kind=Kind.NEUTRAL),
    ]
    found = {name: [(tally.open, tally.of) for tally in pair] for name, pair in by_load(trials).items()}
    assert found == {
        "under 1.6": [(0, 1), (1, 1)],
        "1.6 to 3": [(0, 0), (0, 0)],
        "3 to 4.6": [(0, 0), (0, 0)],
        "4.6 and above": [(1, 2), (0, 0)],
    }
    assert list(by_load([replace(null, load="none")]))[-1] == UNSTATED


def test_at_its_own_margin_a_slice_is_red_that_is_not_at_two_percent() -> None:
    """Constant pairs, 1.5 % slower: inside 2 %, beyond 1 %."""
    slower = stream("constant", 1.015, 1)
    null = replace(slower, kind=Kind.NULL, kpi="a")
    trials = [
        null,
        replace(null, kpi="b"),
        replace(null, seed=2),  # a suite that lacks b is none
        replace(slower, kind=Kind.NEUTRAL, kpi="a"),
        replace(slower, kind=Kind.NEUTRAL, kpi="b"),
    ]
    told = {name: at_own_margins(trials, known) for name, known in (("none", {}), ("a", {"a": 0.003}))}
    assert [[(tally.red, tally.of) for tally in pair] for pair in told.values()] == [[(0, 1), (0, 2)], [(1, 1), (1, 2)]]


def test_the_page_says_what_was_left_open_by_load_and_what_the_own_margins_make_of_it() -> None:
    trials = [*edits(), *(replace(stream("iid", 1.0, seed), kpi="a", load="3.5 to 3 on 2 cores") for seed in (1, 2))]
    text = "\n".join(recorded(trials))
    assert "| under 1.6 | - | 0 of 6 (≤ 39.4 %) |" in text
    assert "| 3 to 4.6 | 0 of 2 (≤ 77.7 %) | - |" in text
    assert (
        "in place of 2 %: red suites, nothing changed, 0 of 2 (≤ 77.7 %); neutral edits called slower, 0 of 6" in text
    )
    assert "in place of 2 %" not in "\n".join(recorded(trials[-2:])), "no floor, no margin of its own"
