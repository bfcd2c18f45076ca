"""gatebench: the truth of its streams, its rules on cases worked out by hand, its counts, the committed table."""

from __future__ import annotations

import ast
import math
import statistics
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

from ci.gatebench import rules, runlevel, score
from ci.gatebench.cells import at_best, at_worst
from ci.gatebench.counting import OURS, at_least, at_most, injected, neutral, nulls, one_after_other, suites
from ci.gatebench.generate import NOISES, RATIOS, SPREAD, stream
from ci.gatebench.record import POINTS, chosen, place, record, schedule, sources
from ci.gatebench.rules import OTHERS, Says
from ci.marks import MarksError, marks, with_section
from harness.gating.rows import label
from harness.jobs.calibrate_order import FACTORS
from harness.jobs.calibrate_trial import LEAST_PAIRS
from harness.judge.rule import Rule
from harness.judge.sequence import judge_stream
from harness.record.floors import FACTS
from harness.record.streams import read
from harness.record.trials import Kind, LoadState, Trial, TrialError, line_of, trial_of
from harness.subject.edits import EDITS, LONGER_PATH, Inapplicable, edited
from harness.subject.git import find
from harness.subject.pristine import laid_out
from harness.subject.revisions import resolve
from harness.subject.scratch import scratch
from kpis.registry import load
from kpis.terms.comparison import State
from kpis.terms.kpi import Direction
from tests.conftest import REPO


def ratios(trial: Trial) -> list[float]:
    return [math.log(head / base) for base, head in trial.pairs]


# The generator


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("truth", RATIOS)
def test_a_stream_has_the_truth_that_it_names(noise: str, truth: float) -> None:
    many = [ratio for seed in range(40) for ratio in ratios(stream(noise, truth, seed))]
    error = statistics.stdev(many) / math.sqrt(len(many))
    assert abs(statistics.fmean(many) - math.log(truth)) <= 4 * error + 1e-9


def test_the_spread_is_the_one_that_is_named() -> None:
    many = [ratio for seed in range(60) for ratio in ratios(stream("iid", 1.0, seed))]
    assert statistics.stdev(many) == pytest.approx(SPREAD, rel=0.04)


def test_a_stream_is_its_seed() -> None:
    assert stream("spikes", 1.05, 3) == stream("spikes", 1.05, 3)
    assert stream("spikes", 1.05, 3).pairs != stream("spikes", 1.05, 4).pairs
    first = stream("iid", 1.0, 0).pairs[0]
    assert first == pytest.approx((5120700.4, 4882914.4), abs=0.11), "the sequences of the seeds have changed"


def test_each_noise_is_what_its_name_says() -> None:
    base = {noise: np.log([pair[0] for pair in stream(noise, 1.0, 5, n=2_000).pairs]) for noise in NOISES}
    assert np.ptp(base["constant"]) == 0
    assert len(set(base["quantised"].tolist())) < 20
    assert np.mean(base["spikes"] - np.median(base["spikes"]) > 0.13) == pytest.approx(0.03, abs=0.012)
    assert np.std(base["bimodal"]) > 1.4 * np.std(base["iid"])
    assert np.corrcoef(base["AR(1)"][1:], base["AR(1)"][:-1])[0, 1] > 0.5
    assert np.corrcoef(base["iid"][1:], base["iid"][:-1])[0, 1] < 0.1
    assert base["drift"][111] - base["drift"][0] == pytest.approx(math.log(1.5), abs=0.1)
    far = {noise: np.abs(base[noise] - np.median(base[noise])) > 4 * np.std(base["iid"]) for noise in NOISES}
    assert np.mean(far["heavy tail"]) > 0.01 > np.mean(far["iid"])
    lengths = [[len(side) for side in pair] for pair in stream("unequal n", 1.0, 5).values[:20]]
    assert lengths == [[3, 3]] * 19 + [[3, 2]]


# The format


