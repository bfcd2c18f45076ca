"""Every claim of a gate and of a ratchet names what it rests on, and that is there: by hash, and by pointer."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from harness.jobs.compare_files import compare, judged
from harness.record.gate_from import encode as encode_gate_from
from harness.record.gate_samples import SCHEMA, samples_path
from harness.record.ratchet import encode
from harness.record.run import encode as encode_run
from harness.report.authority_numbers import resolve
from kpis.terms.claim import Gap
from tests.harness.cli.conftest import loopladder as loopladder
from tests.harness.cli.own import Command
from tests.harness.formats.benches import noise, pyperf, pytest_benchmark
from tests.harness.gating.test_gate_command import SOURCE
from tests.harness.gating.test_gate_command import repository as repository
from tests.harness.jobs.recorded import SLUG, Lab


def rests_on(claim: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["artifact"], each["pointer"]) for each in claim["evidence"] if each["artifact"] is not None]


def test_a_gate_keeps_the_samples_that_its_claims_point_to(loopladder: Command, repository: Path) -> None:
    (repository / "mine.py").write_text(SOURCE.replace("return 3", "return 4"))
    words = ("--against", "HEAD", "--kpi", "work_ns", "work_count", "--budget", "20s", "--json", "-")
    done = loopladder("gate", *words, cwd=repository)
    file = json.loads(done.stdout)
    assert done.returncode == 1, done.stderr
    (kept,) = (path for path in (repository / ".harness" / "gates").iterdir() if "samples" not in path.name)
    blob = samples_path(kept).read_bytes()
    samples = json.loads(blob)
    assert (samples["schema"], samples["id"], samples["base"]) == (SCHEMA, file["id"], file["base"]["commit"])
    claims = {claim["rule"]: claim for claim in file["claims"]}
    for name, claim in claims.items():
        assert rests_on(claim) == [(hashlib.sha256(blob).hexdigest(), f"/points/{name}")]
    count = resolve(samples, "/points/work_count")["tallies"]
    assert [tally["numerator"] for tally in (*count["base"], *count["head"])] == [3, 3, 4, 4]
    assert claims["work_count"]["coverage"] == {"wanted": 1, "seen": 1, "missing": []}
    timed = resolve(samples, "/points/work_ns")
    (row,) = (row for row in file["rows"] if row["kpi"] == "work_ns")
    assert len(timed["pairs"]) == len(timed["cpu"]) == row["pairs"] == claims["work_ns"]["coverage"]["seen"]
    assert claims["work_ns"]["coverage"]["wanted"] >= row["pairs"] >= 1
    assert all(side > 0 for pair in timed["pairs"] for side in pair)


def test_of_an_unchanged_point_the_samples_hold_what_it_touches(loopladder: Command, repository: Path) -> None:
    (repository / "README.md").write_text("two\n")
    done = loopladder("gate", "--against", "HEAD", "--kpi", "work_ns", "--json", "-", cwd=repository)
    file = json.loads(done.stdout)
    samples = json.loads(samples_path(repository / ".harness" / "gates" / f"{file['id']}.json").read_bytes())
    (claim,) = file["claims"]
    touched = resolve(samples, rests_on(claim)[0][1])["touched"]
    assert touched["base"] == touched["head"]
    assert touched["files"] == len(file["head"]["touched"])
    assert claim["coverage"] == {"wanted": 1, "seen": 1, "missing": []}


def from_files(folder: Path, base: object, head: object) -> tuple[dict[str, Any], dict[str, Any]]:
    """The document of ``gate --from``, and the two files by their sha256; the head is packed."""
    blobs = json.dumps(base).encode(), gzip.compress(json.dumps(head).encode())
    for name, blob in zip(("a.json", "b.json.gz"), blobs, strict=True):
        (folder / name).write_bytes(blob)
    document = json.loads(encode_gate_from(judged(compare(folder / "a.json", folder / "b.json.gz"))))
    digests = [hashlib.sha256(blob).hexdigest() for blob in blobs]
    assert [document["base"], document["head"]] == [
        {"file": str(folder / name), "sha256": digest}
        for name, digest in zip(("a.json", "b.json.gz"), digests, strict=True)
    ]
    return document, dict(zip(digests, (base, head), strict=True))


def test_a_comparison_of_two_files_points_into_both(tmp_path: Path) -> None:
    base = pyperf({"parse": noise(21, seed=1), "plan": noise(10, seed=2), "old": noise(21, seed=3)})
    slow = [value * 2 for value in noise(25, seed=4)]
    head = pyperf({"new": noise(21, seed=5), "plan": noise(10, seed=6), "parse": slow})
    document, files = from_files(tmp_path, base, head)
    claims = {claim["rule"]: claim for claim in document["claims"]}
    names = {each: [resolve(files[a], p)["metadata"]["name"] for a, p in rests_on(claims[each])] for each in claims}
    assert names == {"parse": ["parse"] * 2, "plan": ["plan"] * 2, "old": ["old"], "new": ["new"]}
    assert [place[0] for place in rests_on(claims["parse"])] == list(files)
    assert claims["parse"]["state"] == "fired"
    counts = {each: (claims[each]["coverage"]["seen"], claims[each]["coverage"]["wanted"]) for each in claims}
    assert counts == {"parse": (21, 20), "plan": (10, 20), "old": (0, 20), "new": (0, 20)}


def test_so_does_one_of_two_files_of_pytest_benchmark(tmp_path: Path) -> None:
    base = pytest_benchmark({"t.py::a": [1.0, 1.1], "t.py::b": [1.0, 1.2]})
    document, files = from_files(tmp_path, base, pytest_benchmark({"t.py::b": [1.0], "t.py::a": [1.0]}))
    for claim in document["claims"]:
        assert [resolve(files[a], p)["fullname"] for a, p in rests_on(claim)] == [claim["rule"]] * 2
        assert claim["coverage"] == {"wanted": 20, "seen": 1, "missing": []}


def test_an_amount_that_repeats_is_wanted_twice(tmp_path: Path) -> None:
    base, head = pyperf({"size": [100.0] * 2}, unit="byte"), pyperf({"size": [200.0] * 3}, unit="byte")
    (claim,) = from_files(tmp_path, base, head)[0]["claims"]
    assert (claim["state"], claim["coverage"]) == ("fired", {"wanted": 2, "seen": 2, "missing": []})


def test_a_ratchet_points_to_the_run_and_to_the_sessions_on_record(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.sessions(5)
    run = lab.run(6, {"denies": 13})
    document = json.loads(encode(lab.check(run)))
    runs = {hashlib.sha256(blob).hexdigest(): json.loads(blob) for blob in [encode_run(run)]}
    for path in (tmp_path / "baselines" / SLUG / "runs").glob("*.json"):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert digest.startswith(path.stem)
        runs[digest] = json.loads(path.read_bytes())
    kpis = {row["name"]: (row["kpi"], row["measured"]) for row in document["rows"]}
    pointed = {}
    for claim in document["claims"]:
        kpi, measured = kpis[claim["rule"]]
        found = [resolve(runs[artifact], pointer) for artifact, pointer in rests_on(claim)]
        assert {reading["kpi"] for reading in found} == {kpi}
        assert found[0]["value"] == measured
        pointed[kpi] = len(found)
        assert claim["coverage"]["wanted"] >= 1
    assert pointed["denies"] == 2, "the run, and the newest session"
    assert pointed["tool_call_p50_ns"] == 6, "the run, and five sessions"


@pytest.mark.parametrize("without", ["denies", "tool_call_p50_ns"])
def test_where_nothing_was_seen_nothing_is_pretended_to_be_certain(tmp_path: Path, without: str) -> None:
    lab = Lab(tmp_path)
    lab.sessions(5)
    document = json.loads(encode(lab.check(lab.run(6, without=(without,)))))
    (claim,) = (each for each in document["claims"] if each["rule"] == without)
    assert claim["gap"] in (Gap.REMOVED.value, Gap.VOID.value)
    assert (claim["uncertainty"], claim["coverage"]) == (None, {"wanted": 1, "seen": 0, "missing": []})
