"""Ctrl-C, progress, threads and forks."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import partition_dpp as pdpp
import pytest

LONG = """
import os, signal, sys, threading
import numpy as np, partition_dpp as pdpp
rng = np.random.default_rng(0)
{body}
begun = threading.Event()

def interrupt():
    begun.wait()
    os.kill(os.getpid(), signal.SIGINT)

thread = threading.Thread(target=interrupt)
thread.start()
# From here on another thread runs only if this one releases the interpreter's lock, as work does once it has begun.
sys.setswitchinterval(1e4)
try:
    begun.set()
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
# Each would take minutes or hours.
SLOW = {
    "sampling": (
        "sampler = pdpp.KDpp(rng.normal(size=(4000, 60)), 40).sampler(engine='cpu')",
        "sampler.sample(10**8)",
    ),
    "set-up": (
        "models = [pdpp.KDpp(rng.normal(size=(400_000, 256)).astype('f4'), 5)] * 1000",
        "[model.sampler(engine='cpu') for model in models]",
    ),
    "search": (
        "model = pdpp.KDpp(rng.normal(size=(3000, 60)), 40)",
        "model.solve('local-search', time_limit=1e6, engine='cpu')",
    ),
    "proof": (
        "model = pdpp.KDpp(rng.normal(size=(300, 60)), 30)",
        "model.solve('exact', engine='cpu')",
    ),
    "inference": (
        "model = pdpp.PartitionDpp(rng.normal(size=(3000, 60)), np.arange(3000) % 8, [3] * 8)",
        "model.inference(engine='cpu')",
    ),
    "probabilities": (
        "model = pdpp.KDpp(rng.normal(size=(400_000, 256)).astype('f4'), 5).inference(engine='cpu')",
        "[model.inclusion_probabilities() for _ in range(1000)]",
    ),
    "kernel": (
        "rows = rng.normal(size=(200_000, 60))",
        "pdpp.select(rows, k=400, similarity='rbf', method='map')",
    ),
}


@pytest.mark.parametrize("what", SLOW)
def test_ctrl_c_ends_work(what):
    body, call = SLOW[what]
    program = textwrap.dedent(LONG).format(body=body, call=call)
    # The time limit is for work that hangs.
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def test_progress_is_reported():
    rows, seen = np.random.default_rng(0).normal(size=(2000, 40)), []
    pdpp.select(rows, k=20, n_samples=20_000, progress=lambda *step: seen.append(step), engine="cpu")
    assert seen and all(step in ("draws", "rows", "nodes", "search", "pilot") for step, _, _ in seen)

    def fail(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        pdpp.select(rows, k=20, n_samples=10**8, progress=fail, engine="cpu")
    assert len(pdpp.select(rows, k=3, progress=True)) == 3


def test_weighted_draws_of_a_set_up_are_reported_and_end():
    rows = np.random.default_rng(0).normal(size=(1000, 120))

    def fail(step, *_):
        if step == "pilot":
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        pdpp.select(rows, labels=np.arange(1000) % 10, quota=[8] * 10, method="estimated", progress=fail, engine="cpu")


def test_other_threads_run_meanwhile():
    sampler = pdpp.KDpp(np.random.default_rng(0).normal(size=(3000, 50)), 30).sampler(engine="cpu")
    begun, ticks, reports, before = threading.Event(), [], [], sys.getswitchinterval()

    class Enough(Exception):
        pass

    def tick():
        begun.wait()
        for number in range(5):
            ticks.append(number)
            time.sleep(0)

    def report(*step):
        reports.append(step)
        if len(ticks) == 5:
            raise Enough
        assert len(reports) < 10_000, "no other thread runs"

    thread = threading.Thread(target=tick)
    thread.start()
    # Other threads run only while this one has released the interpreter's lock.
    sys.setswitchinterval(1e4)
    try:
        begun.set()
        with pytest.raises(Enough):
            sampler.sample(10**8, progress=report)
    finally:
        sys.setswitchinterval(before)
    thread.join()


def test_threads_of_python_agree(rows):
    expected = [pdpp.select(rows, k=3, seed=seed).indices.tolist() for seed in range(40)]
    found = [None] * 40

    def draw(seed):
        found[seed] = pdpp.select(rows, k=3, seed=seed).indices.tolist()

    threads = [threading.Thread(target=draw, args=(seed,)) for seed in range(40)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert found == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_children_have_threads_of_their_own(rows):
    expected = pdpp.select(rows, k=3, seed=1).indices.tolist()
    child = os.fork()
    if child == 0:
        same = pdpp.select(rows, k=3, seed=1).indices.tolist() == expected
        os._exit(0 if same else 1)
    # For a child that hangs.
    deadline = time.time() + 600
    while time.time() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the child hangs")
