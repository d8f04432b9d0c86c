//! Scores and similarity: how rows change before a law is made of them.

use std::{fmt, path::PathBuf};

use clap::{Args, ValueEnum, builder::BoolishValueParser};
use partition_dpp::{
    Engine, Error, Features,
    map::Covered,
    similarity::{Bandwidth, Rbf, RbfFeatures, RbfKernel},
};
use serde::Serialize;

use super::{
    Reading,
    cache::{self, Origin},
    choices::{Represented, Ridge, Width, exponent, ridge, width},
};
use crate::{
    failure::Failure,
    interrupt,
    memory::Use,
    output::{self, numbers::significant},
    parse::within,
    progress::Progress,
};

/// Similarity and scores.
#[derive(Args, Debug)]
pub(crate) struct WeighingArguments {
    /// Similarity of two rows: dot, cosine or rbf
    #[arg(
        long,
        value_enum,
        value_name = "SIMILARITY",
        default_value_t,
        help_heading = "Similarity and scores"
    )]
    pub(crate) similarity: Similarity,
    /// Length scale of rbf: a number, median or median/3 [default: median]
    ///
    /// median is the median distance of two items, and median/3 a third of it. With --represent and --solver coverage
    /// the default is median/3.
    #[arg(
        long,
        value_name = "H",
        value_parser = width,
        allow_hyphen_values = true,
        help_heading = "Similarity and scores"
    )]
    pub(crate) bandwidth: Option<Width>,
    /// Score of each item, from .csv, .npy or .parquet files
    ///
    /// A .csv file must have a header line, a .npy file must hold a one-dimensional array.
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Similarity and scores")]
    pub(crate) scores: Vec<PathBuf>,
    /// Column of the scores, in the files of --scores or .parquet features
    ///
    /// Needed if a file of --scores has several columns, or to read scores from the .parquet files of --features.
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, help_heading = "Similarity and scores")]
    pub(crate) score_column: Option<String>,
    /// Weight of diversity against scores, from 0 to 1 [default: 0.5]
    ///
    /// With 0 only scores matter, with 1 only diversity. Sets with a larger (1 - D) sum(scores) + D log det are more likely.
    #[arg(
        long,
        value_name = "D",
        value_parser = fraction,
        allow_hyphen_values = true,
        help_heading = "Similarity and scores"
    )]
    pub(crate) diversity: Option<f64>,
    /// Number to add to the similarity of each item with itself, or auto
    ///
    /// A ridge allows sets of more items than features. auto takes a power of ten, at most a hundredth of the
    /// similarity of an item with itself. Larger values favour diversity less.
    #[arg(
        long,
        value_name = "DELTA",
        value_parser = ridge,
        allow_hyphen_values = true,
        help_heading = "Similarity and scores"
    )]
    pub(crate) ridge: Option<Ridge>,
    /// Weight items by similarity to others of their part, or to all
    ///
    /// Each item is weighted by its similarity to the other items of its part, or to all items. Sets are then
    /// representative as well as diverse; diversity alone favours outliers. Use it with --similarity cosine or rbf.
    #[arg(long, value_enum, value_name = "parts|all", help_heading = "Similarity and scores")]
    pub(crate) represent: Option<Represented>,
    /// Exponent of --represent [default: 1]
    ///
    /// With 0, sets are diverse only. Larger values favour diversity less.
    #[arg(
        long,
        value_name = "RHO",
        requires = "represent",
        value_parser = exponent,
        allow_hyphen_values = true,
        help_heading = "Similarity and scores",
        hide_short_help = true
    )]
    pub(crate) representation: Option<f64>,
    /// Whether sets also represent excluded items [default: yes]
    #[arg(
        long,
        value_name = "YES|NO",
        requires = "represent",
        value_parser = BoolishValueParser::new(),
        hide_possible_values = true,
        help_heading = "Similarity and scores",
        hide_short_help = true
    )]
    pub(crate) represent_excluded: Option<bool>,
    /// Number of items that rbf compares all others with [default: 512]
    ///
    /// The default is smaller if there are fewer items. More landmarks make the error of the kernel, which is printed,
    /// smaller. Sets have at most R items. If the option is not given, pdpp map with --solver greedy or local-search
    /// computes the kernel from pairs of items, without landmarks.
    #[arg(
        long,
        value_name = "R",
        value_parser = landmarks,
        help_heading = "Similarity and scores",
        hide_short_help = true
    )]
    pub(crate) landmarks: Option<usize>,
    /// Keep the computed features of rbf in this .npy file for later runs
    ///
    /// A second file, FILE.json, describes the first. Later runs with the same rows and options read the features from
    /// the file, which need not fit into memory.
    #[arg(long, value_name = "FILE", help_heading = "Similarity and scores", hide_short_help = true)]
    pub(crate) cache: Option<PathBuf>,
}

