"""A commit to one seam makes those rows stale whose own worker touched it: a project that is measured and then changed.

One real run of the project is committed in a repository of its own; each test then commits one change to a copy of it.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli.exits import Exit
from harness.cli.main import main
from harness.jobs.authority import gather
from harness.record.run import decode
from tests.conftest import REPO
from tests.harness.authority.project import forged, record_bytes

SEAM = '[seam."own/{0}"]\ntitle = "Results are {0}"\n\n'
ROW = """\
[kpi.{kpi}]
layer = "turn"
seam = "own/{seam}"
probe = "bench.{seam}:{kpi}"
question = "How much?"
fence = "Ours."
unit = "{unit}"
direction = "lower"
estimand = "{estimand}"

"""
COUNTED = ("count", "count")
KPIS = {
    "folds": ("folded", *COUNTED),
    "fold_ns": ("folded", "ns", "call-mean"),
    "sends": ("sent", *COUNTED),
    "limit": ("limited", *COUNTED),
}
BEGIN = "from harness import probe\nfrom harness.measure.clock import Tally\n\n"
PROBE = '@probe(source="synthetic")\ndef '

FILES = {
    "pyproject.toml": '[tool.harness]\nkpis = ["bench/*.toml"]\nruntime = "app.made:make"\n',
    ".gitignore": ".harness/\n__pycache__/\n",
    "bench/own.toml": "".join(map(SEAM.format, ("folded", "sent", "limited")))
    + "".join(ROW.format(kpi=kpi, seam=seam, unit=unit, estimand=kind) for kpi, (seam, unit, kind) in KPIS.items()),
    "bench/__init__.py": "",
    "bench/folded.py": f"""\
from app.folding import fold
{BEGIN}
def never():
    import app.sending


{PROBE}folds():
    return Tally(fold())


@probe(source="synthetic")
def fold_ns():
    return lambda: fold()
""",
    "bench/sent.py": f"""\
from importlib import import_module
{BEGIN}
{PROBE}sends():
    from app.sending import send

    return Tally(send() + import_module("app." + "by_name").MORE)
""",
    "bench/limited.py": f"""\
from pathlib import Path
{BEGIN}
{PROBE}limit():
    import app

    return Tally(int((Path(app.__file__).parent / "limit.txt").read_text()))
""",
    "app/__init__.py": "",
    "app/made.py": """\
class make:
    name, version = "own", "1"

    def offer(self, seam, engine):
        return None
