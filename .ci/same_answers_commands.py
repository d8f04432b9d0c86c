"""The commands of `same-answers`, and the files that they read."""

import itertools
import json
import math
import random
import struct

SUBCOMMANDS = ("sample", "map", "infer", "counts", "devices", "bench", "reproduce")
NPY = {"f2": "e", "f4": "f", "f8": "d", "i8": "q", "u1": "B", "b1": "?"}


def write_npy(path, kind, shape, values):
    """A .npy file in C order."""
    order = "|" if kind in ("u1", "b1") else "<"
    header = repr({"descr": order + kind, "fortran_order": False, "shape": tuple(shape)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    packed = struct.pack(f"<{len(values)}{NPY[kind]}", *values)
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + packed)


def write_csv(path, rows, header=None):
    lines = ([header] if header else []) + [",".join(map(str, row)) for row in rows]
    path.write_text("\n".join(lines) + "\n")


def write_data(folder):
    """Sixty rows of eight features in three parts; twelve of four; many, flat and near ones; kernels; sets; bad files."""
    numbers = random.Random(7)
    normal = lambda rows, dims: [[numbers.gauss(0, 1) for _ in range(dims)] for _ in range(rows)]
    rows = normal(60, 8)
    write_csv(folder / "rows.csv", rows)
    write_csv(folder / "parts.csv", (["abc"[i % 3]] for i in range(60)), "part")
    few = normal(12, 4)
    write_csv(folder / "few.csv", few)
    write_csv(folder / "two.csv", (["lr"[i % 2]] for i in range(12)), "side")
    factors = normal(10, 5)
    kernel = [[math.fsum(x * y for x, y in zip(a, b)) for b in factors] for a in factors]
    write_csv(folder / "kernel.csv", kernel)
    write_csv(folder / "ten.csv", (["ab"[i % 2]] for i in range(10)), "part")
    (folder / "sets.json").write_text(json.dumps([[0, 1, 2], [3, 7, 11], [0, 4, 8, 9]]))
    # The same in other formats.
    flat = [x for row in rows for x in row]
    for kind in ["f2", "f4", "f8"]:
        write_npy(folder / f"rows-{kind}.npy", kind, (60, 8), flat)
        write_npy(folder / f"kernel-{kind}.npy", kind, (10, 10), [x for row in kernel for x in row])
    write_npy(folder / "rows-i8.npy", "i8", (60, 8), [round(3 * x) for x in flat])
    write_npy(folder / "rows-u1.npy", "u1", (60, 8), [round(20 * abs(x)) for x in flat])
    write_npy(folder / "rows-b1.npy", "b1", (60, 8), [x > 0 for x in flat])
    write_npy(folder / "parts.npy", "i8", (60,), [i % 3 for i in range(60)])
    write_npy(folder / "ids.npy", "i8", (60,), [1000 + i for i in range(60)])
    scores = [numbers.random() for _ in range(60)]
    write_npy(folder / "scores.npy", "f8", (60,), scores)
    table = ([f"i{i}", "abc"[i % 3], f"u{i // 20}", scores[i], -scores[i]] for i in range(60))
    write_csv(folder / "table.csv", table, "id,part,user,good,bad")
    labels = ([i, int(i % 3 == 0), int(i % 2 == 0), int(i % 5 > 0)] for i in range(60))
    write_csv(folder / "multi.csv", labels, "item,sky,sun,tree")
    write_csv(folder / "header.csv", few, "w,x,y,z")
    # More rows than features of ridges and kernels are made for.
    many = [x for row in normal(1500, 6) for x in row]
    write_npy(folder / "many.npy", "f4", (1500, 6), many)
    write_npy(folder / "many-parts.npy", "i8", (1500,), [i * i % 7 % 3 for i in range(1500)])
    write_npy(folder / "many-scores.npy", "f8", (1500,), [numbers.random() for _ in range(1500)])
    # Fewer rows than features; rows of rank two; rows that nearly agree; long and short rows.
    write_csv(folder / "long.csv", normal(20, 40))
    plane = normal(2, 5)
    mixed = [[a * x + b * y for x, y in zip(*plane)] for a, b in normal(30, 2)]
    write_csv(folder / "flat.csv", mixed)
    write_csv(folder / "near.csv", [[1 + 1e-7 * numbers.gauss(0, 1) for _ in range(4)] for _ in range(30)])
    write_csv(folder / "scaled.csv", [[x * 10 ** (i % 7 * 20 - 60) for x in row] for i, row in enumerate(normal(30, 4))])
    write_csv(folder / "thirty.csv", (["ab"[i % 2]] for i in range(30)), "part")
    # Bad input.
    write_csv(folder / "nan.csv", [[1, 2], [3, "nan"], [4, 5]])
    write_csv(folder / "ragged.csv", [[1, 2], [3], [4, 5]])
    write_csv(folder / "words.csv", [[1, 2], ["x", 3]])
    write_csv(folder / "zeros.csv", [[0, 0]] * 5)
    write_csv(folder / "skew.csv", [[1, 2], [3, 4]])
    write_csv(folder / "negative.csv", [[1, 2], [2, 1]])
    (folder / "empty.csv").write_text("")
    (folder / "short.npy").write_bytes((folder / "rows-f8.npy").read_bytes()[:1000])
    (folder / "rows.txt").write_text("1,2\n")
    (folder / "bad.json").write_text("[[0, 1], [99]]")
    (folder / "torn.json").write_text("[[0, 1")


ROWS = "--features rows.csv --labels parts.csv"
FEW = "--features few.csv --labels two.csv"
TABLE = "--features rows.csv --labels table.csv --label-column part"
MANY = "--features many.npy --labels many-parts.npy"
DIGITS = "--dataset digits"
LAWS = ["--k 3", "", "--quota 1,1,1", "--quota 2,1,2", "--quota a=2,c=1", "--quota 1..2,..2,1..", "--quota 0..2,1..3,2 --k 5"]
FEW_LAWS = ["--k 3", "", "--quota 1,1", "--quota 2,1", "--quota l=2", "--quota 1..2,..2", "--quota 0..2,1..3 --k 3"]
EXACT = ["--quota 1,1,1", "--quota 2,1,2", "--quota a=2,c=1"]
CONDITIONS = ["", "--include 3", "--exclude 0,7", "--include 4,9 --exclude 1"]
SIMILARITIES = ["--ridge 0.5", "--similarity cosine", "--similarity rbf", "--similarity rbf --bandwidth 2.5",
                "--similarity rbf --landmarks 20", "--similarity rbf --ridge 0.1", "--similarity cosine --ridge 2"]
SCORES = ["--scores scores.npy", "--scores scores.npy --diversity 0.8", "--scores table.csv --score-column bad",
          "--scores scores.npy --ridge 0.5", "--scores scores.npy --similarity rbf"]
ESTIMATED = ["--k 3 --quota 1,1,1", "--quota 2,1,2", "--quota 1..2,..2,1..", "--quota 0..2,1..3,2 --k 5"]


def laws():
    """Every law, with conditions, by every method and solver."""
    for law, condition in itertools.product(LAWS, CONDITIONS):
        yield f"sample {ROWS} {law} {condition} --samples 20 --seed 3"
        yield f"infer {ROWS} {law} {condition} --sets sets.json"
        yield f"map {ROWS} {law} {condition} --solver greedy"
    for law, condition in itertools.product(LAWS, CONDITIONS[:2]):
        yield f"map {ROWS} {law} {condition} --time-limit 0 --certify"
        yield f"counts {ROWS} {law} {condition}"
    for law in LAWS:
        yield f"sample {ROWS} {law} --plan"
        yield f"map {ROWS} {law} --time-limit 0 --epsilon 0.5 --threads 1"
    for law, condition in itertools.product(FEW_LAWS, CONDITIONS[:2]):
        yield f"map {FEW} {law} {condition} --solver exact"
        yield f"counts {FEW} {law} {condition}"
    for law, method in itertools.product(EXACT, ["rejection", "interpolation", "per-candidate", "mcmc"]):
        yield f"sample {ROWS} {law} --method {method} --samples 6 --seed 5"
        yield f"sample {ROWS} {law} --method {method} --plan"
        yield f"sample {ROWS} {law} --method {method} --include 3 --samples 6"
    for law, bound in itertools.product(ESTIMATED[1:], ["tilted", "hadamard", "fischer", "block", "sequential", "halves"]):
        yield f"sample {ROWS} {law} --bound {bound} --samples 6 --seed 2"
    for law, condition in itertools.product(EXACT, CONDITIONS):
        yield f"sample {ROWS} {law} {condition} --independent --samples 10"
        yield f"map {ROWS} {law} {condition} --independent --time-limit 0"
        yield f"sample {ROWS} {law} {condition} --method mcmc --samples 8 --chains 2 --burn-in 10 --thin 3 --seed 4"
    yield f"sample {ROWS} --quota 2,2,2 --method mcmc --samples 40 --thin auto --similarity rbf"
    for way in ["--represent parts", "--represent all --representation 2", "--represent parts --similarity rbf",
                "--represent parts --represent-excluded no --exclude 4,5"]:
        for command in ["sample --samples 3 --explained", "map --time-limit 0 --explained", "infer --sets sets.json", "map --solver exact"]:
            yield f"{command} {ROWS} --quota 1,1,1 {way}"
        yield f"counts {ROWS} --k 3 {way}"
    yield f"infer {ROWS} --quota 2,2,2 --within 0.05 --confidence 0.9"
    for way in ["--similarity cosine", "--coverage all", "--similarity rbf --scores scores.npy", "--candidates 5 --exclude 4,5"]:
        yield f"map {ROWS} --quota 2,1,2 --solver coverage --time-limit 0 {way}"
    yield f"sample {ROWS} --quota 2,2,2 --method mcmc --samples 40 --scores scores.npy --ridge 1"
    for law, condition in itertools.product(ESTIMATED, CONDITIONS):
        yield f"sample {ROWS} {law} {condition} --method estimated --samples 10 --seed 6"
        yield f"infer {ROWS} {law} {condition} --method estimated --standard-error 0.05 --seed 6 --sets sets.json"
    for law in ESTIMATED:
        yield f"sample {ROWS} {law} --method estimated --weighted --samples 10"
        yield f"sample {ROWS} {law} --method estimated --law-error 0.02 --samples 10"
        yield f"sample {ROWS} {law} --method estimated --plan"
        yield f"counts {ROWS} {law} --method estimated --standard-error 0.05 --seed 2"
        yield f"infer {ROWS} {law} --method estimated --standard-error 0.05 --ridge 0.5"
        yield f"sample {ROWS} {law} --method estimated --scores scores.npy --samples 10"
    for solver in ["symmetric-greedy", "softmax", "greedy"]:
        yield f"map {ROWS} --solver {solver}"
        yield f"map {ROWS} --solver {solver} --ridge 0.5 --scores scores.npy"
    for kernel, law in itertools.product(["csv", "f8.npy --kernel-tolerance 1e-6"], ["--k 2", "", "--k 4"]):
        source = f"--kernel kernel.csv {law}" if kernel == "csv" else f"--kernel kernel-{kernel} {law}"
        for condition in CONDITIONS[:3]:
            yield f"sample {source} {condition} --samples 10"
            yield f"infer {source} {condition}"
            yield f"map {source} {condition} --solver exact --certify"
            yield f"counts {source} --labels ten.csv {condition}"
    yield "sample --kernel kernel-f4.npy --k 3"
    yield "infer --kernel kernel-f2.npy --k 3"


def similarities():
    """Ridges, other similarities and scores."""
    for way, law, condition in itertools.product(SIMILARITIES + SCORES, LAWS, ["", "--include 4,9 --exclude 1"]):
        yield f"sample {ROWS} {way} {law} {condition} --samples 5 --seed 8"
        yield f"infer {ROWS} {way} {law} {condition}"
        yield f"map {ROWS} {way} {law} {condition} --solver greedy"
    for way, law in itertools.product(SIMILARITIES + SCORES, LAWS):
        yield f"map {ROWS} {way} {law} --time-limit 0"
        yield f"counts {ROWS} {way} {law}"
    for way, law in itertools.product(SIMILARITIES, ["--k 12", "--quota 4,4,4"]):
        yield f"sample {ROWS} {way} {law}"
        yield f"map {ROWS} {way} {law} --time-limit 0 --certify"
    for law in LAWS:
        yield f"map {ROWS} --scores scores.npy --diversity 0 {law}"
    # Mixtures with a ridge, and landmarks of some rows.
    for law in ["", "--k 4", "--k 9", "--quota 2,1,1", "--quota 4,3,2", "--quota 1..2,1,..1", "--quota 1..2,1,..1 --k 3"]:
        for way in ["--ridge 0.5", "--similarity cosine --ridge 0.1", "--ridge 2 --scores many-scores.npy"]:
            yield f"sample {MANY} {way} {law} --samples 3 --seed 9"
            yield f"sample {MANY} {way} {law} --plan"
            yield f"infer {MANY} {way} {law}"
            yield f"map {MANY} {way} {law} --solver greedy"
        yield f"counts {MANY} --ridge 0.5 {law}"
        yield f"sample {MANY} --similarity rbf --landmarks 40 {law} --samples 3"
        yield f"map {MANY} --similarity rbf {law} --solver greedy"
    for law in ["--quota 2,1,1", "--quota 4,3,2"]:
        yield f"sample {MANY} --ridge 0.5 {law} --independent --samples 3"
        yield f"sample {MANY} --ridge 0.5 {law} --include 3 --exclude 4,5"
    for law in ["--k 3", "--quota 1,2,1"]:
        yield f"sample {MANY} --similarity rbf --landmarks 40 {law} --cache {{out}}.npy ; sample {MANY} --similarity rbf " \
              f"--landmarks 40 {law} --cache {{out}}.npy --seed 1 ; infer {MANY} --similarity rbf --landmarks 41 {law} " \
              f"--cache {{out}}.npy ; counts {MANY} --similarity rbf --landmarks 41 {law} --cache {{out}}.npy"


def inputs():
    """Formats, columns, groups, files written and rows of all kinds."""
    for kind, law in itertools.product(["f2", "f4", "f8", "i8", "u1", "b1"], ["--k 3", "--quota 2,1,1", "--quota 1..,..2,1"]):
        source = f"--features rows-{kind}.npy --labels parts.npy"
        yield f"sample {source} {law} --samples 5"
        yield f"infer {source} {law}"
        yield f"map {source} {law} --solver greedy"
    yield "sample --features rows-f4.npy rows-f4.npy --labels parts.csv parts.csv --quota 2,1,1 --samples 4"
    yield "sample --features header.csv --k 2"
    for name, dims in [("flat", 2), ("near", 2), ("scaled", 3)]:
        source = f"--features {name}.csv --labels thirty.csv"
        for law in [f"--k {dims}", "", "--quota 1,1", "--quota 1,..1", "--k 4", "--k 4 --ridge 0.5", "--similarity cosine --k 2"]:
            yield f"sample {source} {law} --samples 3"
            yield f"infer {source} {law}"
            yield f"map {source} {law} --time-limit 0 --certify"
    for law in ["--k 3", "", "--k 18", "--k 25"]:
        yield f"sample --features long.csv {law} --samples 3"
        yield f"infer --features long.csv {law}"
        yield f"map --features long.csv {law} --solver greedy --certify"
    for ids in ["--ids ids.npy --include-ids 1003 --exclude-ids 1005,1006", "--ids table.csv --id-column id --include-ids i4"]:
        for command in ["sample --samples 3", "map --solver greedy", "infer", "counts"]:
            yield f"{command} {ROWS} {ids} --quota 1,2,1"
    for command in ["sample --samples 3", "map --solver greedy", "infer", "counts"]:
        yield f"{command} {TABLE} --k 3 --engine cpu --precision f64 --threads 2 --time-limit 60"
        yield f"{command} {TABLE} --quota 1,2,1 --engine cpu --quiet --text"
        yield f"{command} {TABLE} --k 3 --scores table.csv --score-column good"
    for law in ["--quota 1,1,1", "--quota sky=1,tree=2", "--quota 0..1,1..2,1"]:
        for command in ["sample --samples 5", "map --solver greedy", "infer", "counts"]:
            yield f"{command} --features rows.csv --labels multi.csv --multi-label {law}"
    yield "sample --features rows.csv --labels multi.csv --multi-label --label-column sky,sun --quota 1,1"
    for law in ["--k 3", "", *EXACT, "--quota 1..2,..2,1", "--quota equal --k 3", "--quota 9,0,0"]:
        for way in ["", "--ridge 0.5", "--similarity cosine", "--similarity rbf", "--scores table.csv --score-column good"]:
            yield f"sample {TABLE} --by user {law} {way} --samples 2"
            yield f"map {TABLE} --by user {law} {way} --solver greedy"
        yield f"map {TABLE} --by user {law} --include 3 --exclude 25"
        yield f"map {TABLE} --by user {law} --solver exact"
    yield f"sample {TABLE} --by user --k 2 --ids table.csv --id-column id --exclude-ids i3"
    for law in ["--k 3", "--quota 1,1,1"]:
        yield f"sample {TABLE} {law} --samples 3 --output {{out}}.csv --plot {{out}}.svg"
        yield f"map {TABLE} {law} --solver greedy --output {{out}}.csv --with-embeddings --plot {{out}}.png"
    # A table in Parquet, and what is made of it.
    columns = ",".join(f"f{i}" for i in range(8))
    table = f"sample {TABLE} --k 8 --samples 20 --output {{out}}.parquet --with-embeddings"
    source = f"--features {{out}}.parquet --embedding-columns {columns} --label-column part"
    for command in ["sample --k 3", "map --solver greedy", "infer", "sample --by sample", "map --by sample --solver greedy",
                    "sample --score-column good", "infer --ridge 0.5", "counts"]:
        yield f"{table} ; {command} {source} --quota 1,1,1"
    for command in ["sample", "map", "infer", "counts"]:
        yield f"{table} ; {command} --features {{out}}.parquet --embedding-column f0 --k 1"


def digits():
    ones = ",".join(["1"] * 10)
    for law in [f"--quota {ones}", "--quota 5,0,5,0,0,5,0,0,0,0", "--k 12", "--quota 0..1,0..1,2,0,0,0,0,0,0,0", ""]:
        for seed in [1, 2]:
            yield f"sample {DIGITS} {law} --samples 5 --seed {seed}"
        yield f"map {DIGITS} {law} --solver greedy"
        yield f"sample {DIGITS} {law} --plan"
        yield f"sample {DIGITS} {law} --ridge 0.5 --similarity cosine"
    yield f"counts {DIGITS} --k 2"
    yield f"counts {DIGITS} --k 2 --quota 1,1,0,0,0,0,0,0,0,0"
    yield f"counts {DIGITS} --k 5"
    for law in ["--quota 2,2,0,0,0,0,0,0,0,0", "--quota 2,0..2,0,0,0,0,0,0,0,0", "--k 5"]:
        yield f"infer {DIGITS} {law}"
        yield f"sample {DIGITS} {law} --similarity rbf --landmarks 100"
    yield f"sample {DIGITS} --quota {ones.replace('1', '4')} --method estimated --samples 20"
    yield f"sample {DIGITS} --quota {ones.replace('1', '2')} --method mcmc --samples 20 --burn-in 5 --thin 2"
    yield f"map {DIGITS} --quota proportional --k 20 --time-limit 0 --similarity rbf"
    yield f"map {DIGITS} --quota equal --k 20 --solver greedy --certify"
    for law in ["--k 12", "--k 9 --labels two.csv --quota 3..,..6", "--k 12 --include 3 --exclude 5", "--k 2"]:
        yield f"map --features few.csv {law} --design --solver exact"
        yield f"map --features few.csv {law} --design --time-limit 0"
    yield "map --features few.csv --k 3 --solver exact --resume {out}.tree --plot-search {out}.svg"
    yield "map --features few.csv --k 3 --solver exact --warm missing.json"
    for part in ["yale", "corel", "map-debates"]:
        yield f"reproduce {part} --out {{out}} --instances 1 --seed 3 --quiet --engine cpu --precision f64 --threads 1"
    yield "bench --items 300 --dims 8 --k 4 --parts 2 --csv {out}.csv --plot {out}.svg --quiet --precision auto"
    yield "bench --items 300 --dims 8 --k 4 --task norms --values f16 --repeat 1 --adapter nothing --quiet"


def texts():
    """Answers in words."""
    for law in LAWS:
        for command in ["sample --samples 3", "infer", "map --solver greedy", "counts", "sample --plan"]:
            yield f"{command} {ROWS} {law} --text"
        yield f"sample {ROWS} {law} --quiet --text"
    for command in ["sample --method estimated", "sample --method mcmc --samples 9", "infer --method estimated",
                    "map --certify --time-limit 0 --scores scores.npy", "sample --independent", "counts --ridge 0.5"]:
        yield f"{command} {ROWS} --quota 2,1,2 --text"
    yield f"map {TABLE} --by user --quota 1,1,1 --text"
    for command in ["", *SUBCOMMANDS, "sampel"]:
        yield f"{command} --help --text"
    yield "--version --text"
    yield "devices"
    yield "devices --text"


def refusals():
    for law in ["--quota 30,1,1", "--quota 1,1", "--quota 9,9,9", "--quota 1,1,1 --k 4", "--quota 3..2,1,1", "--k 9", "--quota d=1",
                "--quota x,1,1", "--quota 1,1,1 --include 0,3", "--k 2 --include 99", "--k 2 --include 1 --exclude 1", "--k -1",
                "--quota equal", "--quota equal --k 10", "--quota 21..,0,0", "--ridge 0 --k 2", "--ridge nan --k 2", "--k 70",
                "--bandwidth 2 --k 2", "--diversity 0.5 --k 2", "--scores scores.npy --diversity 2 --k 2", "--label-column no",
                "--scores kernel.csv --k 2", "--similarity l1 --k 2", "--similarity rbf --landmarks 0 --k 2", "--include-ids a",
                "--similarity rbf --landmarks 3 --k 4", "--by part --k 9", "--by no --k 1", "--ids two.csv --k 1", "--threads 0"]:
        for command in ["sample", "map --solver greedy", "infer"]:
            yield f"{command} {ROWS} {law}"
    for name in ["nan.csv", "ragged.csv", "words.csv", "zeros.csv", "empty.csv", "short.npy", "rows.txt", "absent.npy", "."]:
        yield f"sample --features {name} --k 2"
        yield f"map --features rows.csv --labels {name} --quota 1,1"
        yield f"infer --kernel {name} --k 1"
    for name in ["skew.csv", "negative.csv"]:
        yield f"sample --kernel {name} --k 1"
    for option in ["--quota 1..2,1,1 --method mcmc", "--quota 1..2,1,1 --independent", "--k 3 --independent", "--k 3 --weighted",
                   "--k 3 --samples 0", "--k 3 --thin 2", "--k 3 --output {out}.txt", "--k 3 --plot {out}.csv", "--k 3 --memory 1kB",
                   "--quota 2,2,2 --budget 0", "--k 3 --with-embeddings", "--k 3 --law-error 0.1", "--k 3 --engine gpu", "--bound x",
                   "--k 3 --precision f32", "--k 3 --output rows.csv", "--quota 2,2,2 --time-limit 0", "--k 3 --diversity 0",
                   "--k 3 --engine cpu --precision f64"]:
        yield f"sample {ROWS} {option}"
    for option in ["--solver exact --k 3 --epsilon 1", "--solver softmax --k 3", "--quota 1,1,1 --solver symmetric-greedy",
                   "--k 3 --epsilon 0", "--k 3 --ridge 0.5 --solver exact", "--similarity rbf --k 61", "--k 3 --cache rows.csv"]:
        yield f"map {ROWS} {option}"
    yield f"infer {ROWS} --quota 0,0,0"
    yield f"infer {ROWS} --k 2 --sets bad.json"
    yield f"infer {ROWS} --k 2 --sets torn.json"
    yield f"counts {ROWS} --quota 1,1,1 --time-limit -1"
    yield "sample --k 2"
    yield f"sample {ROWS} --kernel kernel.csv --k 2"
    yield f"infer {ROWS} --k 2 --standard-error 0.1"
    yield "reproduce yale --out {out} --data absent --quiet"
    yield "bench --items 0 --quiet"


def commands():
    every = itertools.chain(laws(), similarities(), inputs(), digits(), texts(), refusals())
    return list(dict.fromkeys(" ".join(command.split()) for command in every))