def test_a_trial_survives_its_line() -> None:
    whole = stream("iid", 1.0, 9)
    planned = replace(whole, planned=64, fingerprint={"cores": 2, "cpu_model": None}, edit="comment in a.py")
    stated = replace(whole, state=LoadState.ALL, suite=12, delta=0.013)
    small = replace(whole, pairs=((12.345, 0.12345), (999.99, 1.5)), values=())
    for trial in (stream("unequal n", 1.03, 9), whole, planned, stated, small):
        assert trial_of(line_of(trial)) == trial


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[]", "an object"),
        ('{"kpi":"k","kind":"null","truth":1,"seed":1,"machine":"m","load":"l","pairs":[[1]]}', "list of two"),
        ('{"kpi":"k","kind":"null","truth":1,"seed":1,"machine":"m","load":"l","pairs":[[1,0]]}', "positive finite"),
        ('{"kpi":"k","kind":"null","truth":1,"seed":1,"machine":"m","load":"l","pairs":[[1,NaN]]}', "positive finite"),
        (
            '{"kpi":"k","kind":"null","truth":1,"seed":1,"machine":"m","load":"l","pairs":[],"values":[[[1],[1]]]}',
            "0 pairs",
        ),
        ('{"kpi":"k","kind":"odd","truth":1,"seed":1,"machine":"m","load":"l","pairs":[]}', "odd"),
        ('{"kpi":"k"}', "'kind' is missing"),
        (
            '{"kpi":"k","kind":"null","truth":1,"seed":1,"machine":"m","load":"l","pairs":[],"planned":true}',
            "'planned'",
        ),
        (
            '{"kpi":"k","kind":"null","truth":1,"seed":1,"machine":"m","load":"l","pairs":[],"planned":2}',
            "2 pairs were",
        ),
        (
            '{"kpi":"k","kind":"null","truth":1,"seed":1,"machine":"m","load":"l","pairs":[],"fingerprint":"box"}',
            "'fingerprint'",
        ),
        ('{"kpi":"k","kind":"null","truth":1,"seed":1,"machine":"m","load":"l","pairs":[],"state":"hot"}', "hot"),
        ('{"kpi":"k","kind":"null","truth":1,"seed":1,"machine":"m","load":"l","pairs":[],"suite":0}', "'suite'"),
        ('{"kpi":"k","kind":"null","truth":1,"seed":1,"machine":"m","load":"l","pairs":[],"delta":0.001}', "'delta'"),
    ],
)
def test_what_is_no_trial_is_refused_by_line(line: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "null.jsonl").write_text(line_of(stream("iid", 1.0, 1)) + "\n" + line + "\n")
    with pytest.raises(TrialError, match="line 2") as caught:
        list(read(tmp_path))
    assert said in str(caught.value)


# The rules


def processes(*values: float, of: int = 20) -> list[list[float]]:
    return [list(values)] * of


def words(base: list[list[float]], head: list[list[float]]) -> dict[str, str]:
    return {name: rule(base, head).value for name, rule in OTHERS.items()}


def test_an_unmistakable_slowdown_is_red_for_all() -> None:
    base, head = processes(100.0, 101.0, 102.0), processes(200.0, 202.0, 204.0)
    assert set(words(base, head).values()) == {"regressed"}
    assert rules.this_judge(processes(100.0, of=112), processes(200.0, of=112)) is Says.REGRESSED


def test_faster_is_red_for_none() -> None:
    base, head = processes(200.0, 202.0, 204.0), processes(100.0, 101.0, 102.0)
    assert set(words(base, head).values()) == {"ok"}
    assert rules.this_judge(processes(200.0, of=112), processes(100.0, of=112)) is Says.OK


def test_pyperf_takes_what_it_cannot_test_for_significant() -> None:
    assert rules.pyperf_t(processes(100.0), processes(100.01)) is Says.REGRESSED
    assert rules.pyperf_t(processes(100.0), processes(100.0)) is Says.OK
    spread = processes(90.0, 100.0, 110.0)
    assert rules.pyperf_t(spread, [[value + 0.01 for value in process] for process in spread]) is Says.OK
    assert rules.pyperf_t(spread, [*spread[:-1], [100.0, 110.0]]) is Says.REGRESSED


def test_pyperf_is_student_at_95_percent() -> None:
    """n = 2: t = 4.303 at two degrees of freedom; sides (1, 3) and (1 + d, 3 + d) have t = d / sqrt 2."""
    below, above = 4.30 * math.sqrt(2), 4.31 * math.sqrt(2)
    assert rules.pyperf_t([[1.0, 3.0]], [[1 + below, 3 + below]]) is Says.OK
    assert rules.pyperf_t([[1.0, 3.0]], [[1 + above, 3 + above]]) is Says.REGRESSED


