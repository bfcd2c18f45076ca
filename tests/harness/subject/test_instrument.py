"""The instrument comes from the head on both sides, and never covers the subject."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from harness.project import Project, load_project
from harness.subject import SubjectError
from harness.subject.instrument import instrument_paths, overlay
from harness.subject.trees import materialise
from tests.harness.subject.repository import Repo, listing

KPI = '[kpi.own_ns]\nprobe = "{probe}"\n'


def _project(work: Repo, probe: str, *lines: str, files: dict[str, str] | None = None) -> Project:
    table = "\n".join(["[tool.harness]", 'kpis = ["kpis.d/*.toml"]', *lines])
    work.commit(
        {"pyproject.toml": table, "kpis.d/own.toml": KPI.format(probe=probe), "pkg/__init__.py": "", **(files or {})}
    )
    return load_project(work.top)


@pytest.mark.parametrize(
    ("probe", "lines", "expected"),
    [
        # bench is called what it is; elsewhere the subject has to be named for a helper beside the probe to follow it
        ("bench.probes:X", (), {"bench"}),
        ("measure.probes:X", (), {"measure/probes.py"}),
        ("measure.probes:X", ('under_test = ["pkg"]',), {"measure"}),
        ("loose:X", (), {"loose.py"}),
        # a probe inside the subject takes its own file along and no other
        ("pkg.probes:X", ('under_test = ["pkg"]',), {"pkg/probes.py"}),
        ("pkg.probes:X", ('under_test = ["pkg.sub"]',), {"pkg/probes.py"}),
        ("pkg.probes:X", (), {"pkg/probes.py"}),
        ("pkg:X", (), {"pkg/__init__.py"}),
        ("core.probes:X", ('under_test = ["pkg"]',), {"src/core/probes.py"}),
        ("not_here.probes:X", (), set()),
    ],
)
def test_what_is_instrument(work: Repo, probe: str, lines: tuple[str, ...], expected: set[str]) -> None:
    files = dict.fromkeys(
        (
            "bench/__init__.py",
            "bench/probes.py",
            "measure/__init__.py",
            "measure/probes.py",
            "loose.py",
            "pkg/probes.py",
            "pkg/sub/__init__.py",
            "src/core/__init__.py",
            "src/core/probes.py",
        ),
        "",
    )
    project = _project(work, probe, *lines, files=files)
    assert set(instrument_paths(project)) == {"kpis.d/own.toml", *expected}


def test_workloads_and_our_own_repository(work: Repo, repo: Path, tmp_path: Path) -> None:
    project = _project(work, "bench:X", files={"bench/__init__.py": "", "data/w.json": "{}"})
    inside, outside = project.root / "data" / "w.json", tmp_path / "w.json"
    paths = instrument_paths(project, workloads=[inside, outside])
    assert paths == ("bench", "data/w.json", "kpis.d/own.toml")
    # A folder of the user's that happens to be called harness is no instrument; ours is.
    work.write({"harness/__init__.py": ""})
    assert "harness" not in instrument_paths(project)
    assert instrument_paths(load_project(repo)) == ("harness",)


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("tests/bench", {"tests/bench", "tests/conftest.py"}),
        ("tests/bench/test_a.py", {"tests/bench", "tests/conftest.py"}),
        ("tests/bench/test_a.py::test_x[1]", {"tests/bench", "tests/conftest.py"}),
        ("tests", {"tests"}),
        ("pkg/tests", {"pkg/tests"}),
        # beside the code: the tests by name, and nothing of the subject
        ("pkg", {"pkg/test_in.py", "pkg/tests/test_b.py", "pkg/core/test_core.py", "pkg/perf/test_p.py"}),
        ("pkg/core", {"pkg/core/test_core.py"}),
        ("pkg/perf/test_p.py", {"pkg/perf/test_p.py"}),
        ("perf/test_p.py", {"perf"}),
        ("pkg/test_in.py", {"pkg/test_in.py", "pkg/tests/test_b.py", "pkg/core/test_core.py", "pkg/perf/test_p.py"}),
        (
            ".",
            {
                "pkg/test_in.py",
                "pkg/tests/test_b.py",
                "pkg/core/test_core.py",
                "tests/bench/test_a.py",
                "tests/conftest.py",
                "pkg/perf/test_p.py",
                "perf/test_p.py",
            },
        ),
    ],
)
def test_tests_as_instrument(work: Repo, named: str, expected: set[str]) -> None:
    names = ("tests/conftest.py", "tests/bench/test_a.py", "tests/bench/util.py", "conftest.py", "pkg/tests/test_b.py")
    names += ("pkg/__init__.py", "pkg/test_in.py", "pkg/core/__init__.py", "pkg/core/test_core.py", "pkg/core/code.py")
    names += ("pkg/perf/counters.py", "pkg/perf/test_p.py", "perf/test_p.py", "perf/util.py")
    work.commit(dict.fromkeys(names, ""))
    found = set(instrument_paths(load_project(work.top), pytest=Path(named)))
    present = {path for path in found if (work.top / path).exists()}
    covered = {path for path in present if not any(other != path and path.startswith(f"{other}/") for other in present)}
    assert covered == expected | {"conftest.py"}
    assert "pytest.ini" in found


def test_tests_that_are_not_there(work: Repo) -> None:
    work.commit({"pkg/__init__.py": ""})
    for named in ("tests", "../elsewhere"):
        with pytest.raises(SubjectError, match=r"There are no tests at .* Look with: ls"):
            instrument_paths(load_project(work.top), pytest=Path(named))


def test_the_overlay_replaces_and_removes_on_both_trees_of_the_base(work: Repo) -> None:
    work.commit(
        {
            "bench/probes.py": "1",
            "bench/stale.py": "1",
            "bench/same.py": "1",
            "kpis.toml": "1",
            "pkg/core.py": "1",
            "w": "1",
        }
    )
    (work.top / "bench" / "stale.py").unlink()
    (work.top / "w").unlink()
    work.write({"bench/probes.py": "2", "bench/deep/new.py": "2", "pkg/core.py": "2", "tests/t.py": "2"})
    (work.top / "bench" / "link").symlink_to("probes.py")
    with materialise(work.project(), work.base()) as sides:
        before = listing(sides.head[0])
        changed = overlay(sides, ["bench", "kpis.toml", "w", "tests/t.py", "never/was"])
        assert changed == ("bench/deep/new.py", "bench/link", "bench/probes.py", "bench/stale.py", "tests/t.py", "w")
        for root in sides.base:
            assert listing(root) == {**before, "pkg/core.py": b"1"}
        assert listing(sides.head[0]) == listing(sides.head[1]) == before
        assert overlay(sides, ["bench", "kpis.toml", "w", "tests/t.py"]) == ()


def test_the_overlay_does_not_write_through_a_link_of_the_base(work: Repo) -> None:
    work.commit({"pkg/probes.py": "subject", "file": "x"})
    (work.top / "bench").symlink_to("pkg")
    work.commit()
    base = work.base()
    (work.top / "bench").unlink()
    (work.top / "file").unlink()
    work.write({"bench/probes.py": "probe", "file/inner.py": "y"})
    with materialise(work.project(), base) as sides:
        overlay(sides, ["bench/probes.py", "file/inner.py"])
        for root in sides.base:
            assert listing(root) == {"pkg/probes.py": b"subject", "bench/probes.py": b"probe", "file/inner.py": b"y"}


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", ".", ""])
def test_the_overlay_stays_inside(work: Repo, path: str) -> None:
    work.commit({"a": "1"})
    with materialise(work.project(), work.base()) as sides, pytest.raises(SubjectError, match="not inside the project"):
        overlay(sides, [path])


def test_the_root_itself_is_never_instrument(work: Repo) -> None:
    project = _project(work, "pkg:X")
    odd = dataclasses.replace(project, kpi_files=(*project.kpi_files, project.root))
    assert "." not in instrument_paths(odd)
