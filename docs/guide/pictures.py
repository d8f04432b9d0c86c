"""Draws the pictures of the guide, and numbers.json with the sets and numbers that they show.

    python docs/guide/pictures.py [FOLDER] [--only NAME]

Needs numpy, matplotlib and partition_dpp. Seeds are fixed: the same versions draw the same files.
The folder pictures holds what is not drawn: measured times, a terminal's text, the words of the charts, the style.
"""

import argparse
import csv
import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import partition_dpp as pdpp
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.patches import FancyBboxPatch, Polygon

FOLDER = Path(__file__).resolve().parent / "pictures"
DIGITS = FOLDER.parents[2] / "cli" / "data" / "digits"
WORDS = json.loads((FOLDER / "words.json").read_text(encoding="utf-8"))
# Okabe and Ito's colours, and greys.
BLUE, ORANGE, GREEN, RED, SKY, PURPLE = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7"
INK, GREY, DOTS, LIGHT = "#222222", "#6B6B6B", "#B5B5B5", "#C9C9C9"
WIDTH = 7.8  # inches: 750 pixels in a browser
MONO = "DejaVu Sans Mono"
QUESTION = {"colour": ORANGE, "fill": "#FFF8EA"}
ANSWER = {"colour": BLUE, "fill": "#EFF6FB"}
OPTION = {"colour": GREEN, "fill": "#EEF8F5"}

plt.switch_backend("Agg")
plt.style.use(FOLDER / "guide.mplstyle")


def canvas(height):
    """A figure without axes: x goes from 0 to 100 over the width, y by the same unit from 0 at the top."""
    figure = plt.figure(figsize=(WIDTH, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 100), ylim=(100 * height / WIDTH, 0))
    axes.axis("off")
    return figure, axes


def write(axes, x, y, text, size=8.5, ha="center", va="center", **font):
    axes.text(x, y, text, size=size, ha=ha, va=va, **font)


def frame(axes, x, y, width, height, colour=LIGHT, fill="white"):
    """A rounded rectangle with its top left corner at (x, y)."""
    style = "round,pad=0,rounding_size=0.9"
    axes.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=style, fc=fill, ec=colour, lw=1.3))


def box(axes, x, y, width, height, title, *lines, **colours):
    """A box around (x, y) with a title and lines; lines that begin with a dollar sign are commands."""
    frame(axes, x - width / 2, y - height / 2, width, height, **colours)
    y -= 1.225 * len(lines)
    write(axes, x, y, title, 9, weight="bold" if lines else "normal")
    for number, line in enumerate(lines, 1):
        font = {"family": MONO, "color": BLUE} if line.startswith("$") else {}
        write(axes, x, y + 2.45 * number, line.lstrip("$"), 8, **font)


def arrow(axes, start, end, label=None, colour=GREY, width=1.2):
    """An arrow, with a label on white in the middle."""
    shape = {"arrowstyle": "-|>", "color": colour, "lw": width, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 9 + width}
    axes.annotate("", end, start, arrowprops=shape)
    if label:
        x, y = (np.array(start) + end) / 2
        write(axes, x, y, label, 8, bbox={"fc": "white", "ec": "none", "pad": 1.5})


def framed(axes, title, note, **settings):
    """A scatter plot without ticks, with a note below."""
    axes.set(xticks=[], yticks=[], **settings)
    axes.set_title(title, weight="bold")
    axes.set_xlabel(note, size=8.5, labelpad=5, linespacing=1.3)
    axes.spines[:].set(visible=True, color=LIGHT)


def grid(axes, x, y, widths, header, rows, shade):
    """A table with its top left corner at (x, y) and some rows shaded; returns its bottom."""
    step = 2.9
    for number, cells in enumerate([header, *rows]):
        if number == 0 or number - 1 in shade:
            colour = "#CFE6F5" if number else "#E4E4E4"
            axes.add_patch(plt.Rectangle((x, y + step * number), sum(widths), step, fc=colour, lw=0))
        for column, cell in enumerate(cells):
            place = x + sum(widths[:column]) + 0.8, y + step * (number + 0.5)
            write(axes, *place, cell, 7.5, ha="left", weight="normal" if number else "bold")
    axes.add_patch(plt.Rectangle((x, y), sum(widths), step * (len(rows) + 1), fc="none", ec=GREY, lw=1))
    return y + step * (len(rows) + 1)


