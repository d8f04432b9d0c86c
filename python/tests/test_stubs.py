"""Type stubs and documentation."""

import doctest
import importlib
import pathlib
import shutil
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
def test_types_are_sound(checker, tmp_path):
    pytest.importorskip(checker[0])
    # mypy is silent about installed packages.
    shutil.copytree(pathlib.Path(pdpp.__file__).parent, tmp_path / "partition_dpp")
    shutil.copy(ROOT / "python/pyproject.toml", tmp_path)
    command = [sys.executable, "-m", *checker, "partition_dpp"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
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
