"""Greedy MAP in plain numpy, one thread: run by map.rs as `python3 numpy_greedy.py FILE.npy K`.

Answers every line on standard input, the name of an algorithm, with its picks.
"""

import os
import sys

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
import numpy as np


def features_greedy(a, k):
    """d <- d - (A q)^2, q the unit residual of the pick."""
    d = np.einsum("ij,ij->i", a, a)
    q = np.zeros((k, a.shape[1]))
    picks = []
    for t in range(k):
        i = int(np.argmax(d))
        picks.append(i)
        residual = a[i] - q[:t].T @ (q[:t] @ a[i])
        residual -= q[:t].T @ (q[:t] @ residual)
        q[t] = residual / np.linalg.norm(residual)
        c = a @ q[t]
        d -= c * c
        d[i] = -np.inf
    return picks


def fast_greedy(kernel, k):
    """Chen, Zhang and Zhou (2018), algorithm 1."""
    c = np.zeros((k, len(kernel)))
    d = kernel.diagonal().copy()
    picks = [int(np.argmax(d))]
    while len(picks) < k:
        t, j = len(picks) - 1, picks[-1]
        c[t] = (kernel[j] - c[:t, j] @ c[:t]) / np.sqrt(d[j])
        d -= c[t] * c[t]
        d[j] = -np.inf
        picks.append(int(np.argmax(d)))
    return picks


def main():
    a, k = np.load(sys.argv[1]), int(sys.argv[2])
    kernel = a @ a.T if len(a) <= 20_000 else None
    for line in sys.stdin:
        picks = {
            "features": lambda: features_greedy(a, k),
            "kernel given": lambda: fast_greedy(kernel, k),
            "kernel built": lambda: fast_greedy(a @ a.T, k),
        }[line.strip()]()
        print(*sorted(picks), flush=True)


if __name__ == "__main__":
    main()