def test_thresholds_stand_where_they_are_said_to() -> None:
    base = processes(100.0)
    assert rules.pytest_benchmark_mean(base, processes(105.0)) is Says.OK
    assert rules.pytest_benchmark_mean(base, processes(105.1)) is Says.REGRESSED
    assert rules.ratio_150(base, processes(150.0)) is Says.OK
    assert rules.ratio_150(base, processes(150.1)) is Says.REGRESSED
    assert rules.asv(base, processes(110.0)) is Says.OK
    assert rules.asv(base, processes(110.1)) is Says.REGRESSED


def test_asv_cannot_tell_from_too_few() -> None:
    assert rules.asv([[100.0], [101.0]], [[200.0], [201.0]]) is Says.OK
    assert rules.asv([[100.0 + at] for at in range(7)], [[200.0 + at] for at in range(7)]) is Says.REGRESSED


def test_benchstat_is_the_rank_sum_at_5_percent() -> None:
    """Four against four, all apart: two orders of seventy are as far, p = .029; three against three: p = .1."""
    assert rules.benchstat([[1.0, 2.0, 3.0, 4.0]], [[5.0, 6.0, 7.0, 8.0]]) is Says.REGRESSED
    assert rules.benchstat([[1.0, 2.0, 3.0]], [[5.0, 6.0, 7.0]]) is Says.OK
    assert rules.benchstat(processes(100.0), processes(100.0)) is Says.OK


def test_the_judge_in_order_is_the_judge() -> None:
    """A stream that needs the extension is taken as ``judge_stream`` takes it; one that does not, confirms earlier."""
    for seed in range(20):
        trial = stream("iid", 1.05, seed)
        found = rules.judge_in_order([trial.pairs])[0]
        if "extension" in " ".join(found.evidence) or found.pairs == 112:
            assert found == judge_stream(trial.pairs, Direction.LOWER)
        elif found.state is State.REGRESSED:
            again = judge_stream((*trial.pairs[:16], *trial.pairs[:32], *trial.pairs[16:80]), Direction.LOWER)
            assert (again.state, again.ratio, again.low) == (found.state, found.ratio, found.low)


def test_each_stream_is_judged_at_the_margin_of_its_own_floor() -> None:
    """3 % slower is found where the margin is 1 %, and where it is 6 % it is nothing."""
    pairs = stream("constant", 1.03, 1).pairs
    found = rules.judge_in_order([pairs, pairs, pairs], [0.002, 0.02, None])
    assert [each.state for each in found] == [State.REGRESSED, State.OK, State.REGRESSED]
    assert rules.judge_in_order([pairs])[0].state is State.REGRESSED


def test_a_stream_that_ends_early_is_undecided() -> None:
    pairs = stream("iid", 1.10, 1).pairs[:30]
    assert rules.of_state(rules.judge_in_order([pairs])[0]) is Says.INCONCLUSIVE


# The counts


def test_bounds_are_clopper_pearson() -> None:
    assert at_most(0, 60) == pytest.approx(1 - 0.05 ** (1 / 60))
    assert at_most(5, 5) == 1.0
    assert at_least(0, 9) == 0.0
    for hits, of in ((3, 40), (39, 40), (7, 9)):
        assert binom.cdf(hits, of, at_most(hits, of)) == pytest.approx(0.05) if hits < of else True
        assert binom.sf(hits - 1, of, at_least(hits, of)) == pytest.approx(0.05)


def test_a_bound_is_rounded_against_the_rule() -> None:
    assert at_worst(0, 60) == "0 of 60 (≤ 4.9 %)"
    assert at_worst(0, 10_000) == "0 of 10,000 (≤ 0.03 %)"
    assert at_best(60, 60) == "60 of 60 (≥ 95.1 %)"
    assert at_worst(0, 0) == "-"


