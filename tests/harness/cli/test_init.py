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
        "async def later(n):\n    return sum(range(n))\n\n\n"
        "def typed(items: list[int], /, name: str, *, rate: float):\n    return [*sorted(items), name, rate]\n\n\n"
        "def drawn(n):\n    import random\n\n    return random.random() + n\n\n\n"
        "def stored(n):\n    pass\n\n\n"
        "def broken(n):\n    raise ValueError(f'no {n}')\n\n\n"
        "def hashed(n):\n    return hash('a' * n)\n\n\n"
        "def grown(items):\n    items.append(1)\n    return len(items)\n"
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


@pytest.mark.parametrize(
    ("words", "check"),
    [
        (("total", "--args", "900"), "check=lambda result: result == 809100)"),
        (("later", "--args", "900"), "check=lambda result: result == 404550)"),
        (("typed", "--args", "[2, 1], 'x', rate=0.5"), "check=lambda result: result == typed([2, 1], 'x', rate=0.5))"),
        (("grown", "--args", "[1]"), "check=lambda result: result == 2)"),
        (("drawn", "--args", "3"), "# No check could be written: two calls with the same arguments returned what is"),
        (("stored", "--args", "3"), "# No check could be written: stored returns None"),
        (("broken", "--args", "3"), "# No check could be written: a call failed when this was written (ValueError: no"),
        (("hashed", "--args", "3"), "check=lambda result: result == hashed(3))"),
    ],
)
def test_the_first_probe_holds_a_check_where_one_can_be_written(
    words: tuple[str, ...], check: str, loopladder: Command, shop: Path
) -> None:
    done = loopladder("init", f"shop.cart:{words[0]}", *words[1:], "--no-gate", cwd=shop)
    assert done.returncode == 0, done.stderr
    text = (shop / "bench" / "probes.py").read_text()
    assert check in text
    compile(text, "probes.py", "exec")
    written = "No check" not in check
    assert ("check=lambda result: result ==" in text) is written
    assert ("The probe checks: result == " in done.stdout) is written
    assert ("The probe checks nothing yet: " in done.stdout) is not written


def test_a_result_that_is_not_what_it_was_voids_the_first_probe(loopladder: Command, shop: Path) -> None:
    assert loopladder("init", "shop.cart:total", "--args", "900", "--no-gate", cwd=shop).returncode == 0
    ran = loopladder("run", "--kpi", "total_ns", "--quick", cwd=shop)
    assert (ran.returncode, "unchecked" in ran.stdout) == (0, False)
    cart = shop / "src" / "shop" / "cart.py"
    cart.write_text(cart.read_text().replace("return sum(range(n)) * tax", "return sum(range(n)) + tax"))
    ran = loopladder("run", "--kpi", "total_ns", "--quick", cwd=shop)
    assert ran.returncode == 3
    assert "work-not-done" in ran.stdout


def test_arguments_that_do_not_fit_get_an_example_that_does(loopladder: Command, shop: Path) -> None:
    for words in ((), ("--args", "[1], 'x'"), ("--args", "[1], 'x', 3, 4"), ("--args", "1, x=open"), ("--args", "3,,")):
        done = loopladder("init", "shop.cart:typed", *words, cwd=shop)
        assert done.returncode == 2, words
        said, _, example = done.stderr.rpartition(" as in: python -m harness init shop.cart:typed --args ")
        assert said, done.stderr
        assert not (shop / "bench").exists()
    assert example == "\"[3, 1, 2], name='x', rate=0.5\"\n"
    done = loopladder("init", "shop.cart:typed", "--args", example.strip('"\n'), "--no-gate", cwd=shop)
    assert done.returncode == 0, done.stderr


def test_nothing_of_the_project_runs_where_a_file_is_in_the_way(loopladder: Command, shop: Path) -> None:
    (shop / "bench").mkdir()
    (shop / "bench" / "__init__.py").touch()
    (shop / "src" / "shop" / "cart.py").write_text("open('ran', 'w').close()\n\n\ndef plain():\n    return 1\n")
    assert loopladder("init", "shop.cart:plain", cwd=shop).returncode == 2
    assert not (shop / "ran").exists()


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
