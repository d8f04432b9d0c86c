//! Parts of the paper, and their outcomes.

use std::time::Duration;

use crate::report::{Claim, Section};

/// A part of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Seconds per sample and acceptance rates, and how both grow with the size.
    Timing,
    /// Faces under three lights.
    Yale,
    /// Images with several labels.
    Corel,
    /// The most diverse sets of random points.
    MapSynthetic,
    /// The most diverse sets of statements of debates.
    MapDebates,
}

impl Part {
    /// All parts, in the paper's order.
    pub const ALL: [Self; 5] = [Part::Timing, Part::Yale, Part::Corel, Part::MapSynthetic, Part::MapDebates];

    /// Returns the name in the report.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Part::Timing => "timing",
            Part::Yale => "yale",
            Part::Corel => "corel",
            Part::MapSynthetic => "map-synthetic",
            Part::MapDebates => "map-debates",
        }
    }
}

/// The outcome of a part.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The part is done.
    Done(Box<Section>),
    /// The data are missing.
    Skipped(String),
}

/// A finished part.
#[derive(Debug)]
pub struct Finished {
    /// The part.
    pub part: Part,
    /// The time that it took.
    pub time: Duration,
    pub(crate) outcome: Outcome,
}

/// The parts that were finished.
#[derive(Debug)]
pub struct Report {
    /// The parts, in the requested order.
    pub parts: Vec<Finished>,
}

impl Finished {
    /// Returns the reason why the part was skipped, if it was.
    #[must_use]
    pub fn skipped(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Done(_) => None,
            Outcome::Skipped(reason) => Some(reason),
        }
    }

    /// Returns the reason why the data are not the paper's, if they are not.
    #[must_use]
    pub fn stand_in(&self) -> Option<&str> {
        self.section().and_then(|section| section.stand_in.as_deref())
    }

    /// Returns the paper's claims and the findings.
    #[must_use]
    pub fn claims(&self) -> &[Claim] {
        self.section().map_or(&[], |section| &section.claims)
    }

    pub(crate) fn section(&self) -> Option<&Section> {
        match &self.outcome {
            Outcome::Done(section) => Some(section),
            Outcome::Skipped(_) => None,
        }
    }
}
