"""``init``: a first gate for somebody else's function."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.harness.cli.own import REPO, Command


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / "src" / "shop").mkdir(parents=True)
    (root / "src" / "shop" / "__init__.py").touch()
    (root / "src" / "shop" / "cart.py").write_text(
        "def total(n, tax=2):\n    return sum(range(n)) * tax\n\n\ndef plain():\n    return sum(range(900))\n\n\n"
        "async def later(n):\n    return sum(range(n))\n"
    )
    (root / "pyproject.toml").write_text('[project]\nname = "shop"\nversion = "1"\n')
    commit = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "--quiet", "--message", "one"]
    for command in (["git", "init", "--quiet"], ["git", "add", "--all"], commit):
        subprocess.run(command, cwd=root, check=True, capture_output=True)
    return root


@pytest.mark.parametrize(
    ("words", "kpi"),
    [(("shop.cart:total", "--args", "900"), "total_ns"), (("shop.cart:later", "--args", "900"), "later_ns")],
)
def test_the_files_it_writes_measure_the_function(
    words: tuple[str, ...], kpi: str, loopladder: Command, shop: Path
) -> None:
    done = loopladder("init", *words, "--no-gate", cwd=shop)
    assert done.returncode == 0, done.stderr
    assert (shop / ".github" / "workflows" / "gate.yml").is_file()
    assert (shop / "pyproject.toml").read_text().startswith("[project]")
    ran = loopladder("run", "--kpi", kpi, "--quick", cwd=shop)
    assert ran.returncode == 0, ran.stderr
    assert kpi in ran.stdout


@pytest.mark.slow
def test_it_runs_the_gate_once(loopladder: Command, shop: Path) -> None:
    done = loopladder("init", "shop.cart:plain", cwd=shop)
    assert done.returncode in (0, 3), done.stdout + done.stderr
    assert "plain_ns" in done.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("shop.cart:total",), "needs n"),
        (("shop.cart:nothing",), "defines no function nothing"),
        (("shop.basket:total",), "no module shop.basket"),
        (("shop.cart",), "package.module:function"),
        (("shop.cart:total", "--args", "open('x')"), "plain values only"),
        (("shop.cart:total", "--args", "3,,"), "no arguments of a call"),
        (("../x:y",), "package.module:function"),
    ],
)
def test_what_cannot_be_set_up_gets_one_sentence_and_no_file(
    words: tuple[str, ...], says: str, loopladder: Command, shop: Path
) -> None:
    done = loopladder("init", *words, cwd=shop)
    assert done.returncode == 2
    assert says in done.stderr
    assert not (shop / "bench").exists()


def test_nothing_that_exists_is_overwritten(loopladder: Command, shop: Path) -> None:
    (shop / "bench").mkdir()
    (shop / "bench" / "probes.py").write_text("mine\n")
    done = loopladder("init", "shop.cart:plain", cwd=shop)
    assert done.returncode == 2
    assert "bench/probes.py exists already" in done.stderr
    assert (shop / "bench" / "probes.py").read_text() == "mine\n"
    assert "[tool.harness]" not in (shop / "pyproject.toml").read_text()


@pytest.mark.parametrize(("template", "copy"), [("gate.yml", "pull-request.yml"), ("nightly.yml", "nightly.yml")])
def test_the_workflow_to_copy_is_the_one_that_is_written(template: str, copy: str) -> None:
    assert (REPO / "harness/templates" / template).read_text() == (REPO / "ci/workflows" / copy).read_text()
