"""The catalog page and its check: every planted lie is found, and the truth passes."""

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from random import Random

import pytest

import harness
from harness.jobs import evidence as evidence_module
from harness.jobs.catalog import PAGE, FindingKind, check, emits, write
from harness.jobs.evidence import gather
from harness.jobs.wired import wired
from harness.project import Project
from harness.record.run import Machine, Mode, Run, Selection, SourceTree, WorkloadRecord, encode
from kpis.registry import extend, load
from kpis.status import derive
from kpis.terms.kpi import Estimand, Status
from kpis.terms.quantity import Basis, Source
from kpis.terms.reading import Leg, Reading, ReadingKind, Reason, Undefined

CATALOG = load()
ALL = {"all": True, "layers": [], "kpis": [], "params": {}, "runtimes": [], "workloads": []}


def reading(kpi):
    """One true reading of ``kpi``."""
    rate = kpi.estimand is Estimand.RATE and not kpi.knobs
    basis = Basis.MODEL if kpi.knobs else Basis.CLOCK if kpi.estimand.timed else Basis.COUNT
    return Reading(
        kpi=kpi.id,
        layer=kpi.layer,
        params=kpi.gate_point,
        runtime="reference",
        workload=None,
        leg=Leg.MAIN,
        kind=ReadingKind.MODELED if kpi.knobs else ReadingKind.COUNT,
        value=1,
        undefined=None,
        unit=kpi.unit,
        direction=kpi.direction,
        status=Status.STANDING,
        basis=basis,
        source=Source.LIVE,
        estimand=kpi.estimand,
        isolation=None,
        gate=kpi.gate,
        critical=kpi.critical,
        numerator=3 if rate else None,
        denominator=3 if rate else None,
        histogram={"A": 3} if rate else None,
        knobs=kpi.knobs or None,
    )


def true_readings():
    """What bears the catalog out: a reading of everything that is emitted, and none of the rest."""
    return [reading(kpi) for kpi in CATALOG if kpi.target_status is not Status.PROPOSED]


WORK = {
    "desk": WorkloadRecord(sha256="ab" * 32, kind="calls", source="synthetic", hash=None, facts={}),
    "mine": WorkloadRecord(sha256="cd" * 32, kind="calls", source="replay", hash=None, facts={}),
}


def run_bytes(readings, created="2026-11-30T05:20:31Z", complete=True, identity="20261130T052031Z-3f9a1c", **selection):
    run = Run(
        id=identity,
        created=created,
        argv=["run"],
        complete=complete,
        mode=Mode.DEFAULT,
        selection=Selection(**{**ALL, **selection}),
        machine=Machine(slug="m", fingerprint={}),
        environment={},
        noise={},
        source=SourceTree(commit=None, dirty=None, touched={}),
        workloads=WORK,
        readings=readings,
    )
    return encode(run)


def plant(root, blob, name="20261130T052031Z-3f9a1c"):
    folder = root / ".harness" / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_bytes(blob)


def commit(root, blob, name="aaaa"):
    folder = root / "baselines" / "box" / "runs"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_bytes(blob)


@pytest.fixture
def truthful(tmp_path):
    """A project whose page and statuses are true."""
    plant(tmp_path, run_bytes(true_readings()))
    write(tmp_path)
    return tmp_path


def edited(root, change):
    """The planted run with its JSON changed behind the types' back."""
    file = next((root / ".harness" / "runs").glob("*.json"))
    run = json.loads(file.read_bytes())
    change({item["kpi"]: item for item in run["readings"]}, run)
    file.write_text(json.dumps(run), encoding="utf-8")
    write(root)


def kinds(root, subject=None):
    return [finding.kind for finding in check(root) if subject in (None, finding.subject)]


def test_the_truth_has_no_finding(truthful):
    assert check(truthful) == []


def test_generating_twice_gives_the_same_bytes(truthful):
    before = (truthful / PAGE).read_bytes()
    assert write(truthful) == truthful / PAGE
    assert (truthful / PAGE).read_bytes() == before


