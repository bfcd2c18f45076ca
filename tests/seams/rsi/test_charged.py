"""A charge that no loop could keep to is refused for what is wrong with it, before anything is looked at."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from seams.contract.rsi_loop import Charge
from seams.rsi.charged import LONGEST_S, require_sound
from seams.rsi.errors import LoopError
from seams.rsi.loop import ReferenceLoop
from tests.seams.rsi.repository import Repo, metric

LOOP = ReferenceLoop()

FAULTS = [
    ({"measure": []}, "measure is empty"),
    ({"measure": ()}, "measure is empty"),
    ({"measure": "run.py"}, "measure is 'run.py', which is no list of the words"),
    ({"measure": b"run.py"}, "which is no list of the words"),
    ({"measure": None}, "measure is None"),
    ({"measure": [Path("run.py")]}, "which is no list of the words"),
    ({"measure": ["a\0b"]}, "which is no list of the words"),
    ({"suite": "run.py"}, "suite is 'run.py', which is no list of commands"),
    ({"suite": ["run.py"]}, "which is no list of commands"),
    ({"suite": None}, "suite is None"),
    ({"suite": [["true"], ["exit", 1]]}, "which is no list of commands"),
    ({"suite": []}, "suite has no command, so nothing could show"),
    ({"suite": ()}, "suite has no command"),
    ({"suite": [[]]}, "suite has no command"),
    ({"suite": [["true", "\ud800"]]}, "which is no list of commands"),
    ({"measure": ["\ud800"]}, "which is no list of the words"),
    ({"limit_s": 0}, "limit_s is 0, which is no number of seconds above 0"),
    ({"limit_s": -1}, "limit_s is -1"),
    ({"limit_s": math.nan}, "limit_s is nan"),
    ({"limit_s": math.inf}, "limit_s is inf"),
    ({"limit_s": 2 * LONGEST_S}, "up to 1,000,000"),
    ({"limit_s": "5"}, "limit_s is '5'"),
    ({"limit_s": True}, "limit_s is True"),
    ({"k": 2.5}, "k is 2.5, which is no whole number from 0 on"),
    ({"k": -1}, "k is -1, which is no whole number from 0 on"),
    ({"k": True}, "k is True"),
    ({"max_cycles": -1}, "max_cycles is -1, which is no whole number from 0 on"),
    ({"max_cycles": 1.0}, "max_cycles is 1.0"),
    ({"lower_better": "false"}, "lower_better is 'false', which is neither"),
    ({"journal": "journal"}, "journal is 'journal', which is no Path"),
    ({"repository": "."}, "repository is '.', which is no Path"),
    ({"reference": None}, "reference is None, which is no text"),
    ({"branch": 7}, "branch is 7, which is no text"),
    ({"reference": "\ud800"}, "reference is '\\ud800', which is no text that git"),
    ({"branch": "\ud800"}, "branch is '\\ud800'"),
    ({"journal": Path("\ud800")}, "journal is PosixPath('\\ud800'), which is no Path that a file can have"),
    ({"repository": Path("a\0b")}, "repository is PosixPath('a\\x00b')"),
    ({"metric_name": None}, "metric_name is None"),
    ({"metric_name": "\ud800"}, "metric_name is '\\ud800', which is no text that can stand in the message"),
    ({"metric_name": "a\nb"}, "metric_name is 'a\\nb'"),
    ({"metric_name": " "}, "metric_name is ' '"),
    ({"environment": {"A": 1}}, "environment is no mapping"),
    ({"environment": {"A=B": "1"}}, "environment is no mapping"),
    ({"environment": {"A": "1\0"}}, "environment is no mapping"),
    ({"environment": {"A": "\ud800"}}, "environment is no mapping"),
    ({"environment": ["A=1"]}, "environment is no mapping"),
]


@pytest.mark.parametrize(("given", "why"), FAULTS)
def test_the_fault_is_named_and_nothing_begins(repo_of_one: Repo, given: dict[str, object], why: str) -> None:
    charge = repo_of_one.charge(**given)
    for attempt in (lambda: LOOP.run(charge, [metric(2)]), lambda: LOOP.open(charge), lambda: LOOP.track(charge)):
        with pytest.raises(LoopError) as refusal:
            attempt()
        assert why in str(refusal.value)
        assert str(refusal.value).endswith(
            "See what a loop is told: python -c 'import seams.contract.rsi_loop as it; help(it.Charge)'"
        )
    assert not repo_of_one.journal.exists()


def test_what_a_loop_can_keep_to_is_let_through(repo_of_one: Repo) -> None:
    for given in (
        {},
        {"suite": [[], ("true",)]},
        {"limit_s": 1},
        {"k": 0},
        {"environment": {"A": ""}},
        {"metric_name": "p95 é"},
    ):
        require_sound(repo_of_one.charge(**given))


@pytest.mark.parametrize("given", [None, 5, "charge", {"repository": "."}])
def test_what_is_no_charge_is_refused(given: object) -> None:
    for attempt in (LOOP.open, LOOP.track, lambda charge: LOOP.run(charge, [metric(2)])):
        with pytest.raises(LoopError, match=rf"told is {type(given).__name__}, and no Charge\. See what"):
            attempt(given)


def test_a_charge_has_to_be_told_its_suite(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="suite"):
        Charge(repository=tmp_path, journal=tmp_path / "journal", measure=["true"])  # type: ignore[call-arg]
