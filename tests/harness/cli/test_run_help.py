"""What ``run --help`` must say, since nobody finds it out without an error."""

from __future__ import annotations

from tests.harness.cli.own import Command


def test_a_hook_of_one_s_own_is_told_the_world(loopladder: Command) -> None:
    said = " ".join(loopladder("run", "--help").stdout.split())
    assert "in a world other than the default" in said
    assert "`--world W` is appended to CMD" in said