def vectors(axes, angle):
    """Two unit vectors at an angle, and their parallelogram."""
    directions = np.radians([45 - angle / 2, 45 + angle / 2])
    first, second = np.column_stack([np.cos(directions), np.sin(directions)])
    axes.add_patch(Polygon([(0, 0), first, first + second, second], fc=SKY, alpha=0.35, ec="none"))
    axes.plot(*np.transpose([first, first + second, second]), color=GREY, lw=0.8, ls=(0, (4, 3)))
    for tip, colour, name, side in [(first, BLUE, "a₁", (0.1, -0.1)), (second, RED, "a₂", (-0.12, 0.1))]:
        arrow(axes, (0, 0), tip, colour=colour, width=2.2)
        write(axes, *(0.6 * tip + side), name, 11, color=colour)
    axes.set(xlim=(-0.15, 1.62), ylim=(-0.08, 1.55), aspect="equal")
    axes.axis("off")


def digits():
    classes = np.loadtxt(DIGITS / "labels.csv", dtype=int, delimiter=",", skiprows=1, usecols=2)
    return np.load(DIGITS / "features.npy"), classes


# The pictures. Each function returns a figure, and the numbers that it shows or None.


def parallelogram():
    figure, panels = plt.subplots(1, 2, figsize=(WIDTH, 3.4))
    numbers = {}
    for axes, angle, name in zip(panels, (20, 75), ("Similar items", "Different items")):
        vectors(axes, angle)
        area, middle = np.sin(np.radians(angle)), np.cos(np.radians(angle / 2)) / np.sqrt(2)
        numbers[name] = {"angle": angle, "area": round(area, 2), "det": round(area**2, 2)}
        axes.set_title(f"{name}: {angle}° apart", size=11, weight="bold")
        write(axes, middle, middle, "area", 10, rotation=45 if angle < 40 else 0)
        write(axes, 0.73, -0.2, f"area {area:.2f},  det = area² = {area**2:.2f}", 10.5)
    figure.subplots_adjust(0.02, 0.1, 0.98, 0.92, wspace=0.02)
    return figure, numbers


def kernel():
    figure = plt.figure(figsize=(WIDTH, 3.3))
    colours = LinearSegmentedColormap.from_list("kernel", ["#FFFFFF", SKY, BLUE])
    numbers = {}
    for left, angle, name in [(0.0, 20, "Similar pair"), (0.5, 75, "Different pair")]:
        product = np.cos(np.radians(angle))
        det = 1 - product**2
        numbers[name] = {"K12": round(product, 2), "det": round(det, 2)}
        heat = figure.add_axes((left + 0.035, 0.27, 0.21, 0.5))
        heat.imshow([[1, product], [product, 1]], cmap=colours, vmin=0, vmax=1.15)
        heat.axis("off")
        for place, vector, colour in [(0, "a₁", BLUE), (1, "a₂", RED)]:
            write(heat, place, place, "1.00", 11, color="white")
            write(heat, 1 - place, place, f"{product:.2f}", 11, color="white" if product > 0.6 else INK)
            write(heat, place, -0.66, vector, 11, color=colour)
            write(heat, -0.66, place, vector, 11, color=colour)
        vectors(figure.add_axes((left + 0.255, 0.25, 0.23, 0.56)), angle)
        write(figure, left + 0.25, 0.94, name, 11, weight="bold")
        write(figure, left + 0.25, 0.15, f"det K = 1.00 · 1.00 − {product:.2f} · {product:.2f} = {det:.2f}", 10)
    ratio = numbers["Different pair"]["det"] / numbers["Similar pair"]["det"]
    write(figure, 0.5, 0.04, f"The different pair is {ratio:.0f} times as likely as the similar one.", 9.5, color=GREY)
    return figure, numbers


