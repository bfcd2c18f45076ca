"""The hooks that pytest-benchmark declares, by name and argument, so that a conftest.py which implements one is taken.

They make its reports and its machine facts, of which a gate has its own: none of them is ever called.
"""

from __future__ import annotations

from typing import Any


def pytest_benchmark_scale_unit(config: Any, unit: Any, benchmarks: Any, best: Any, worst: Any, sort: Any) -> None:
    """The unit of its table."""


def pytest_benchmark_generate_machine_info(config: Any) -> None:
    """Facts of the machine for its file."""


def pytest_benchmark_update_machine_info(config: Any, machine_info: Any) -> None:
    """More of them."""


def pytest_benchmark_generate_commit_info(config: Any) -> None:
    """Facts of the commit for its file."""


def pytest_benchmark_update_commit_info(config: Any, commit_info: Any) -> None:
    """More of them."""


def pytest_benchmark_group_stats(config: Any, benchmarks: Any, group_by: Any) -> None:
    """The groups of its table."""


def pytest_benchmark_generate_json(
    config: Any, benchmarks: Any, include_data: Any, machine_info: Any, commit_info: Any
) -> None:
    """Its file."""


def pytest_benchmark_update_json(config: Any, benchmarks: Any, output_json: Any) -> None:
    """More in its file."""


def pytest_benchmark_compare_machine_info(
    config: Any, benchmarksession: Any, machine_info: Any, compared_benchmark: Any
) -> None:
    """Its warning that two files are of different machines."""
