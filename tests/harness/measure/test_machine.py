"""The machine's facts: nothing that names the host or a folder, nothing secret, None where nothing can be read."""

from __future__ import annotations

import json
import os
import re
import socket
import tomllib
from pathlib import Path

import pytest

from harness.measure import machine
from harness.measure.machine import DEPENDENCIES, environment, fingerprint, noise, slug

FINGERPRINT = {
    "architecture", "clocksource", "cores", "cpu_flags_sha256", "cpu_model", "dependencies_sha256", "implementation",
    "kernel", "libc", "python", "python_build", "python_compiler", "system", "virtualised",
}  # fmt: skip
NOISE = {
    "affinity", "aslr", "container", "governor", "load_average", "running", "smt", "steal", "swap_used", "temperature",
    "turbo", "virtual_machine",
}  # fmt: skip


def test_the_fingerprint_has_every_key_and_repeats() -> None:
    first = fingerprint()
    assert set(first) == FINGERPRINT
    assert first == fingerprint()
    assert first["cores"] == os.cpu_count()
    json.dumps(first, allow_nan=False)


def test_it_names_neither_the_host_nor_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "a-host-of-ours")
    text = json.dumps({**fingerprint(), **noise()})
    assert "a-host-of-ours" not in text
    assert not re.search(r'"/|[ :]/(?:usr|home|root|tmp|opt)/', text)


def test_a_changed_dependency_changes_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.metadata

    before = fingerprint()["dependencies_sha256"]
    real = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.0.0" if name == "msgspec" else real(name))
    assert fingerprint()["dependencies_sha256"] != before


def test_the_dependencies_are_those_of_the_project(repo: Path) -> None:
    table = tomllib.loads((repo / "pyproject.toml").read_text(encoding="utf-8"))
    named = [re.split(r"[<>=~! ]", each)[0] for each in table["project"]["dependencies"]]
    assert sorted(named) == sorted(DEPENDENCIES)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("AMD EPYC", "linux-x86_64-2c-amd-epyc"),
        ("AMD EPYC 7763 64-Core Processor", "linux-x86_64-2c-amd-epyc-7763"),
        ("Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz", "linux-x86_64-2c-intel-xeon-platinum-8370c"),
        ("arm 0x41 0xd0c", "linux-x86_64-2c-arm-0x41-0xd0c"),
        ("", "linux-x86_64-2c-unknown"),
        (None, "linux-x86_64-2c-unknown"),
        ("../../etc/passwd \x1b[31m", "linux-x86_64-2c-etc-passwd-31m"),
    ],
)
def test_the_slug_is_short_and_fit_for_a_folder(model: str | None, name: str) -> None:
    facts = {"system": "Linux", "architecture": "x86_64", "cores": 2, "cpu_model": model}
    assert slug(facts) == name


def test_a_long_model_is_cut_and_no_facts_give_a_slug_all_the_same() -> None:
    assert re.fullmatch(r"[a-z0-9_-]{1,60}", slug({"cpu_model": "word " * 100}))
    assert slug({}) == "unknown-unknown-0c-unknown"


def test_noise_has_every_key() -> None:
    seen = noise()
    assert set(seen) == NOISE
    json.dumps(seen, allow_nan=False)


def test_what_cannot_be_read_is_none_and_not_a_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_read", lambda _path: None)
    monkeypatch.setattr(machine, "_governor", lambda: None)
    seen = noise()
    hidden = ("aslr", "governor", "smt", "steal", "swap_used", "turbo", "virtual_machine")
    assert [seen[key] for key in hidden] == [None] * len(hidden)
    facts = fingerprint()
    assert (facts["cpu_flags_sha256"], facts["virtualised"], facts["clocksource"]) == (None, None, None)


def test_the_kernels_files_are_read_for_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "/proc/stat": "cpu  10 0 20 60 0 0 0 10 5 0\ncpu0 1 2 3",
        "/proc/sys/kernel/randomize_va_space": "2",
        "/sys/devices/system/cpu/smt/active": "1",
        "/sys/devices/system/cpu/intel_pstate/no_turbo": "0",
        "/proc/meminfo": "MemTotal: 9 kB\nSwapTotal:  2048 kB\nSwapFree:  1024 kB",
        "/proc/cpuinfo": "flags\t: fpu hypervisor\nmodel name\t: Test One\n\nmodel name\t: Test Two",
    }
    monkeypatch.setattr(machine, "_read", files.get)
    seen = noise()
    assert seen["steal"] == pytest.approx(0.1)
    assert (seen["aslr"], seen["smt"], seen["turbo"], seen["virtual_machine"]) == (2, True, True, True)
    assert seen["swap_used"] == 1024 * 1024
    assert fingerprint()["cpu_model"] == "Test One"
    monkeypatch.setattr(machine, "_read", {"/sys/devices/system/cpu/cpufreq/boost": "0", "/proc/stat": "cpu 0 0"}.get)
    assert (noise()["turbo"], noise()["steal"]) == (False, None)


def test_the_environment_shows_listed_values_and_of_others_the_name_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.setenv("PYTHONPATH", "/a/secret/place")
    monkeypatch.setenv("PYTHON_TOKEN", "hunter2")
    monkeypatch.setenv("API_KEY", "hunter3")
    monkeypatch.delenv("PYTHONMALLOC", raising=False)
    found = environment()
    text = json.dumps(found)
    assert found["variables"]["PYTHONHASHSEED"] == "7"
    assert found["variables"]["PYTHONMALLOC"] is None
    assert {"PYTHONPATH", "PYTHON_TOKEN"} <= set(found["others"])
    for secret in ("secret", "hunter2", "hunter3", "API_KEY"):
        assert secret not in text
    assert found["flags"]["optimize"] in (0, 1, 2)
