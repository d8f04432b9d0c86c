"""Times other tools and pdpp on the same inputs, one thread each; writes a table in Markdown.

compare.py PDPP TABLE.md
"""

import contextlib
import importlib.metadata
import io
import json
import os
import subprocess
import sys
import tempfile
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np
import pyversity
from dppy.finite_dpps import FiniteDPP
from submodlib import LogDeterminantFunction

import literal

sys.path.append(os.path.join(os.path.dirname(__file__), os.pardir))
from numpy_greedy import fast_greedy

PDPP, TABLE = sys.argv[1], sys.argv[2]
ROWS = []


def median(runs, work):
    """Median seconds, and the last answer."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        answer = work()
        times.append(time.perf_counter() - start)
    return sorted(times)[runs // 2], answer


def pdpp(*arguments):
    """The JSON that pdpp prints."""
    command = [PDPP, *map(str, arguments), "--threads", "1", "--engine", "cpu", "--json"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def add(task, peer, theirs, ours, note=""):
    ROWS.append((task, peer, theirs, ours, note))
    print(f"{task:42} {peer:34} {theirs:10.5f} {ours:10.5f} {theirs / ours:9.1f} {note}", flush=True)


def ours_to_sample(file, *arguments):
    """Seconds to the first sample, and for every further one."""
    first = [pdpp("sample", "--features", file, *arguments)["seconds"] for _ in range(5)]
    first = sorted(seconds["setup"] + seconds["sampling"] for seconds in first)[2]
    many = pdpp("sample", "--features", file, *arguments, "--samples", 1000)["seconds"]["sampling"]
    return first, many / 1000


def k_dpps(folder, rng):
    for m, n, k in [(1000, 100, 20), (10_000, 100, 50)]:
        rows = rng.standard_normal((m, n))
        file = os.path.join(folder, "rows.npy")
        np.save(file, rows)
        ours_first, ours_next = ours_to_sample(file, "--k", k)

        def first():
            # DPPy prints how it computes the sample.
            with contextlib.redirect_stdout(io.StringIO()):
                dpp = FiniteDPP("likelihood", L_gram_factor=rows.T)
                dpp.sample_exact_k_dpp(size=k)
            return dpp

        theirs, dpp = median(3, first)
        task = f"k-DPP, m = {m}, n = {n}, k = {k}"
        add(f"{task}: first", "DPPy (dual, GS)", theirs, ours_first)
        theirs, _ = median(7, lambda: dpp.sample_exact_k_dpp(size=k))
        add(f"{task}: every further", "DPPy (dual, GS)", theirs, ours_next)


def partition_dpps(folder, rng):
    for parts, size, each in [(2, 15, 5), (3, 10, 2)]:
        m = parts * size
        rows = rng.standard_normal((m, m))
        labels = np.repeat(np.arange(parts), size)
        file, names = os.path.join(folder, "rows.npy"), os.path.join(folder, "labels.csv")
        np.save(file, rows)
        with open(names, "w") as out:
            out.write("part\n" + "".join(f"{label}\n" for label in labels))
        quota = ",".join([str(each)] * parts)
        theirs, found = median(1, lambda: literal.sample(rows, labels, [each] * parts, rng))
        assert list(np.bincount(labels[found])) == [each] * parts
        for method in ("per-candidate", "interpolation", "rejection"):
            seconds = pdpp(
                "sample", "--features", file, "--labels", names, "--quota", quota, "--method", method
            )["seconds"]
            task = f"Partition-DPP, {[size] * parts}, {[each] * parts}"
            add(task, "algorithm 2, literal, numpy", theirs, seconds["setup"] + seconds["sampling"], method)


def log_det(rows, picks):
    return np.linalg.slogdet(rows[picks] @ rows[picks].T)[1]


def greedy(folder, rng):
    for m, n, k in [(4000, 100, 100), (10_000, 100, 50)]:
        rows = rng.standard_normal((m, n))
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        file, unit_file = os.path.join(folder, "rows.npy"), os.path.join(folder, "unit.npy")
        np.save(file, rows)
        np.save(unit_file, unit)

        def ours(path):
            runs = [pdpp("map", "--features", path, "--k", k, "--solver", "greedy") for _ in range(5)]
            return sorted(run["seconds"] for run in runs)[2], runs[0]["log_det"]

        def difference(found, rows, log_det_of_ours):
            lost = log_det_of_ours - log_det(rows, found)
            return "same value" if abs(lost) < 1e-6 else f"ours {lost:+.3f} in ln det"

        task = f"greedy, m = {m}, n = {n}, k = {k}"
        seconds, value = ours(file)
        theirs, found = median(3, lambda: fast_greedy(rows @ rows.T, k))
        add(task, "fast greedy in numpy, kernel built", theirs, seconds, difference(found, rows, value))
        seconds, value = ours(unit_file)
        scores = np.ones(m)
        theirs, result = median(3, lambda: pyversity.diversify(unit, scores, k, "dpp", diversity=1.0))
        add(f"{task}, unit rows", "pyversity", theirs, seconds, difference(list(result.indices), unit, value))
        if m <= 4000:
            kernel = rows @ rows.T

            def submodular():
                function = LogDeterminantFunction(n=m, mode="dense", lambdaVal=0.0, sijs=kernel)
                found = function.maximize(budget=k, optimizer="LazyGreedy", show_progress=False)
                return [item for item, _ in found]

            seconds, value = ours(file)
            theirs, found = median(1, submodular)
            add(task, "submodlib, lazy greedy", theirs, seconds, difference(found, rows, value))


def main():
    rng = np.random.default_rng(2016)
    print(f"{'task':42} {'peer':34} {'theirs, s':>10} {'ours, s':>10} {'ratio':>9}")
    with tempfile.TemporaryDirectory() as folder:
        k_dpps(folder, rng)
        partition_dpps(folder, rng)
        greedy(folder, rng)
    names = ("dppy", "numpy", "pyversity", "submodlib-py")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    with open(TABLE, "w") as out:
        out.write(f"One thread each. {versions}.\n\n| task | peer | theirs, s | ours, s | times as fast | |\n|---|---|---|---|---|---|\n")
        for task, peer, theirs, ours, note in ROWS:
            out.write(f"| {task} | {peer} | {theirs:.4g} | {ours:.4g} | {theirs / ours:.3g} | {note} |\n")
    print(f"written to {TABLE}")


main()
