"""Our own start-up as findings: its budget, the interpreter's share, and whom to blame."""

from __future__ import annotations

from harness.jobs.doctor_finding import Finding, Severity
from harness.jobs.doctor_start import of_start
from harness.jobs.startup import StartUp
from tests.harness.jobs.machines import BARE


def test_start_up_is_printed_with_its_budget_and_the_interpreters_share() -> None:
    within = StartUp("harness list", "python -P -m harness list", 150, (90_000_000, 100_000_000, 170_000_000))
    over = StartUp("harness worker --ping", "python -P -m harness worker --ping", 40, (41_600_000,))
    failed = StartUp("harness x", "python -P -m harness x", 80, (), "exit code 1, it broke")
    bare, good, slow, broken = of_start((BARE, within, over, failed), ())
    assert bare.fact == "`python -c pass` takes 10 ms, 2 ms of it for site-packages."
    assert good == Finding(
        Severity.GOOD,
        "`python -m harness list` takes 100 ms of its budget of 150 ms, 10 ms of it the interpreter's own.",
        own=True,
    )
    assert slow.severity is Severity.NOISY
    assert "A worker takes 42 ms of its budget of 40 ms" in slow.fact
    assert slow.advice == "Find what it imports: `python -X importtime -P -m harness worker --ping`."
    assert broken.fact == "`python -m harness x` could not be timed: exit code 1, it broke."
    assert broken.advice == "Try it: `python -P -m harness x`."
    assert all(finding.own for finding in (bare, good, slow, broken))


def test_slow_site_packages_are_blamed_on_the_pth_files_by_name() -> None:
    slow = StartUp("python -c pass", "python -c pass", None, (30_000_000,), site_ns=20e6)
    (found,) = of_start((slow,), ("coverage.pth", "editable.pth"))
    assert found.severity is Severity.NOISY
    assert "there the files coverage.pth, editable.pth run at every start of Python." in found.fact
    assert of_start((BARE,), ("coverage.pth",))[0].severity is Severity.NOTE
    assert "the file coverage.pth runs at every start" in of_start((BARE,), ("coverage.pth",))[0].fact
