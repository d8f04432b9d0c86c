"""Type stubs and documentation."""

import doctest
import importlib
import pathlib
import subprocess
import sys

import partition_dpp as pdpp
import pytest

ROOT = pathlib.Path(__file__).parents[2]


def test_stubs_are_those_of_the_module():
    command = [sys.executable, "-m", "mypy.stubtest", "partition_dpp._native", "--ignore-missing-stub"]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("checker", [["mypy", "--strict"], ["pyright", "--pythonpath", sys.executable]], ids=lambda c: c[0])
def test_types_are_sound(checker):
    pytest.importorskip(checker[0])
    configuration = ["--config-file", str(ROOT / "python/pyproject.toml")] if checker[0] == "mypy" else []
    package = pathlib.Path(pdpp.__file__).parent
    found = subprocess.run([sys.executable, "-m", *checker, *configuration, str(package)], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


MODULES = ["partition_dpp", "partition_dpp._select", "partition_dpp.distributed", "partition_dpp.sklearn", "partition_dpp.streams"]


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module):
    outcome = doctest.testmod(importlib.import_module(module))
    assert outcome.attempted > 0 and outcome.failed == 0


PAGES = [page for page in sorted(ROOT.glob("docs/guide/**/*.md")) if "```pycon" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_pages_run(page, monkeypatch):
    """The Python examples of the guide, from the root of the repository."""
    monkeypatch.chdir(ROOT)
    outcome = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert outcome.attempted > 0 and outcome.failed == 0