def cloud():
    """Eight clusters of unequal size and a few outliers; the score is highest in the largest cluster."""
    rng = np.random.default_rng(5)
    centres = np.array([(2, 2.1), (5.4, 1.3), (8.4, 2.9), (1.3, 5.4), (4.7, 4.6), (7.6, 6.0), (2.9, 8.5), (6.4, 8.9)])
    sizes = np.array([90, 20, 25, 15, 30, 20, 15, 20])
    points = [centre + rng.normal(0, 0.42, (size, 2)) for centre, size in zip(centres, sizes)]
    outliers = np.array([(0, 0.1), (10, 0.4), (10, 9.6), (0.1, 10), (10.2, 5.1), (3.4, 6.7)])
    points = np.concatenate([*points, outliers])
    clusters = np.concatenate([np.repeat(np.arange(len(centres)), sizes), np.full(len(outliers), -1)])
    return points, clusters, -np.sqrt(((points - centres[0]) ** 2).sum(axis=1))


def blobs():
    points, clusters, scores = cloud()
    k, rbf = 8, {"similarity": "rbf", "bandwidth": 2.0}
    drawn = {
        "Random": [np.random.default_rng(seed).choice(len(points), k, replace=False) for seed in range(1000)],
        "Top scores": [np.argsort(-scores, kind="stable")[:k]],
        "DPP": pdpp.select(points, k=k, n_samples=1000, seed=5, **rbf).samples,
        "Representative": [pdpp.select(points, k=k, represent="all", method="map", **rbf).indices],
    }
    figure, panels = plt.subplots(1, 4, figsize=(WIDTH, 2.6))
    numbers = {}
    for axes, (name, sets) in zip(panels, drawn.items()):
        items, reached = sets[0], [len(set(clusters[items]) - {-1}) for items in sets]
        out, mean = int((clusters[items] == -1).sum()), round(float(np.mean(reached)), 1)
        numbers[name] = {"items": np.sort(items).tolist(), "clusters": reached[0], "on average": mean, "outliers": out}
        shades = {"c": scores, "cmap": "Greys", "vmin": -13, "vmax": 2} if name == "Top scores" else {"color": DOTS}
        axes.scatter(*points.T, s=5, lw=0, **shades)
        axes.scatter(*points[items].T, s=42, color=BLUE, alpha=0.85, ec="white", lw=0.8)
        note = f"{reached[0]} of 8 clusters" + (f", {out} outlier" + "s" * (out > 1) if out else "")
        note += f"\n({mean} on average)" * (len(sets) > 1) + "\n(darker: better score)" * (name == "Top scores")
        framed(axes, name, note, xlim=(-0.9, 11.1), ylim=(-1.1, 10.9))
    figure.subplots_adjust(0.01, 0.19, 0.99, 0.905, wspace=0.05)
    return figure, numbers


def four_similarities():
    # A cloud, 40 near-duplicates of one point, a cloud in another direction, and an outlier.
    rng = np.random.default_rng(3)
    clouds = [((4.6, 1.6), (0.8, 0.5), (40, 2)), ((1.8, 1.6), 0.05, (40, 2)), ((1.4, 4.2), (0.4, 0.6), (30, 2))]
    points = np.concatenate([*(rng.normal(*shape) for shape in clouds), [(7.4, 5.6)]])
    rows = pdpp.Features(points)
    ridged = np.hstack([points, np.sqrt(rows.suggested_ridge()) * np.eye(len(points))])
    panels = [("dot", 2, rows), ("cosine", 2, rows.with_unit_rows()), ("rbf", 6, rows.rbf(1.0))]
    panels.append(("dot + ridge", 6, pdpp.Features(ridged)))
    colours = LinearSegmentedColormap.from_list("times", [BLUE, "#CFCFCF", RED])
    figure, frames = plt.subplots(1, 4, figsize=(WIDTH, 3.05))
    numbers = {}
    for axes, (name, k, similarity), note in zip(frames, panels, WORDS["four-similarities"]):
        model = pdpp.KDpp(similarity, k)
        times = model.inference().inclusion_probabilities()[0] * len(points) / k
        best = model.solve("exact").indices
        shares = {"outlier": round(float(times[-1]), 2), "copy": round(float(times[40:80].mean()), 3)}
        numbers[name] = {"items": np.sort(best).tolist(), "times as at random": shares}
        order = np.argsort(times, kind="stable")
        dots = axes.scatter(*points[order].T, c=times[order], s=14, cmap=colours, norm=LogNorm(0.25, 4), lw=0)
        axes.scatter(*points[best].T, s=62, fc="none", ec=INK, lw=1.2)
        axes.plot(0, 0, "+", color=INK, ms=7)
        framed(axes, f"{name}, {k} items", note, xlim=(-0.6, 8.3), ylim=(-0.7, 6.4))
    figure.subplots_adjust(0.01, 0.31, 0.99, 0.92, wspace=0.05)
    write(figure, 0.335, 0.085, "drawn, compared with random:", ha="right")
    bar = figure.colorbar(dots, cax=figure.add_axes((0.36, 0.07, 0.24, 0.03)), orientation="horizontal")
    bar.ax.minorticks_off()
    bar.set_ticks([0.25, 0.5, 1, 2, 4], labels=["¼ ×", "½ ×", "1 ×", "2 ×", "4 ×"], size=8)
    bar.outline.set_visible(False)
    write(figure, 0.665, 0.085, "○  the most probable set     +  the origin", ha="left")
    return figure, numbers