/// How similar two items are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Similarity {
    /// The dot product of the rows.
    #[default]
    Dot,
    /// The cosine of the angle between the rows.
    Cosine,
    /// The Gaussian exp(-|x - y|^2 / (2 h^2)) of the rows x and y.
    Rbf,
}

/// Rows whose dot products are the similarity.
#[derive(Debug)]
pub(super) struct Similar {
    pub(super) features: Features,
    /// Their error relative to the kernel.
    pub(super) kernel_error: Option<f64>,
    pub(super) comparison: Comparison,
}

/// Features of a Gaussian kernel.
#[derive(Debug)]
pub(super) struct Gaussian {
    pub(super) features: Features,
    pub(super) kernel_error: f64,
    /// The number of landmarks, if the kernel is approximate.
    pub(super) landmarks: Option<usize>,
}

impl From<&RbfFeatures> for Gaussian {
    fn from(found: &RbfFeatures) -> Self {
        let landmarks = Some(found.landmarks().len()).filter(|&landmarks| landmarks > 0);
        Self { features: found.features().clone(), kernel_error: found.kernel_error(), landmarks }
    }
}

/// How rows are compared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) similarity: Similarity,
    /// Numbers in a row as it was given; as many as features have without --similarity rbf.
    given: Option<usize>,
    /// The bandwidth of a Gaussian kernel.
    pub(super) bandwidth: Option<f64>,
    /// Whether the kernel is computed from pairs of rows, not from features.
    is_of_pairs: bool,
    /// The number of landmarks, if the kernel is an approximate Gaussian one.
    pub(crate) landmarks: Option<usize>,
    /// The number of landmarks that the user asked for, if any.
    pub(crate) asked_landmarks: Option<usize>,
    pub(crate) ridge: Option<f64>,
    pub(crate) stands_for: Option<StandsFor>,
}

/// The items that sets represent, in addition to being diverse.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StandsFor {
    pub(super) what: Represented,
    pub(super) rho: f64,
    pub(super) with_excluded: bool,
}

impl Comparison {
    /// The same with a ridge.
    pub(super) fn with_ridge(self, delta: f64, features: &Features) -> Self {
        Self { given: Some(self.dims(features)), ridge: Some(delta), ..self }
    }

    /// Whether the kernel is computed from pairs of rows.
    pub(crate) fn is_of_pairs(&self) -> bool {
        self.is_of_pairs
    }

    /// Numbers in a row as it was given.
    pub(crate) fn dims(&self, features: &Features) -> usize {
        self.given.unwrap_or_else(|| features.dims())
    }

    /// In words, after a comma; nothing for dot products.
    pub(crate) fn describe(&self) -> String {
        let bandwidth = self
            .bandwidth
            .map_or(String::new(), |bandwidth| format!(" of bandwidth {}", significant(bandwidth)));
        let similarity = match (self.similarity, self.landmarks) {
            (Similarity::Dot, _) => String::new(),
            (similarity, Some(landmarks)) => {
                format!(", {similarity} similarity{bandwidth} by {landmarks} landmarks")
            }
            (similarity, None) => format!(", {similarity} similarity{bandwidth}"),
        };
        let represented = self.stands_for.map_or(String::new(), |StandsFor { what, rho, .. }| {
            format!(", representing {what} with exponent {rho}")
        });
        let ridge = self.ridge.map_or(String::new(), |delta| format!(", ridge {delta}"));
        similarity + &represented + &ridge
    }
}

