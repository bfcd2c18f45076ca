"""The catalog page and its check: every planted lie is found, and the truth passes."""

import json
from importlib import import_module
from pathlib import Path

import pytest

import harness
from harness.jobs.catalog import PAGE, FindingKind, check, emits, write
from harness.jobs.evidence import gather
from harness.jobs.wired import wired
from harness.record.run import Machine, Mode, Run, Selection, SourceTree, encode
from kpis.registry import load
from kpis.status import derive
from kpis.terms.kpi import Estimand, Layer, Status
from kpis.terms.quantity import Basis, Source
from kpis.terms.reading import Leg, Reading, ReadingKind

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


def run_bytes(readings, created="2026-11-30T05:20:31Z", complete=True, **selection):
    run = Run(
        id="20261130T052031Z-3f9a1c",
        created=created,
        argv=["run"],
        complete=complete,
        mode=Mode.DEFAULT,
        selection=Selection(**{**ALL, **selection}),
        machine=Machine(slug="m", fingerprint={}),
        environment={},
        noise={},
        source=SourceTree(commit=None, dirty=None, touched={}),
        workloads={},
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


@pytest.mark.parametrize(
    "selection",
    [
        {"complete": False},
        {"kpis": ["denies"]},
        {"params": {"n": ["100"]}},
        {"workloads": ["mine"]},
        {"runtimes": ["pkg.module:make"]},
        {"all": False, "layers": ["turn"]},
    ],
    ids=str,
)
def test_a_narrowed_run_bears_nothing_out(tmp_path, selection):
    plant(tmp_path, run_bytes(true_readings(), **selection))
    assert Layer.SYSCALL not in gather(tmp_path).layers


def test_the_runtime_of_the_project_counts_for_it(tmp_path):
    plant(tmp_path, run_bytes(true_readings(), runtimes=["pkg.module:make"]))
    assert Layer.SYSCALL in gather(tmp_path, own_runtime="pkg.module:make").layers


def test_each_layer_takes_its_own_newest_run_and_local_runs_come_first(tmp_path):
    plant(tmp_path, run_bytes([]), "20261130T052031Z-aaaaaa")
    plant(tmp_path, run_bytes(true_readings(), all=False, layers=["turn"]), "20261130T060000Z-bbbbbb")
    commit(tmp_path, run_bytes(true_readings(), created="2027-01-01T00:00:00Z"))
    evidence = gather(tmp_path)
    assert evidence.layers[Layer.TURN].name == "20261130T060000Z-bbbbbb.json"
    assert evidence.layers[Layer.SYSCALL].name == "20261130T052031Z-aaaaaa.json"
    assert evidence.of(Layer.SYSCALL) == ()


def test_committed_runs_go_by_when_they_were_made(tmp_path):
    commit(tmp_path, run_bytes(true_readings(), created="2026-12-01T00:00:00Z"), "aaaa")
    commit(tmp_path, run_bytes([], created="2026-11-01T00:00:00Z"), "zzzz")
    assert gather(tmp_path).layers[Layer.TURN].name == "aaaa.json"


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