def tiny() -> list[Trial]:
    """Two suites of two KPIs, one of them of a KPI that doubled; an edit; two injections; and one that broke off."""

    def made(
        kpi: str, kind: Kind, seed: int, truth: float = 1.0, *, asked: float = 1.0, void: str | None = None
    ) -> Trial:
        source = stream("iid", truth, seed)
        return Trial(
            kpi, kind, asked, seed, "m", "1.0 to 2.0 on 2 cores", source.pairs, source.values, asked, None, void
        )

    return [
        made("a", Kind.NULL, 1),
        made("b", Kind.NULL, 1),
        made("a", Kind.NULL, 12),
        made("b", Kind.NULL, 12, 2.0),
        made("a", Kind.NULL, 3),
        made("b", Kind.NULL, 3, 2.0, void="head: gone"),
        made("a", Kind.NEUTRAL, 4),
        made("a", Kind.INJECTED, 5, 1.10, asked=1.10),
        made("b", Kind.INJECTED, 6, 1.0, asked=1.10),
    ]


def test_the_score_of_a_tiny_stream() -> None:
    trials = tiny()
    found = {name: (tally.red, tally.of) for name, tally in suites(trials).items()}
    assert found == dict.fromkeys((OURS, *OTHERS), (1, 2)), "a suite that lacks a KPI is none"
    assert {name: (tally.red, tally.of) for name, tally in nulls(trials).items()} == dict.fromkeys(found, (1, 5))
    assert (neutral(trials)[OURS].red, neutral(trials)[OURS].of) == (0, 1)
    tallies = injected(trials)[1.10]
    assert (tallies[OURS].red, tallies[OURS].of) == (1, 2)
    assert (tallies["ratio over 150 %"].red, tallies["ratio over 150 %"].of) == (0, 2)
    apart = one_after_other(trials)
    assert OURS not in apart
    assert (apart["ratio over 150 %"].red, apart["ratio over 150 %"].of) == (1, 2), "a trial is used once"


def test_the_run_level_is_the_judges() -> None:
    found = runlevel.run_level(Rule(), suites=200, on_margin=200)
    assert found.found[0.016, 0.10] == 200
    assert 90 <= found.found[0.024, 0.03] <= 145
    assert found.red == {0.024: 0, 0.016: 0}
    assert found.on_margin <= binom.ppf(0.999, 200, 0.01)


# The recorder


PLACELESS = {("seams/turn/planner.py", "moved function")}
"""Edits that a recorded module has no place for; its points are left out of such a checkout."""


@pytest.mark.parametrize("module", sorted(set(POINTS.values())))
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_changes_the_text_and_no_behaviour(module: str, edit: str, repo: Path) -> None:
    source = (repo / module).read_text(encoding="utf-8")
    if (module, edit) in PLACELESS:
        with pytest.raises(Inapplicable):
            edited(source, edit)
        return
    changed = edited(source, edit)
    assert (changed == source) == (edit == LONGER_PATH)
    before, after = names(source), names(changed)
    assert before - after == set()
    assert len(after - before) <= 1


def names(source: str) -> set[str]:
    """What a module defines at its top."""
    return {getattr(node, "name", type(node).__name__) for node in ast.parse(source).body}


def test_a_renamed_local_computes_the_same() -> None:
    source = "def area(width, height):\n    total = width * height\n    return total + total\n"
    scope: dict[str, object] = {}
    changed = edited(source, "renamed local")
    exec(changed, scope)
    assert "total_renamed + total_renamed" in changed
    assert scope["area"](3, 4) == 24  # type: ignore[operator]


@pytest.mark.parametrize(
    ("edit", "source"),
    [
        ("docstring", "X = 1\n"),
        ("moved function", "def one():\n    pass\n\n\nX = 1\n"),
        ("renamed local", "def one(a):\n    a = 2\n    return f'{a}'\n"),
    ],
)
def test_a_module_without_a_place_for_an_edit_is_refused(edit: str, source: str) -> None:
    with pytest.raises(Inapplicable):
        edited(source, edit)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return sources(find(REPO), resolve(REPO, "HEAD").commit)


def trial_with(edit: str | None, **more: object) -> Trial:
    return replace(stream("iid", 1.0, 1), kind=Kind.NEUTRAL, edit=edit, **more)  # type: ignore[arg-type]