def test_an_edited_page_is_found_at_its_first_line(truthful):
    page = truthful / PAGE
    page.write_text(page.read_text().replace("| standing | ns |", "| proposed | ns |", 1))
    (finding,) = check(truthful)
    line = next(n for n, text in enumerate(page.read_text().splitlines(), 1) if text.startswith("| `tool_call_p50_ns`"))
    assert finding.kind is FindingKind.STALE_PAGE
    assert f"line {line}," in finding.sentence
    assert finding.sentence.endswith("run `python -m harness catalog` and commit the result.")


@pytest.mark.parametrize(
    "spoil", [lambda page: page + "more\n", lambda page: page.replace("\n", "\r\n"), lambda page: page[:-1]]
)
def test_a_page_that_differs_at_its_end_or_in_line_endings_is_found(truthful, spoil):
    page = truthful / PAGE
    page.write_bytes(spoil(page.read_text()).encode())
    assert kinds(truthful) == [FindingKind.STALE_PAGE]


def test_a_page_that_is_not_there_or_not_text_is_found(truthful):
    (truthful / PAGE).write_bytes(b"\xff")
    assert kinds(truthful) == [FindingKind.STALE_PAGE]
    (truthful / PAGE).unlink()
    assert kinds(truthful) == [FindingKind.STALE_PAGE]


def test_the_page_does_not_depend_on_the_order_of_readings_or_runs(tmp_path):
    older = [replace(item, evidence=["another run"]) for item in true_readings()]
    draw, pages = Random(7), set()
    for at in range(6):
        root = tmp_path / str(at)
        planted = [
            (
                run_bytes(
                    draw.sample(older, len(older)), created="2026-11-29T05:20:31Z", identity="20261129T052031Z-000000"
                )
            ),
            (run_bytes(draw.sample(true_readings(), len(older)))),
        ]
        for number, blob in draw.sample(list(enumerate(planted)), 2):
            commit(root, blob, name=f"{number}" * 4)
        write(root)
        pages.add((root / PAGE).read_bytes())
    assert len(pages) == 1


def test_a_planted_status_is_found(tmp_path):
    plant(tmp_path, run_bytes([*true_readings(), reading(CATALOG.get("ttft"))]))
    write(tmp_path)
    (finding,) = check(tmp_path)
    assert (finding.kind, finding.subject) == (FindingKind.STATUS_LIE, "ttft")


def test_a_probe_that_emitted_nothing_is_found(tmp_path):
    plant(tmp_path, run_bytes([item for item in true_readings() if item.kpi != "candidate_scorings"]))
    write(tmp_path)
    (finding,) = check(tmp_path)
    assert (finding.kind, finding.subject) == (FindingKind.STATUS_LIE, "candidate_scorings")


@pytest.mark.parametrize("part", ["numerator", "denominator", "histogram"])
def test_a_rate_without_a_part_is_found(truthful, part):
    edited(truthful, lambda readings, _: readings["vdso_hit_rate"].update({part: None}))
    (finding,) = check(truthful)
    assert (finding.kind, finding.subject) == (FindingKind.BARE_RATE, "vdso_hit_rate")
    assert f"without {part}" in finding.sentence


def test_a_ratio_of_times_has_its_scatter_in_the_place_of_reasons(truthful):
    clocked = {"basis": "clock", "histogram": None}
    edited(truthful, lambda readings, _: readings["net_value_add_vs_naive"].update(clocked))
    (finding,) = check(truthful)
    assert (finding.kind, finding.subject) == (FindingKind.BARE_RATE, "net_value_add_vs_naive")
    assert "without distribution" in finding.sentence


def test_a_model_without_knobs_is_found(truthful):
    edited(truthful, lambda readings, _: readings["tokens_saved"].update(knobs=None))
    findings = check(truthful)
    assert findings[0].kind is FindingKind.REFUSED_RUN
    assert "tokens_saved" in findings[0].sentence


def test_a_model_with_a_clock_is_found(truthful):
    clock = {"of": "process values", "n": 12, "median": 1.0, "ci95": None, "cpu_median": None, "overhead_share": None}
    edited(truthful, lambda readings, _: readings["tokens_saved"].update(distribution=clock))
    assert FindingKind.REFUSED_RUN in kinds(truthful)


