"""A build in a tree: its folder, its environment, its end, and what is said when it fails."""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path

import pytest

from harness.subject import SubjectError
from harness.subject.build import build, missing_build


def _python(script: str) -> str:
    return f"python -c {shlex.quote(script)}"


def test_it_runs_in_the_tree_with_this_interpreter_and_no_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    script = "import os, sys; said = [sys.argv[1], sys.executable, str(os.environ.get('GIT_DIR'))]\n"
    script += "open('made', 'w').write('\\n'.join(said))"
    build(_python(script) + " '$HOME;'", tmp_path)
    said = (tmp_path / "made").read_text().split("\n")
    assert said[0] == "$HOME;"
    assert Path(said[1]).parent == Path(sys.executable).parent
    assert said[2] == "None"


def test_a_failure_shows_the_end_of_what_it_said(tmp_path: Path) -> None:
    script = "import sys; print('first' + 'x' * 100_000, flush=True); print('the cause', file=sys.stderr); sys.exit(3)"
    with pytest.raises(SubjectError, match="failed with exit status 3") as caught:
        build(_python(script), tmp_path)
    text = str(caught.value)
    said = text.partition("of what it said:\n")[2].removesuffix(f"\nTry it in the project: {_python(script)}")
    assert said.endswith("x\nthe cause")
    assert len(said) <= 4096
    assert said.startswith("xxx")
    assert text.endswith(f"Try it in the project: {_python(script)}")


def test_it_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    script = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid, flush=True); time.sleep(60)"
    )
    with pytest.raises(SubjectError, match="did not end within") as caught:
        build(_python(script), tmp_path, limit=1.5)
    child = int(next(line for line in str(caught.value).splitlines() if line.isdigit()))
    for _ in range(200):
        if not Path(f"/proc/{child}").exists() or " Z " in Path(f"/proc/{child}/stat").read_text():
            break
        time.sleep(0.01)
    else:
        pytest.fail("the child of the build is alive")


@pytest.mark.parametrize("ending", ["time.sleep(0.3)", "os.close(1); os.close(2); time.sleep(0.3)"])
def test_a_child_that_stays_or_output_that_is_closed_does_not_hold_it_up(tmp_path: Path, ending: str) -> None:
    script = f"import os, subprocess, sys, time; subprocess.Popen(['sleep', '60']); {ending}; open('done', 'w')"
    build(_python(script), tmp_path, limit=30)
    assert (tmp_path / "done").exists()


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("make 'x", r"cannot be split: No closing quotation\. Mend \[tool.harness\]"),
        ("  ", "build is empty"),
        ("no-such-command-here", r"cannot be started: .* Look with: which no-such-command-here$"),
    ],
)
def test_a_command_that_cannot_be_run(tmp_path: Path, command: str, sentence: str) -> None:
    with pytest.raises(SubjectError, match=sentence):
        build(command, tmp_path)


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({"pkg/fast.pyx": ""}, "pkg/fast.pyx"),
        ({"pkg/fast.c": "", "setup.py": "setup(ext_modules=[Extension('x', ['pkg/fast.c'])])"}, "pkg/fast.c"),
        (
            {"src/lib.rs": "", "Cargo.toml": "", "pyproject.toml": '[build-system]\nrequires = ["maturin"]'},
            "src/lib.rs",
        ),
        ({"docs/example.c": "", "pyproject.toml": '[build-system]\nrequires = ["hatchling"]'}, None),
        ({"src/main.rs": "", "Cargo.toml": ""}, None),
        ({"node_modules/x.pyx": "", ".venv/y.pyx": "", "a.py": ""}, None),
    ],
)
def test_sources_that_want_a_build(tmp_path: Path, files: dict[str, str], named: str | None) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    sentence = missing_build(tmp_path)
    if named is None:
        assert sentence is None
    else:
        assert sentence is not None
        assert sentence.startswith(f"{named} is the source of a compiled extension")
        assert 'build = "' in sentence


def test_the_path_is_kept_behind_the_interpreters_own(tmp_path: Path) -> None:
    build(_python("import os; open('path', 'w').write(os.environ['PATH'])"), tmp_path)
    assert (tmp_path / "path").read_text() == os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
