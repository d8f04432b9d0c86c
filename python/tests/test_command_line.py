"""The same subsets as the command line draws, which comes with the package."""

import json
import subprocess
import sys

import numpy as np
import partition_dpp as pdpp
import pytest

PDPP = [sys.executable, "-m", "partition_dpp"]


@pytest.fixture
def files(tmp_path, rows, labels):
    np.save(tmp_path / "rows.npy", rows.astype(np.float32))
    (tmp_path / "labels.csv").write_text("label\n" + "\n".join(labels) + "\n")
    np.save(tmp_path / "scores.npy", np.cos(np.arange(60.0)))
    return tmp_path


def answer(files, command, *more):
    line = [*PDPP, command, "--features", files / "rows.npy", "--json", "--engine", "cpu", *more]
    return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)


@pytest.mark.parametrize("similarity", ["dot", "cosine", "rbf"])
def test_samples_are_those_of_the_command_line(files, labels, similarity):
    rows = np.load(files / "rows.npy", mmap_mode="r")
    more = ["--labels", files / "labels.csv", "--quota", "cat=2,dog=1..2,owl=..3", "--k", "5", "--similarity", similarity]
    more += ["--scores", files / "scores.npy", "--diversity", "0.7", "--exclude", "3", "--samples", "4", "--seed", "9"]
    found = answer(files, "sample", *more)
    drawn = pdpp.select(rows, labels=labels, quota={"cat": 2, "dog": (1, 2), "owl": (None, 3)}, k=5, n_samples=4, seed=9,
                        similarity=similarity, scores=np.cos(np.arange(60.0)), diversity=0.7, exclude=[3], engine="cpu")
    assert [sample.tolist() for sample in drawn.samples] == found["samples"]
    assert drawn.law_error == pytest.approx(found["law_error"])


def test_best_sets_are_those_of_the_command_line(files):
    found = answer(files, "map", "--k", "4", "--similarity", "cosine", "--time-limit", "0", "--certify")
    best = pdpp.select(np.load(files / "rows.npy"), k=4, method="map", certify=True, engine="cpu")
    assert best.indices.tolist() == found["set"]
    assert (best.log_det, best.upper_bound) == pytest.approx((found["log_det"], found["upper_bound"]))


def test_the_command_line_has_its_own_statuses():
    shown = subprocess.run([*PDPP, "--version"], capture_output=True, text=True)
    assert (shown.returncode, shown.stdout.splitlines()[0]) == (0, f"pdpp {pdpp.__version__}")
    refused = subprocess.run([*PDPP, "sample", "--k", "x"], capture_output=True, text=True)
    assert refused.returncode == 2 and "--k" in refused.stderr and not refused.stdout