def test_a_model_that_poses_as_a_count_is_found(truthful):
    edited(truthful, lambda readings, _: readings["tokens_saved"].update(basis="count", kind="count", knobs=None))
    assert set(kinds(truthful, "tokens_saved")) == {FindingKind.STATUS_LIE, FindingKind.BARE_MODEL}


def test_without_a_run_the_truth_is_unknown_and_nothing_fails(tmp_path):
    write(tmp_path)
    found = kinds(tmp_path)
    assert FindingKind.UNKNOWN in found
    assert not any(kind.failure for kind in found)


def told(root, name="denies", catalog=CATALOG, runtime=None):
    """What the runs of ``root`` say about one KPI: its status there, and where that comes from."""
    kpi = catalog.get(name)
    evidence = gather(Project(root, runtime=runtime), [kpi])
    return evidence.status(catalog, kpi), evidence.source(kpi)


NOTHING = (Status.PROPOSED, "no run here yet")
DENIES = CATALOG.get("denies")


def undefined(reason, **changes):
    gone = {"value": None, "basis": None, "source": None, "undefined": Undefined(reason, "")}
    return replace(reading(DENIES), **{**gone, **changes})


def test_a_run_of_one_kpi_bears_it_out_and_says_nothing_of_the_others(tmp_path):
    assert told(tmp_path) == NOTHING
    plant(tmp_path, run_bytes([reading(DENIES)], all=False, kpis=["denies"]))
    assert told(tmp_path) == (Status.STANDING, "run 20261130T052031Z-3f9a1c")
    assert told(tmp_path, "transforms") == NOTHING


@pytest.mark.parametrize(
    ("changes", "selection"),
    [
        ({}, {"complete": False}),
        ({"runtime": "pkg.module:make"}, {"runtimes": ["pkg.module:make"]}),
        ({"workload": "mine"}, {"workloads": ["mine.json"]}),
        ({"workload": "unknown"}, {}),
    ],
    ids=str,
)
def test_a_run_of_something_else_bears_nothing_out(tmp_path, changes, selection):
    plant(tmp_path, run_bytes([replace(reading(DENIES), **changes)], **selection))
    assert told(tmp_path) == NOTHING


def test_the_workload_that_ships_and_the_runtime_of_the_project_count(tmp_path):
    plant(tmp_path, run_bytes([replace(reading(DENIES), workload="desk", runtime="pkg.module:make")]))
    assert told(tmp_path, runtime="pkg.module:make")[0] is Status.STANDING
    assert told(tmp_path) == NOTHING


@pytest.mark.parametrize(
    ("missing", "selection"),
    [
        (undefined(Reason.WORKLOAD_KIND), {"workloads": ["mine.jsonl"]}),
        (undefined(Reason.OUT_OF_BUDGET), {}),
        (undefined(Reason.ERROR), {"params": {"arm": ["a"]}}),
    ],
    ids=["another workload", "no time", "one point"],
)
def test_what_was_not_really_asked_for_disproves_nothing(tmp_path, missing, selection):
    plant(tmp_path, run_bytes(true_readings()))
    plant(tmp_path, run_bytes([missing], identity="20261201T000000Z-ffffff", **selection), "20261201T000000Z-ffffff")
    assert told(tmp_path) == (Status.STANDING, "run 20261130T052031Z-3f9a1c")


def test_a_newer_run_without_a_number_takes_the_status_away(tmp_path):
    plant(tmp_path, run_bytes(true_readings()))
    newer = {"all": False, "kpis": ["denies"], "identity": "20261201T000000Z-ffffff"}
    plant(tmp_path, run_bytes([undefined(Reason.ERROR)], **newer), "20261201T000000Z-ffffff")
    assert told(tmp_path) == (Status.PROPOSED, "run 20261201T000000Z-ffffff")
    assert told(tmp_path, "transforms")[0] is Status.STANDING


