"""Draws the pictures of docs/guide/python.md, from the root of the repository."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import partition_dpp as pdpp

digits = np.load("cli/data/digits/features.npy", mmap_mode="r")
labels = np.loadtxt("cli/data/digits/labels.csv", dtype=int, delimiter=",", skiprows=1, usecols=2)
features = pdpp.Features(digits).with_unit_rows()
rng = np.random.default_rng(0)


def at_random():
    return np.concatenate([rng.choice(np.flatnonzero(labels == digit), 2, replace=False) for digit in range(10)])


chosen = pdpp.select(digits, labels=labels, k=20, quota="equal", seed=1)
best = pdpp.select(digits, labels=labels, k=20, quota="equal", method="map")

figure, axes = plt.subplots(3, 1, figsize=(5.6, 4.6), layout="constrained")
shown = {"at random": at_random(), "drawn from the DPP": chosen.indices, "the most diverse found": best.indices}
for axis, (name, items) in zip(axes, shown.items()):
    items = sorted(items, key=lambda item: labels[item])
    grid = np.zeros((2 * 9 - 1, 10 * 9 - 1))
    for place, item in enumerate(items):
        column, row = divmod(place, 2)
        grid[9 * row : 9 * row + 8, 9 * column : 9 * column + 8] = digits[item].reshape(8, 8)
    axis.imshow(grid, cmap="gray_r", aspect="equal")
    axis.set_title(f"{name}, ln det = {features.log_det(items):.1f}", fontsize=10)
    axis.axis("off")
figure.savefig("docs/guide/pictures/python-digits.png", dpi=110)

figure, axis = plt.subplots(figsize=(6.4, 3), layout="constrained")
random = [features.log_det(at_random()) for _ in range(1000)]
drawn = pdpp.select(digits, labels=labels, k=20, quota="equal", n_samples=1000, seed=1).samples
bins = np.linspace(min(random), best.log_det + 1, 60)
axis.hist(random, bins, color="#999999", alpha=0.8)
axis.hist([features.log_det(sample) for sample in drawn], bins, color="#1f77b4", alpha=0.8)
axis.axvline(best.log_det, color="#d62728")
top = axis.get_ylim()[1]
axis.text(np.mean(random), top * 1.02, "at random", ha="center", color="#666666")
axis.text(np.mean([features.log_det(sample) for sample in drawn]), top * 1.02, "DPP", ha="center", color="#1f77b4")
axis.text(best.log_det, top * 1.02, "most diverse found", ha="right", color="#d62728")
axis.set_xlabel("ln det of the similarity of twenty digits")
axis.set_ylabel("sets of 1000")
axis.spines[["top", "right"]].set_visible(False)
figure.savefig("docs/guide/pictures/python-log-det.png", dpi=110)
