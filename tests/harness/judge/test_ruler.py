"""What a ruler says of the machine, and when it says nothing."""

from __future__ import annotations

from harness.judge.ruler import ruler_off


def test_the_ruler_speaks_of_the_machine() -> None:
    ticks = (5.00e6, 5.01e6, 4.99e6, 5.005e6, 4.995e6)
    assert ruler_off(ticks, (5.0e6, 5.01e6)) is None
    slower = ruler_off(ticks, (5.0e6, 6.0e6))
    assert slower is not None
    assert "at the end of the run" in slower
    assert "+20.0 %" in slower
    assert "slower" in slower
    faster = ruler_off(ticks, (4.0e6, 5.0e6))
    assert faster is not None
    assert "at the start" in faster
    assert "faster" in faster
    assert ruler_off(ticks[:4], (9e6, 9e6)) is None
    assert ruler_off((5e6,) * 5, (5.05e6, 5.05e6)) is None  # by less than 2 % it is nobody's business
    assert ruler_off((5e6,) * 5, (5.2e6, 5.2e6)) is not None