def test_a_run_that_covered_the_layer_and_emitted_nothing_says_so(tmp_path):
    plant(tmp_path, run_bytes(true_readings()))
    newer = {"all": False, "layers": ["syscall"], "identity": "20261201T000000Z-ffffff"}
    plant(tmp_path, run_bytes([], **newer), "20261201T000000Z-ffffff")
    assert told(tmp_path) == (Status.PROPOSED, "run 20261201T000000Z-ffffff")
    assert told(tmp_path, "turns_saved") == (Status.STANDING, "run 20261130T052031Z-3f9a1c")


OWN = (
    '[kpi.mine]\nlayer = "turn"\nseam = "turn/reap"\nquestion = "q?"\nfence = "f."\nunit = "ns"\n'
    'direction = "lower"\nestimand = "call-mean"\nprobe = "bench.probes:Mine"\n'
)


def test_a_row_of_ones_own_counts_by_an_installed_runtime_and_not_by_one_that_does_not_offer_it(tmp_path, monkeypatch):
    monkeypatch.setattr(evidence_module, "installed_runtimes", lambda: ["theirs"])
    catalog = extend(CATALOG, "bench/mine.toml", OWN)
    mine = reading(catalog.get("mine"))
    absent = {"value": None, "basis": None, "source": None, "undefined": Undefined(Reason.NOT_OFFERED, "")}
    plant(tmp_path, run_bytes([replace(mine, runtime="theirs")], all=False, kpis=["mine"], runtimes=["theirs"]))
    plant(tmp_path, run_bytes([replace(mine, **absent)], identity="20261201T000000Z-ffffff"), "20261201T000000Z-ffffff")
    assert told(tmp_path, "mine", catalog) == (Status.STANDING, "run 20261130T052031Z-3f9a1c")
    monkeypatch.setattr(evidence_module, "installed_runtimes", list)
    assert told(tmp_path, "mine", catalog) == NOTHING


def test_local_runs_come_before_committed_ones(tmp_path):
    commit(tmp_path, run_bytes(true_readings(), created="2027-01-01T00:00:00Z"))
    assert told(tmp_path) == (Status.STANDING, "run 20261130T052031Z-3f9a1c (committed as aaaa.json)")
    plant(tmp_path, run_bytes([]), "20261130T052031Z-aaaaaa")
    assert told(tmp_path)[0] is Status.PROPOSED


def test_committed_runs_go_by_when_they_were_made(tmp_path):
    commit(tmp_path, run_bytes(true_readings(), created="2026-12-01T00:00:00Z"), "aaaa")
    commit(tmp_path, run_bytes([], created="2026-11-01T00:00:00Z"), "zzzz")
    assert told(tmp_path)[0] is Status.STANDING


def test_a_damaged_run_is_named_and_an_older_one_used(truthful):
    plant(truthful, b"{", "20261201T000000Z-ffffff")
    (finding,) = check(truthful)
    assert finding.kind is FindingKind.REFUSED_RUN
    assert "20261201T000000Z-ffffff.json" in finding.sentence


def test_the_rows_of_the_project_are_on_the_page_and_checked(truthful):
    (truthful / "pyproject.toml").write_text('[tool.harness]\nkpis = ["bench/*.toml"]\n')
    (truthful / "bench").mkdir()
    (truthful / "bench" / "mine.toml").write_text(
        '[kpi.mine]\nlayer = "turn"\nseam = "turn/reap"\nquestion = "a|b <i>?"\nfence = "f"\nunit = "ns"\n'
        'direction = "lower"\nestimand = "call-mean"\nprobe = "bench.probes:Mine"\n'
    )
    write(truthful)
    assert "| a\\|b &lt;i>? |" in (truthful / PAGE).read_text()
    assert kinds(truthful) == [FindingKind.STATUS_LIE]


GONE = (
    '[retired.spool_ns]\nreason = "It timed a|b <i> as well."\non = 2031-01-31\nreplacement = "denies"\n'
    '[retired.reel_ns]\nreason = "Nobody asked."\non = 2031-02-01\nno_replacement = "No reel is left."\n'
)