impl fmt::Display for Similarity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}

/// Makes features, with progress.
pub(super) fn with_progress<T>(
    Reading { progress, watch, .. }: Reading<'_>,
    work: impl FnOnce(&Engine) -> Result<T, Error>,
) -> Result<T, Error> {
    progress.stage("comparing with landmarks");
    let watch = progress.shown(watch, Progress::computed);
    interrupt::while_watched(|| work(&Engine::cpu().watched(&watch)))
}

/// Scores, and what they are worth.
#[derive(Clone, Debug)]
pub(crate) struct Scored {
    /// By item.
    pub(crate) scores: Vec<f64>,
    pub(crate) diversity: f64,
}

impl WeighingArguments {
    /// Whether similarities may be computed from pairs of rows, without features.
    pub(crate) fn takes_pairs(&self) -> bool {
        let asks_for_features = self.landmarks.is_some() || self.cache.is_some() || self.represent.is_some();
        self.similarity == Similarity::Rbf && !asks_for_features
    }

    /// The rows as the similarity takes them.
    pub(super) fn similar(&self, features: Features, reading: Reading<'_>) -> Result<Similar, Failure> {
        let similarity = self.similarity;
        let rbf = similarity == Similarity::Rbf;
        let unused = [
            ("--bandwidth", self.bandwidth.is_some()),
            ("--landmarks", self.landmarks.is_some()),
            ("--cache", self.cache.is_some()),
        ];
        if let Some((option, _)) = unused.into_iter().find(|(_, given)| *given && !rbf) {
            return Err(Failure::Arguments(format!("{option} needs --similarity rbf")));
        }
        let given = rbf.then(|| features.dims());
        let comparison =
            Comparison { similarity, given, stands_for: self.stands_for(), ..Comparison::default() };
        match similarity {
            Similarity::Dot => Ok(Similar { features, kernel_error: None, comparison }),
            Similarity::Cosine => {
                Ok(Similar { features: features.with_unit_rows()?, kernel_error: None, comparison })
            }
            Similarity::Rbf if matches!(reading.used_for, Use::Pairs | Use::Covers) && self.takes_pairs() => {
                let bandwidth = Bandwidth::Exactly(self.width(&features, reading.used_for)?);
                let kernel = RbfKernel::new(&features, bandwidth)?;
                let (bandwidth, kernel_error) = (Some(kernel.bandwidth()), Some(kernel.entry_error()));
                let comparison = Comparison { bandwidth, is_of_pairs: true, ..comparison };
                Ok(Similar { features, kernel_error, comparison })
            }
            Similarity::Rbf => {
                let bandwidth = self.width(&features, reading.used_for)?;
                let made = self.rbf_features(&features, bandwidth, reading)?;
                let Gaussian { features, kernel_error, landmarks } = made;
                let (bandwidth, asked_landmarks) = (Some(bandwidth), self.landmarks);
                let comparison = Comparison { bandwidth, landmarks, asked_landmarks, ..comparison };
                Ok(Similar { features, kernel_error: Some(kernel_error), comparison })
            }
        }
    }

    fn stands_for(&self) -> Option<StandsFor> {
        let (rho, with_excluded) =
            (self.representation.unwrap_or(1.0), self.represent_excluded.unwrap_or(true));
        Some(StandsFor { what: self.represent?, rho, with_excluded })
    }