def test_the_schedule_goes_round(texts: dict[str, str]) -> None:
    points = chosen(load())
    assert len(points) == len(POINTS) == 5
    ten = list(islice(schedule(Kind.NEUTRAL, points, 0, texts), len(EDITS)))
    assert [{asked.edit for asked in batch} for batch in ten] == [{edit} for edit in EDITS]
    left = {(POINTS[label(point)], asked[0].edit) for asked in ten for point in points} - {
        (POINTS[label(each.point)], each.edit) for asked in ten for each in asked
    }
    assert left == PLACELESS
    for _ in range(2):
        assert [asked.point for asked in next(schedule(Kind.NULL, points, 5, texts))] == points
    slowed = islice(schedule(Kind.INJECTED, points, 5, texts), 5)
    assert {batch[0].factor for batch in slowed} == {FACTORS[1]}


def test_an_edit_says_every_module_that_it_is_made_in(texts: dict[str, str]) -> None:
    ten = {batch[0].edit: batch for batch in islice(schedule(Kind.NEUTRAL, chosen(load()), 0, texts), len(EDITS))}
    for edit, batch in ten.items():
        modules = sorted({module for module in POINTS.values() if (module, edit) not in PLACELESS})
        where = "" if edit == LONGER_PATH else f" in {', '.join(modules)}"
        assert {asked.said for asked in batch} == {f"{edit}{where}"}
        assert {asked.modules for asked in batch} == {() if edit == LONGER_PATH else tuple(modules)}


def test_a_recording_goes_on_after_the_edit_that_was_last_however_many_lines_that_left(texts: dict[str, str]) -> None:
    """A moved function leaves three lines of five, an interrupted edit leaves one: counting lines would fall behind."""
    names = list(EDITS)
    done: list[Trial] = []
    points = chosen(load())
    for batch in islice(schedule(Kind.NEUTRAL, points, 0, texts), 2 * len(names)):
        expected = next(schedule(Kind.NEUTRAL, points, place(Kind.NEUTRAL, done), texts))[0].edit
        assert batch[0].edit == expected
        done += [trial_with(asked.said) for asked in batch[: 1 if len(done) == 5 else None]]
    assert place(Kind.NEUTRAL, [trial_with("unused import in seams/turn/view.py")]) == names.index("unused import") + 1
    assert place(Kind.NEUTRAL, [trial_with("an edit of somebody else")]) == 0
    assert (place(Kind.NEUTRAL, []), place(Kind.INJECTED, done[:3])) == (0, 3)


def test_an_edit_that_no_module_takes_is_passed_over(texts: dict[str, str]) -> None:
    bare = dict.fromkeys(texts, "X = 1\n")
    batches = list(islice(schedule(Kind.NEUTRAL, chosen(load()), 0, bare), 2 * len(EDITS)))
    assert all(batches)
    assert "docstring" not in {batch[0].edit for batch in batches}


def test_a_recording_that_no_module_has_a_place_for_is_refused(texts: dict[str, str]) -> None:
    with pytest.raises(Inapplicable, match="any edit"):
        next(schedule(Kind.NEUTRAL, [], 0, texts))


def test_what_an_edit_may_touch_is_read_from_the_commit(tmp_path: Path) -> None:
    """The working tree may be ahead of what is measured."""
    for module in set(POINTS.values()):
        (tmp_path / module).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / module).write_text('"""As committed."""\n')
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-C", str(tmp_path)]
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "one"]):
        subprocess.run([*git, *words], check=True)
    for module in set(POINTS.values()):
        (tmp_path / module).write_text("X = 1\n")
    found = sources(find(tmp_path), resolve(tmp_path, "HEAD").commit)
    assert found == dict.fromkeys(POINTS.values(), '"""As committed."""\n')