@pytest.fixture
def retiring(truthful):
    """A project whose page is true, with two retired KPIs; what holds their tables."""
    (truthful / "pyproject.toml").write_text('[tool.harness]\nkpis = ["bench/*.toml"]\n')
    (truthful / "bench").mkdir()
    file = truthful / "bench" / "mine.toml"
    file.write_text(GONE)
    write(truthful)
    return file


@pytest.mark.usefixtures("retiring")
def test_a_retired_kpi_stands_struck_through_in_a_section_of_its_own(truthful):
    page = (truthful / PAGE).read_text()
    section = page.split("\n## Retired\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ~~")]
    assert rows == [
        "| ~~`reel_ns`~~ | 2031-02-01 | Nobody asked. | none: No reel is left. |",
        "| ~~`spool_ns`~~ | 2031-01-31 | It timed a\\|b &lt;i> as well. | `denies` |",
    ]
    assert "spool_ns" not in page.replace(section, ""), "no live row speaks of it"
    assert not [finding for finding in check(truthful) if finding.kind.failure]


@pytest.mark.usefixtures("retiring")
@pytest.mark.parametrize(
    ("is_now", "shall_be"),
    [("~~`spool_ns`~~", "`spool_ns`"), ("| `denies` |", "| `transforms` |"), ("2031-01", "2030-01")],
)
def test_a_retirement_that_was_edited_on_the_page_is_found(truthful, is_now, shall_be):
    page = truthful / PAGE
    before, section = page.read_text().split("\n## Retired\n")
    page.write_text(before + "\n## Retired\n" + section.replace(is_now, shall_be, 1))
    assert kinds(truthful) == [FindingKind.STALE_PAGE]


def test_the_page_has_the_section_where_a_kpi_is_retired(truthful):
    assert ("## Retired" in (truthful / PAGE).read_text()) is bool(CATALOG.retired)


@pytest.mark.parametrize(("instead", "what"), [("nowhere_ns", "no KPI of the catalog"), ("reel_ns", "retired itself")])
def test_a_retirement_whose_replacement_is_not_live_fails_the_check(truthful, retiring, instead, what):
    retiring.write_text(GONE.replace('"denies"', f'"{instead}"'))
    write(truthful)
    (finding,) = [finding for finding in check(truthful) if finding.kind.failure]
    assert (finding.kind, finding.subject) == (FindingKind.TOMBSTONE, "spool_ns")
    assert what in finding.sentence
    assert finding.sentence.endswith("then run `python -m harness catalog`.")


def test_a_derived_row_is_emitted_when_its_inputs_are():
    gate = CATALOG.get("gate_primary")
    assert emits(CATALOG, gate) == all(emits(CATALOG, CATALOG.get(name)) for name in gate.inputs)
    assert emits(CATALOG, CATALOG.get("planner_optimize_ns"))


def test_the_page_marks_what_must_not_be_missed(truthful):
    page = (truthful / PAGE).read_text()
    assert all(f"| `{kpi.id}`" in page for kpi in CATALOG)
    assert "**frozen-sync**" in next(line for line in page.splitlines() if line.startswith("| `syscall/reap`"))
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    assert "| timed | `outcome=allow` |" in rows["submit_latency"]
    assert "| exact | every point |" in rows["vdso_hit_rate"]
    assert "python -m harness catalog" in page.split("\n## ")[0]
    assert derive(CATALOG.get("denies"), CATALOG.seam(CATALOG.get("denies")), true_readings()) is Status.STANDING


PROBES = sorted(path for path in (Path(harness.__file__).parent / "probes").glob("*/*.py") if path.name[0] != "_")


@pytest.mark.parametrize("path", PROBES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_probe_names_its_kpis_so_that_they_can_be_read_and_they_are_on_its_seam(path):
    seam = f"{path.parent.name}/{path.stem}"
    named = import_module(f"harness.probes.{path.parent.name}.{path.stem}").Probe.kpis
    assert {name for name in named if not wired(CATALOG.get(name))} == set()
    assert {CATALOG.get(name).seam for name in named} == {seam}