def relevance_diversity():
    images, _ = digits()
    scores = images.sum(axis=1) / (16 * 64)
    scores = (scores - scores.mean()) / scores.std()
    unit = pdpp.Features(images).with_unit_rows()
    numbers = []
    for diversity in (0, 0.1, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1):
        items = pdpp.select(images, k=10, scores=scores, diversity=diversity, method="map").indices
        point = {"mean score": round(float(scores[items].mean()), 3), "ln det": round(unit.log_det(items), 3)}
        numbers.append({"diversity": diversity, **point, "items": np.sort(items).tolist()})
    rng = np.random.default_rng(0)
    sets = [rng.choice(len(images), 10, replace=False) for _ in range(200)]
    figure, axes = plt.subplots(figsize=(WIDTH, 3.9))
    axes.scatter([unit.log_det(s) for s in sets], [scores[s].mean() for s in sets], s=9, color=DOTS, lw=0)
    write(axes, -12.2, -1.2, "200 random sets", 9, color=GREY)
    x, y = [n["ln det"] for n in numbers], [n["mean score"] for n in numbers]
    axes.plot(x, y, "-", color=SKY, lw=1.5, zorder=1)
    axes.scatter(x, y, color=BLUE, s=36, zorder=2, ec="white", lw=0.8)
    for number, point in enumerate(numbers):
        label = f"{point['diversity']:g}" + {0: ": scores alone", 1: ": diversity alone"}.get(point["diversity"], "")
        offset, side = {0: ((-4, 8), "left"), 1: ((-8, -3), "right")}.get(point["diversity"], ((6, 4), "left"))
        axes.annotate(label, (x[number], y[number]), offset, textcoords="offset points", color=BLUE, ha=side)
    write(axes, -4.2, 3.25, "the best ten digits at --diversity 0 to 1", 9, ha="right", color=BLUE)
    write(axes, -4.2, 2.98, "score: how much ink, standardised", 8, ha="right", color=GREY)
    axes.set(xlim=(None, -4), ylim=(None, 3.45), xticks=(-25, -20, -15, -10, -5), ylabel="mean score (up: better)")
    axes.set_xlabel("ln det of the similarity of the ten digits (right: more diverse)")
    figure.tight_layout()
    return figure, numbers


def decision():
    figure, axes = canvas(5.1)
    box(axes, 50, 5, 50, 6, "Do the items have groups, each with a quota?", **QUESTION)
    for x, start, label, text in [(22, 36, "no", "Is the size fixed?"), (72, 59, "yes", "Exact numbers, or ranges?")]:
        box(axes, x, 20, 27, 6, text, **QUESTION)
        arrow(axes, (start, 8), (x, 17), label)
    places = [(11.5, 19, 17.5, "no"), (33, 19, 26.5, "yes"), (58, 26, 66, "exact"), (85.5, 25, 78, "ranges")]
    for (x, width, start, label), lines in zip(places, WORDS["decision"][:4]):
        box(axes, x, 37.5, width, 10.5, *lines, **ANSWER)
        arrow(axes, (start, 23), (x, 32.25), label)
    write(axes, 50, 47.8, "Options to add", 9.5, weight="bold")
    for x, lines in zip((17.5, 50, 82.5), WORDS["decision"][4:]):
        box(axes, x, 57, 31, 10.5, *lines, **OPTION)
    return figure, None


