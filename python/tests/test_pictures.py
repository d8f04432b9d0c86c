"""The pictures of the guide show what the package computes today."""

import json
import pathlib
import subprocess
import sys

import pytest

PAGES = pathlib.Path(__file__).parents[2] / "docs" / "guide"


def approximately(value):
    """The same structure, with numbers compared as the pictures show them."""
    if isinstance(value, dict):
        return {key: approximately(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [approximately(inner) for inner in value]
    return pytest.approx(value, rel=1e-6, abs=1e-9) if isinstance(value, float) else value


def test_pictures_are_current(tmp_path):
    pytest.importorskip("matplotlib")
    subprocess.run([sys.executable, PAGES / "pictures.py", tmp_path], check=True)
    drawn, kept = (json.loads((folder / "numbers.json").read_text()) for folder in (tmp_path, PAGES / "pictures"))
    assert drawn == approximately(kept)
    for picture in tmp_path.glob("*.*g"):
        assert picture.stat().st_size == pytest.approx((PAGES / "pictures" / picture.name).stat().st_size, rel=0.3)