    /// The bandwidth; for sets that represent others a third of the median distance, which serves them best.
    fn width(&self, features: &Features, used_for: Use) -> Result<f64, Failure> {
        let stands_for_others = self.represent.is_some() || used_for == Use::Covers;
        let default = Width::MedianOver(if stands_for_others { 3.0 } else { 1.0 });
        Ok(match self.bandwidth.unwrap_or(default) {
            Width::MedianOver(number) => Bandwidth::Median.of(features)? / number,
            Width::Exactly(bandwidth) => bandwidth,
        })
    }

    /// Features of the Gaussian kernel.
    fn rbf_features(
        &self,
        features: &Features,
        bandwidth: f64,
        reading: Reading<'_>,
    ) -> Result<Gaussian, Failure> {
        let rbf = Rbf::new(Bandwidth::Exactly(bandwidth));
        let rbf = self.landmarks.map_or(rbf, |landmarks| rbf.with_landmarks(landmarks));
        let items = features.items();
        let (landmarks, is_whole) = (rbf.landmarks(items), rbf.is_whole(items));
        if let Some(path) = self.cache.as_ref().filter(|_| !is_whole) {
            let origin = Origin::new(features, bandwidth, landmarks);
            return cache::features(path, features, rbf, origin, reading);
        }
        if self.cache.is_some() {
            output::note("--cache is not used: a kernel this small is computed again each time");
        }
        // The whole kernel of few items is in f64 and is factored.
        let bytes = if is_whole { 32 } else { 4 } * items as u64 * landmarks as u64;
        let plan = || format!("{items} items are compared with {landmarks} landmarks");
        let ways = ["--landmarks N with fewer landmarks", "--cache FILE keeps the rows in a file"];
        let ways = if is_whole { &ways[..1] } else { &ways };
        reading.limit.check(bytes, plan).map_err(|failure| failure.with_ways(ways))?;
        let found = with_progress(reading, |engine| rbf.features(features, engine))?;
        Ok(Gaussian::from(&found))
    }

    /// The scores with their share of the objective; 0.5 unless it is given.
    pub(super) fn scored(&self, scores: Option<Vec<f64>>) -> Result<Option<Scored>, Failure> {
        match (scores, self.diversity) {
            (Some(scores), diversity) => Ok(Some(Scored { scores, diversity: diversity.unwrap_or(0.5) })),
            (None, None) => Ok(None),
            (None, Some(_)) => {
                let sentence =
                    "--diversity needs --scores FILE or --score-column NAME, the score of each item";
                Err(Failure::Arguments(sentence.into()))
            }
        }
    }
}

impl Scored {
    /// Whether the diversity is 0.
    pub(crate) fn decide_alone(&self) -> bool {
        self.diversity == 0.0
    }

    /// The worth of a set with this ln det under the law, or with this coverage.
    pub(crate) fn worth(&self, items: &[usize], log_det: f64, covered: Option<Covered>) -> Worth {
        let score_total: f64 = items.iter().map(|&item| self.scores[item]).sum();
        if self.decide_alone() {
            return Worth { log_det_similarity: log_det, score_total, objective: score_total };
        }
        let log_det_similarity = log_det - score_total * (1.0 - self.diversity) / self.diversity;
        let objective = match covered {
            Some(Covered { total, .. }) => (1.0 - self.diversity) * score_total + self.diversity * total,
            None => self.diversity * log_det,
        };
        Worth { log_det_similarity, score_total, objective }
    }
}

/// The objective of a set, and its terms.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Worth {
    /// ln det of the similarity, without the weights of scores.
    pub(crate) log_det_similarity: f64,
    pub(crate) score_total: f64,
    /// (1 − D) · `score_total` + D · `log_det_similarity`, or D times what the set covers.
    pub(crate) objective: f64,
}

fn landmarks(text: &str) -> Result<usize, String> {
    within(text, u16::MAX.into(), "landmarks")
}

fn fraction(text: &str) -> Result<f64, String> {
    let usable = |number: &f64| (0.0..=1.0).contains(number);
    let number = text.trim().parse().ok().filter(usable);
    number.ok_or_else(|| format!("'{text}' is not a number from 0 (scores only) to 1 (diversity only)"))
}