def method():
    figure, axes = canvas(6.1)
    box(axes, 50, 5, 50, 6, "Random draws, probabilities, or one best set?", **QUESTION)
    for left, (branch, question, entries) in zip((2, 35.5, 69), WORDS["method"]):
        middle = left + 14.5
        box(axes, middle, 19, 29, 6, question, **QUESTION)
        arrow(axes, (50 + (middle - 50) * 0.45, 8), (middle, 16), branch)
        for row, (condition, title, command) in enumerate(entries):
            y = 29.5 + 13 * row
            write(axes, left + 4, y - 3.2, condition, ha="left", style="italic")
            box(axes, left + 16, y + 2.7, 26, 8, title, command, **ANSWER)
            arrow(axes, (left + 1, y + 2.7), (left + 3, y + 2.7))
        axes.plot([left + 1, left + 1], [22, y + 2.7], color=GREY, lw=1.2, solid_capstyle="butt")
    return figure, None


def time_parts():
    with open(FOLDER / "time-parts.csv") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    figure, panels = plt.subplots(1, 2, figsize=(WIDTH, 3.7), sharey=True)
    styles = [(BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), (PURPLE, "v")]
    for axes, each, name in zip(panels, "12", ("One item", "Two items")):
        for (command, label), (colour, marker) in zip(WORDS["time-parts"].items(), styles):
            mine = [row for row in rows if row["items_per_part"] == each and row["command"] == command]
            points = [(int(row["parts"]), float(row["seconds"])) for row in mine if row["exit_status"] == "0"]
            axes.plot(*zip(*points), marker=marker, ms=4.5, lw=1.4, color=colour, label=label)
            if refused := [int(row["parts"]) for row in mine if row["exit_status"] == "4"]:
                axes.axvspan(min(refused) - 0.5, 31, color=BLUE, alpha=0.09, lw=0)
                write(axes, (min(refused) + 30.5) / 2, 40, "exact draws\nare refused", color=BLUE)
        axes.set(yscale="log", xlim=(1, 31), ylim=(0.01, 100), xlabel="number of parts")
        axes.set_title(f"{name} per part", weight="bold")
        axes.set_yticks([0.01, 0.1, 1, 10, 100], ["0.01 s", "0.1 s", "1 s", "10 s", "100 s"])
        axes.grid(axis="y")
    panels[0].set_ylabel("time of the command")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=2)
    figure.subplots_adjust(0.09, 0.27, 0.985, 0.92, wspace=0.05)
    return figure, None


def answer():
    lines = (FOLDER / "answer.txt").read_text(encoding="utf-8").splitlines()
    items = np.sort(pdpp.PartitionDpp(*digits(), {3: 2, 8: 2}).sampler().sample(1, seed=42)[0]).tolist()
    figure, axes = canvas(4.35)
    letter, ends = 0.7932, 70.0  # the width of a letter, the right edge of the terminal
    frame(axes, 1, 1, ends - 1, 53.5, fill="#F7F7F7")
    y = 4.5
    for row, line in enumerate(lines):
        key = line if row == 0 else line[:10] if row > 5 else ""
        write(axes, 3, y, key, 7.4, ha="left", family=MONO, color=BLUE)
        write(axes, 3, y, " " * len(key) + line[len(key) :], 7.4, ha="left", family=MONO)
        if note := WORDS["answer"].get(str(row)):
            arrow(axes, (ends + 2, y), (3.8 + letter * len(line), y), colour=ORANGE)
            write(axes, ends + 2.7, y, note, 7.8, ha="left", linespacing=1.15)
        y += (3.6, 2.7, 2.7, 2.7, 2.7, 4.2)[row] if row < 6 else 4.6
    return figure, {"command": lines[0][2:], "items": items}


