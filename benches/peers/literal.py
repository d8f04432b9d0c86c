"""Algorithm 2 of Kathuria and Deshpande (2016) as it stands, in numpy: one coefficient per candidate and pick."""

import itertools

import numpy as np


def coefficient(factors, want, nodes):
    """The coefficient of prod x_l^want_l in det(I + sum_l x_l F_l'F_l), from values at roots of unity."""
    grams = [factor.T @ factor for factor in factors]
    sizes = [len(factor) + 1 for factor in factors]
    grid = np.array(list(itertools.product(*(nodes[size] for size in sizes))))
    matrices = np.eye(len(grams[0])) + np.einsum("gl,lij->gij", grid, np.array(grams))
    values = np.linalg.det(matrices).reshape(sizes)
    return dft(values, want)


def dft(values, want):
    """One entry of the inverse transform."""
    for size, power in zip(values.shape, want):
        phases = np.exp(-2j * np.pi * np.arange(size) * power / size)
        values = np.tensordot(phases, values, axes=(0, 0)) / size
    return values.real


def sample(rows, parts, quota, rng):
    """One set; `parts` is the part of every row."""
    rows, parts, quota = rows.copy(), np.array(parts), list(quota)
    nodes = {
        size: np.exp(2j * np.pi * np.arange(size) / size)
        for size in range(1, max(np.bincount(parts)) + 2)
    }
    # Scale the rows so that the wanted coefficient is among the largest.
    k = sum(quota)
    rows *= np.sqrt(k / np.mean(np.sum(rows * rows, axis=1)) / len(rows))
    chosen, left = [], set(range(len(rows)))
    while sum(quota):
        candidates = [i for i in sorted(left) if quota[parts[i]]]
        weights = []
        for i in candidates:
            direction = rows[i] / np.linalg.norm(rows[i])
            rest = [j for j in left if j != i]
            projected = rows[rest] - np.outer(rows[rest] @ direction, direction)
            want = list(quota)
            want[parts[i]] -= 1
            factors = [projected[[parts[j] == part for j in rest]] for part in range(len(quota))]
            weights.append(rows[i] @ rows[i] * coefficient(factors, want, nodes))
        weights = np.maximum(weights, 0.0)
        pick = candidates[rng.choice(len(candidates), p=weights / weights.sum())]
        direction = rows[pick] / np.linalg.norm(rows[pick])
        rows -= np.outer(rows @ direction, direction)
        chosen.append(pick)
        left.remove(pick)
        quota[parts[pick]] -= 1
    return sorted(chosen)
