"""Type stubs and documentation."""

import doctest
import importlib
import pathlib
import subprocess
import sys

import pytest


def test_stubs_are_those_of_the_module():
    command = [sys.executable, "-m", "mypy.stubtest", "partition_dpp._native", "--ignore-missing-stub"]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


MODULES = ["partition_dpp", "partition_dpp._select", "partition_dpp.distributed", "partition_dpp.sklearn", "partition_dpp.streams"]


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module):
    outcome = doctest.testmod(importlib.import_module(module))
    assert outcome.attempted > 0 and outcome.failed == 0


def test_the_page_runs(monkeypatch):
    """The examples of docs/python.md, from the root of the repository."""
    root = pathlib.Path(__file__).parents[2]
    monkeypatch.chdir(root)
    outcome = doctest.testfile(str(root / "docs" / "python.md"), module_relative=False)
    assert outcome.attempted > 20 and outcome.failed == 0
