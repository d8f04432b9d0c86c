"""Type stubs and documentation."""

import doctest
import importlib
import subprocess
import sys

import pytest


def test_stubs_are_those_of_the_module():
    command = [sys.executable, "-m", "mypy.stubtest", "partition_dpp._native", "--ignore-missing-stub"]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("module", ["partition_dpp", "partition_dpp._select", "partition_dpp.sklearn"])
def test_examples_run(module):
    outcome = doctest.testmod(importlib.import_module(module))
    assert outcome.attempted > 0 and outcome.failed == 0