def table():
    features = np.random.default_rng(7).normal(size=(9, 3)).round(1) + 0.0
    kinds = ["cat", "dog", "owl"] * 3
    law = pdpp.PartitionDpp(features, kinds, {"cat": 2, "dog": 1})
    chosen = np.sort(law.solve().indices).tolist()
    texts = [[f"{value:.1f}".replace("-", "−") for value in row] for row in features]
    rows = [(f"{kind}-{i // 3 + 1}.jpg", kind, *text) for i, (kind, text) in enumerate(zip(kinds, texts))]
    figure, axes = canvas(3.2)
    write(axes, 2, 3.2, "photos.parquet", 9.5, ha="left", weight="bold")
    bottom = grid(axes, 2, 5.5, (10.5, 7, 5.5, 5.5, 5.5), ("url", "class", "x1", "x2", "x3"), rows, chosen)
    for x, width, name, colour in [(2, 10.5, "id", GREEN), (12.5, 7, "group", RED), (19.5, 16.5, "features", BLUE)]:
        axes.plot([x + 0.5, x + width - 0.5], [bottom + 1.3] * 2, color=colour, lw=2.5, solid_capstyle="butt")
        write(axes, x + width / 2, bottom + 3.4, name, 9, color=colour)
    for number, (word, colour) in enumerate(zip(WORDS["table"], (INK, INK, BLUE, RED, GREEN, INK, INK))):
        write(axes, 38.5, 8.5 + 2.7 * number, word, 7.5, ha="left", family=MONO, color=colour)
    arrow(axes, (38.5, 28.5), (64.5, 28.5))
    write(axes, 66.5, 3.2, "chosen.csv", 9.5, ha="left", weight="bold")
    output = [("0", str(item), *rows[item][:2]) for item in chosen]
    bottom = grid(axes, 66.5, 5.5, (8, 6.5, 10.5, 7), ("sample", "item", "url", "class"), output, range(3))
    write(axes, 66.5, bottom + 3, "item: the row, counted from 0;", 8, ha="left", color=GREY)
    write(axes, 66.5, bottom + 5.5, "then all columns that are not features", 8, ha="left", color=GREY)
    return figure, {"rows": rows, "items": chosen}


def dataflow():
    figure, axes = canvas(5.15)
    frame(axes, 2, 2, 22, 60, **ANSWER)
    frame(axes, 78, 2, 20, 60, **QUESTION)
    write(axes, 13, 4.7, "Workers", 11, weight="bold")
    write(axes, 88, 4.7, "Driver", 11, weight="bold")
    for y, name in ((10, "1"), (27, "2"), (44, "…")):
        axes.hlines(y + 1.9 * np.arange(5), 5, 21, color="#A4D3F0", lw=5.5)
        write(axes, 13, y + 10.6, f"batch {name}")
    for number, (asked, sent, amount, work) in enumerate(WORDS["dataflow"]):
        y = 13 + 14 * number
        if asked:
            arrow(axes, (77, y - 3.5), (25, y - 3.5), colour=ORANGE)
        write(axes, 53, y - 4.3, asked, va="bottom")
        arrow(axes, (25, y + 2), (77, y + 2), colour=BLUE)
        write(axes, 53, y + 1.2, sent, va="bottom")
        write(axes, 53, y + 2.8, amount, 7.5, va="top", color=GREY)
        write(axes, 88, y, work, linespacing=1.4)
        axes.plot(29, y - 0.8, "o", ms=14, color=GREY)
        write(axes, 29, y - 0.75, str(number + 1), 9, color="white", weight="bold")
    write(axes, 51, 62.3, "n features, rank r ≤ n, k items in a set", 8, color=GREY)
    return figure, None


SVG = (parallelogram, kernel, decision, method, answer, table, dataflow)
PNG = (blobs, four_similarities, relevance_diversity, time_parts)
PICTURES = {f"{draw.__name__.replace('_', '-')}.{'svg' if draw in SVG else 'png'}": draw for draw in SVG + PNG}


def main():
    parser = argparse.ArgumentParser(description="Draws the pictures of the guide.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    parser.add_argument("--only", metavar="NAME", choices=PICTURES, help="one of " + ", ".join(PICTURES))
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    record = options.folder / "numbers.json"
    numbers = json.loads(record.read_text()) if options.only and record.exists() else {}
    for name in [options.only] if options.only else PICTURES:
        figure, shown = PICTURES[name]()
        figure.savefig(options.folder / name, metadata={"Date" if name.endswith("svg") else "Software": None})
        plt.close(figure)
        if shown is not None:
            numbers[name] = shown
    record.write_text(json.dumps(dict(sorted(numbers.items())), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