""",
    "app/words.py": "WORDS = ('a', 'b', 'c')\n",
    "app/folding.py": "from app.words import WORDS\n\n\ndef fold():\n    return sum(map(len, WORDS * 20))\n",
    "app/sending.py": "from app.words import WORDS\n\n\ndef send():\n    return len(WORDS)\n",
    "app/by_name.py": "MORE = 4\n",
    "app/limit.txt": "12\n",
    "app/idle.py": "",
}
EVERY = frozenset(KPIS)


def git(folder, *words):
    identity = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", f"core.hooksPath={os.devnull}")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """The project as a repository with a committed run of its own."""
    root = tmp_path_factory.mktemp("measured")
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all of it")
    words = [word for kpi in KPIS for word in ("--kpi", kpi)]
    environment = {**os.environ, "PYTHONPATH": str(REPO), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "harness", "run", *words, "--quick", "--json", "-"],
        cwd=root,
        env=environment,
        capture_output=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == Exit.OK, done.stderr.decode()
    run = decode(done.stdout, "run.json")
    record_bytes(root, done.stdout, run.machine.slug)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "a run")
    return root


@pytest.fixture
def project(measured, tmp_path):
    root = tmp_path / "project"
    shutil.copytree(measured, root)
    return root


def commit(root, changed):
    """Change a file so that it does the same, and commit that."""
    path = root / changed
    path.write_text(path.read_text() + "\n")
    git(root, "commit", "-qam", f"a blank line in {changed}")


def stale(root):
    """The KPIs with a stale row; each has one row."""
    rows = gather(root).authority.rows
    assert {row.kpi for row in rows} == EVERY
    assert len(rows) == len(EVERY)
    return {row.kpi for row in rows if row.stale}


CHANGES = [
    ("app/folding.py", {"folds", "fold_ns"}),
    ("app/sending.py", {"sends"}),
    ("app/words.py", {"folds", "fold_ns", "sends"}),
    ("app/by_name.py", {"sends"}),
    ("app/limit.txt", {"limit"}),
    ("app/idle.py", set()),
    ("app/made.py", EVERY),
    ("bench/sent.py", {"sends"}),
    ("bench/own.toml", set()),
]


def test_nothing_is_stale_before(project):
    assert stale(project) == set()


@pytest.mark.parametrize(("changed", "rows"), CHANGES, ids=[changed for changed, _ in CHANGES])
def test_a_commit_makes_those_stale_whose_worker_touched_the_file(project, changed, rows):
    commit(project, changed)
    assert stale(project) == rows


def test_a_file_that_is_gone_is_changed(project):
    (project / "app" / "by_name.py").unlink()
    git(project, "commit", "-qam", "nobody calls it by its name")
    assert stale(project) == {"sends"}


def test_the_check_names_the_stale_rows_and_no_others(project, monkeypatch, capsys):
    monkeypatch.chdir(project)
    assert main(["authority"]) == Exit.OK
    commit(project, "app/sending.py")
    main(["authority"])  # the page says it too, so that the check is left with what is stale
    capsys.readouterr()
    assert main(["authority", "--check"]) == Exit.OK
    assert main(["authority", "--strict"]) == Exit.FAILED
    said = capsys.readouterr()
    told = [line for line in (said.out + said.err).splitlines() if "stale: app/sending.py changed" in line]
    assert told
    assert all("sends" in line for line in told)


def before(root):
    """Make the committed run one of before readings named their files."""

    def older(document):
        document["source"]["sets"] = None
        for reading in document["readings"]:
            reading["touched"] = None

    forged(next((root / "baselines").glob("*/runs/*.json")), older)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "the same run, as it was written once")


@pytest.mark.parametrize(
    ("changed", "rows"),
    [
        ("app/folding.py", {"folds", "fold_ns"}),
        ("app/sending.py", {"folds", "fold_ns", "sends"}),  # what is imported in a function may be loaded
        ("app/by_name.py", EVERY),  # nobody knows whose it is
        ("app/idle.py", set()),
    ],
)
def test_a_run_of_before_goes_by_what_the_tree_imports(project, changed, rows):
    before(project)
    assert stale(project) == set()
    commit(project, changed)
    assert stale(project) == rows


def test_where_one_reading_says_nothing_the_imports_speak_for_it_alone(project):
    def silent(document):
        for reading in document["readings"]:
            if reading["kpi"] == "folds":
                reading["touched"] = None

    forged(next((project / "baselines").glob("*/runs/*.json")), silent)
    git(project, "add", "-A")
    commit(project, "app/sending.py")
    assert stale(project) == {"folds", "sends"}


def test_the_run_file_holds_one_set_for_rows_that_touch_the_same(measured):
    run = decode(next(Path(measured, "baselines").glob("*/runs/*.json")).read_bytes(), "run.json")
    named = {reading.kpi: run.source.files(reading.touched) for reading in run.readings}
    own = {kpi: {name for name in files if name.startswith(("app/", "bench/"))} for kpi, files in named.items()}
    common = {"app/__init__.py", "app/made.py", "bench/__init__.py"}
    assert own["sends"] == common | {"bench/sent.py", "app/sending.py", "app/words.py", "app/by_name.py"}
    assert own["limit"] == common | {"bench/limited.py", "app/limit.txt"}
    assert own["folds"] == own["fold_ns"] == common | {"bench/folded.py", "app/folding.py", "app/words.py"}
    assert run.source.sets is not None
    assert sorted(set(map(tuple, run.source.sets))) == list(map(tuple, run.source.sets))
