//! The examples at the end of `--help`.

/// Examples of all commands.
pub(crate) const ALL: &str = "\
Examples:
  Draw ten handwritten digits, one per class:
    pdpp sample --dataset digits --quota equal --k 10
  Find the ten most diverse digits, one per class:
    pdpp map --dataset digits --quota equal --k 10
  Compute how likely each item is to be drawn:
    pdpp infer --dataset digits --quota equal --k 10
  Draw images from two classes and write their rows to a file:
    pdpp sample --features images.npy --labels images.csv --quota cat=2,dog=2 --output chosen.csv";

pub(crate) const SAMPLE: &str = "\
Examples:
  Draw ten handwritten digits, one per class:
    pdpp sample --dataset digits --quota equal --k 10
  Draw 1000 subsets of two threes and two eights, as JSON:
    pdpp sample --dataset digits --quota 3=2,8=2 --samples 1000 --json
  Draw four digits, of which one to three are threes and the others eights:
    pdpp sample --dataset digits --quota 3=1..3,8=.. --k 4
  Draw 100 items, more than the features allow without a ridge:
    pdpp sample --dataset digits --k 100 --similarity cosine --ridge auto
  Show which method would draw, and at what cost:
    pdpp sample --dataset digits --quota equal --k 20 --plan
  Draw images from two classes and write their rows to a file:
    pdpp sample --features images.npy --labels images.csv --quota cat=2,dog=2 --output chosen.csv";

pub(crate) const MAP: &str = "\
Examples:
  Find the ten most diverse digits, one per class:
    pdpp map --dataset digits --quota equal --k 10
  Also bound how much better any other set can be:
    pdpp map --dataset digits --quota equal --k 10 --certify
  Find the best set, with a proof:
    pdpp map --dataset digits --quota 3=1..2,8=..3 --k 3 --solver exact
  Choose two digits per class to which all others are similar:
    pdpp map --dataset digits --quota equal --k 20 --similarity rbf --solver coverage
  Choose 14 of 27 trials for a linear model:
    pdpp map --features trials.csv --k 14 --design --solver exact
  Choose twelve candidates per user, by category and score:
    pdpp map --features candidates.parquet --by user --label-column category \\
      --score-column score --quota news=..4,sport=..4,music=..4 --k 12 --solver greedy --json";

pub(crate) const INFER: &str = "\
Examples:
  Compute how likely each digit is to be among two threes and two eights:
    pdpp infer --dataset digits --quota 3=2,8=2
  Compute which third digit items 0 and 1 are drawn with:
    pdpp infer --dataset digits --k 3 --include 0,1
  Estimate the same for a quota of many parts:
    pdpp infer --dataset digits --quota equal --k 40 --method estimated
  Compute an interval that contains log Z with probability 0.95:
    pdpp infer --dataset digits --quota equal --k 10 --method estimated --within 0.05
  Compute the probabilities of the sets in a file, such as [[0,5],[3,17]]:
    pdpp infer --dataset digits --k 2 --sets sets.json";

pub(crate) const COUNTS: &str = "\
Examples:
  Compute how many items of each class three digits have:
    pdpp counts --dataset digits --k 3
  Compute how likely three digits are a zero, a one and a two:
    pdpp counts --dataset digits --quota 0=1,1=1,2=1
  Compute how likely three digits are one or two threes, and eights otherwise:
    pdpp counts --dataset digits --k 3 --quota 3=1..2,8=..
  Estimate how likely 20 digits are two per class:
    pdpp counts --dataset digits --k 20 --quota equal --method estimated";

#[cfg(feature = "gpu")]
pub(crate) const BENCH: &str = "\
Examples:
  Measure all tasks:
    pdpp bench
  Measure two tasks at three sizes:
    pdpp bench --task norms,greedy --items 1000,10000,100000
  Write all times to a table and a plot:
    pdpp bench --items 1000,10000 --csv times.csv --plot times.svg
  Measure one GPU in single precision, and print JSON:
    pdpp bench --adapter NVIDIA --precision f32 --json";

pub(crate) const REPRODUCE: &str = "\
Examples:
  Reproduce all parts that work without the original data sets:
    pdpp reproduce all --out report
  Reproduce one part on the original data sets:
    pdpp reproduce yale --data datasets --out report
  Run fewer random instances:
    pdpp reproduce map-synthetic --instances 3 --out report
  Use another seed:
    pdpp reproduce timing --seed 1 --out report";

#[cfg(feature = "gpu")]
pub(crate) const DEVICES: &str = "\
Examples:
  List the GPUs:
    pdpp devices
  List them as JSON:
    pdpp devices --json";

/// Examples, and another section after an empty line.
pub(crate) fn followed_by(examples: &str, section: &str) -> String {
    format!("{examples}\n\n{section}")
}
