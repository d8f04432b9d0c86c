"""Draws the pictures of sensors and of a mixture design of docs/guide/python.md, from the root of the repository."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import partition_dpp as pdpp

BLUE, RED, GREY = "#1f77b4", "#d62728", "#bbbbbb"

# Sensors: the pixels that predict the whole image best, a fixed number of them in the middle.
digits = np.asarray(np.load("cli/data/digits/features.npy", mmap_mode="r"), dtype=float)
seen, unseen = digits[::2], digits[1::2]
mean = seen.mean(axis=0)
modes = np.linalg.svd(seen - mean, full_matrices=False)[2]
row, column = np.divmod(np.arange(64), 8)
middle = (2 <= row) & (row < 6) & (2 <= column) & (column < 6)


def sensors(count, modes_used, in_middle):
    """The pixels that estimate some modes best, the estimates of unseen images, and the relative error."""
    basis, quota = modes[:modes_used].T, {"middle": in_middle, "rim": count - in_middle}
    parts = np.where(middle, "middle", "rim")
    # As many sensors as modes: the most diverse set. More: a design.
    question = (pdpp.PartitionDpp if count == modes_used else pdpp.Design)(basis, parts, quota)
    found = question.solve("exact")
    assert found.termination == "optimal"
    pixels = found.indices
    coefficients = np.linalg.lstsq(basis[pixels], (unseen[:, pixels] - mean[pixels]).T)[0]
    images = mean + coefficients.T @ basis.T
    error = np.linalg.norm(images - unseen) / np.linalg.norm(unseen - mean)
    return pixels, images, error


figure = plt.figure(figsize=(8.4, 4.6), layout="constrained")
for part, (count, modes_used) in zip(figure.subfigures(2, 1), [(8, 8), (16, 8)]):
    pixels, images, error = sensors(count, modes_used, 4)
    left, right = part.subfigures(1, 2, width_ratios=[1, 2.6])
    grid = left.subplots()
    grid.imshow(mean.reshape(8, 8), cmap="gray_r", alpha=0.5)
    grid.add_patch(plt.Rectangle((1.5, 1.5), 4, 4, fill=False, edgecolor="black", linestyle="--"))
    grid.scatter(column[pixels], row[pixels], c=np.where(middle[pixels], RED, BLUE), s=40, marker="s")
    grid.set_title(f"{count} sensors, 4 in the middle", fontsize=9)
    right.suptitle(f"{modes_used} modes, error {error:.0%} on unseen digits", fontsize=9)
    axes = right.subplots(2, 7)
    for (above, below), image in zip(axes.T, [3, 8, 21, 34, 55, 89, 144]):
        for axis, shown in [(above, unseen[image]), (below, images[image])]:
            axis.imshow(shown.reshape(8, 8), cmap="gray_r", vmin=0, vmax=digits.max())
            axis.set(xticks=[], yticks=[])
    axes[0][0].set_ylabel("digit", fontsize=8)
    axes[1][0].set_ylabel("estimate", fontsize=8)
    grid.axis("off")
figure.savefig("docs/guide/pictures/python-sensors.png", dpi=110)

# A mixture: blends of three components in tenths, and a quadratic model of what they yield.
tenths = np.array([(a, b, 10 - a - b) for a in range(11) for b in range(11 - a)])
blends = tenths / 10
terms = np.column_stack([blends, *(blends[:, i] * blends[:, j] for i, j in [(0, 1), (0, 2), (1, 2)])])
kind = np.array(["pure", "of two", "of three"])[(tenths > 0).sum(axis=1) - 1]

figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.5), layout="constrained")
corners = np.array([(0, 0), (1, 0), (0.5, np.sqrt(0.75))])
for axis, (title, quota) in zip(
    axes,
    {
        "any 9 blends": {"pure": (0, 9), "of two": (0, 9), "of three": (0, 9)},
        "at most 1 pure, at least 4 of three": {"pure": (0, 1), "of two": (0, 9), "of three": (4, 9)},
    }.items(),
):
    design = pdpp.Design(terms, kind, quota, k=9)
    best = design.solve()
    assert best.termination == "optimal"
    distinct, repeated = design.efficiency(best.indices)
    axis.fill(*corners.T, fill=False, edgecolor=GREY)
    axis.scatter(*(blends @ corners).T, s=8, color=GREY)
    axis.scatter(*(blends[best.indices] @ corners).T, s=60, color=BLUE)
    for corner, name, offset in zip(corners, "ABC", [(-0.05, -0.04), (0.05, -0.04), (0, 0.035)]):
        axis.text(*(corner + offset), name, ha="center")
    axis.set_title(f"{title}\nefficiency {distinct:.1%}, with repeats {repeated:.1%}", fontsize=9, pad=14)
    axis.set_aspect("equal")
    axis.axis("off")
figure.savefig("docs/guide/pictures/python-mixture.png", dpi=110, bbox_inches="tight")