@pytest.mark.parametrize("least", [LEAST_PAIRS, 24])
def test_a_trial_states_its_plan_and_its_machine_and_keeps_the_values_that_other_rules_get(
    least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many pairs are planned: the rules of other tools take three values of the first twenty processes."""
    monkeypatch.setattr("harness.jobs.calibrate_trial.calibrate", lambda *_, **__: (1, 1.0))
    sides = {"base": [100.0] * 6, "head": [100.0] * 6}
    monkeypatch.setattr("harness.jobs.calibrate_trial.run_pair", lambda *_, **__: SimpleNamespace(wall=sides))
    monkeypatch.setattr("harness.subject.pristine.compile_roots", lambda _: None)
    clock = SimpleNamespace(monotonic=iter([0.0, 0.0, 2.0]).__next__)
    monkeypatch.setattr("ci.gatebench.record.time", clock)
    assert record(Kind.NULL, 1.0, tmp_path, least) == len(POINTS)
    for trial in read(tmp_path):
        assert (len(trial.pairs), len(trial.values), trial.planned) == (least, LEAST_PAIRS, least)
        assert {len(side) for pair in trial.values for side in pair} == {3}
        assert set(trial.fingerprint or ()) == set(FACTS)


def test_a_recording_is_not_added_to_a_file_that_is_none(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "null.jsonl").write_text("{\n")
    done = run(repo, "record", "--kind", "null", "--seconds", "0", "--out", str(tmp_path))
    assert (done.returncode, "null.jsonl, line 1" in done.stderr) == (2, True)
    assert (tmp_path / "null.jsonl").read_text() == "{\n"


@pytest.mark.slow
@pytest.mark.parametrize("edit", ["comment", LONGER_PATH])
def test_the_sides_differ_by_the_edit_alone(edit: str, repo: Path) -> None:
    module = "seams/turn/planner.py"
    commit = resolve(repo, "HEAD").commit
    with scratch() as folder, laid_out(find(repo), commit, folder, edit=edit, modules=[module]) as sides:
        base, head = (
            {path.relative_to(root): path.read_bytes() for path in root.rglob("*.py")}
            for root in (sides.base[0], sides.head[0])
        )
        differing = {str(path) for path in base.keys() | head.keys() if base.get(path) != head.get(path)}
        assert differing == ({module} if edit == "comment" else set())
        lengths = {len(str(root)) for root in sides.roots}
        assert len(lengths) == (2 if edit == LONGER_PATH else 1)
    assert not any(root.exists() for root in sides.roots)


def run(repo: Path, script: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, f"ci/gatebench/{script}.py", *words]
    return subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)


def test_a_recording_without_time_adds_nothing(repo: Path, tmp_path: Path) -> None:
    kept = line_of(stream("iid", 1.0, 1)) + "\n"
    (tmp_path / "null.jsonl").write_text(kept)
    done = run(repo, "record", "--kind", "null", "--seconds", "0", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "0 trials were added" in done.stdout
    assert (tmp_path / "null.jsonl").read_text() == kept


@pytest.mark.slow
def test_a_recorded_trial_is_whole(repo: Path, tmp_path: Path) -> None:
    done = run(repo, "record", "--kind", "injected", "--seconds", "5", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    trial = next(read(tmp_path))
    assert trial.void is None
    assert trial.truth == pytest.approx(1.05, abs=0.01)
    assert len(trial.pairs) >= len(trial.values) == LEAST_PAIRS


# What is committed


def test_the_committed_streams_are_small_and_whole(repo: Path) -> None:
    files = sorted(repo.glob(f"{score.STREAMS}/*.jsonl"))
    assert files
    trials = score.committed()
    assert sum(file.stat().st_size for file in files) < 4_000 * len(trials)
    assert {trial.kind for trial in trials} == set(Kind)
    assert {trial.kpi for trial in trials} >= set(POINTS)
    assert all(len(trial.pairs) >= LEAST_PAIRS for trial in trials if trial.void is None)
    assert all(str(repo) not in line_of(trial) for trial in trials)


def test_the_committed_table_is_what_the_streams_say(repo: Path) -> None:
    done = run(repo, "score", "--check")
    assert done.returncode == 0, done.stderr


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(MarksError, match="gatebench:begin"):
        with_section("# A page\n", score.SECTION, "text")
    begin, end = marks("some")
    for page in (f"{end} {begin}", f"{begin} alone"):
        with pytest.raises(MarksError, match="some:end"):
            with_section(page, "some", "text")
    page = f"before {begin} old {end} after"
    assert with_section(page, "some", "new") == f"before {begin}\nnew\n{end} after"


@pytest.mark.parametrize(("page", "name"), [("gate.md", score.SECTION), ("floors.md", "peers")])
def test_every_page_with_a_generated_section_has_its_marks(page: str, name: str, repo: Path) -> None:
    text = (repo / "docs" / page).read_text(encoding="utf-8")
    begin, end = marks(name)
    inner = text.partition(f"{begin}\n")[2].partition(end)[0].removesuffix("\n")
    assert with_section(text, name, inner) == text if inner else begin in text
