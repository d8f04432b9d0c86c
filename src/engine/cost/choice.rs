//! The choice between the CPU and a card, and the sentence that says why.

use std::fmt;

use super::{CardKind, CardRates, HostRates, Job, Prediction, Standing, card::OPENING};

/// The predicted times of a job on the CPU and on a card.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Comparison {
    /// On the CPU.
    pub cpu: Prediction,
    /// On the card.
    pub gpu: Prediction,
    /// What the card is.
    pub kind: CardKind,
}

impl Comparison {
    /// Predicts both.
    #[must_use]
    pub fn of(job: &Job, host: &HostRates, card: &CardRates, standing: Standing) -> Self {
        Self { cpu: job.on_cpu(host), gpu: job.on_card(host, card, standing), kind: card.kind }
    }

    /// Whether the card is faster. A software driver computes on the CPU itself, and never counts as faster.
    #[must_use]
    pub fn prefers_gpu(&self) -> bool {
        self.kind != CardKind::Software && self.gpu.seconds() < self.cpu.seconds()
    }
}

/// Why an engine was taken, in one sentence when displayed.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum EngineReason {
    /// The library is built without its feature `gpu`.
    NotBuilt,
    /// The slowest CPU needs less time than opening a GPU takes: at most this many seconds.
    Short(f64),
    /// This CPU is predicted to need less time than opening a GPU takes: this many seconds.
    PredictedShort(f64),
    /// The rates of the CPU could not be measured.
    NotMeasured(String),
    /// No GPU here computes in f64.
    NoCard,
    /// By the predicted times.
    Predicted(Comparison),
    /// A GPU was predicted to be faster, but failed when it was opened.
    Failed(String),
    /// A GPU was predicted to be faster, but failed when its rates were measured.
    MeasuringFailed(String),
}

#[cfg(feature = "gpu")]
impl EngineReason {
    /// That of a job which any CPU finishes before a card is open.
    pub(in crate::engine) fn short(job: &Job) -> Option<Self> {
        let seconds = job.on_cpu(&HostRates::slowest()).seconds();
        (seconds < OPENING).then_some(Self::Short(seconds))
    }

    /// That of a job which the CPU is predicted to finish before a card is open, by these rates.
    pub(in crate::engine) fn predicted_short(job: &Job, host: &HostRates) -> Option<Self> {
        let seconds = job.on_cpu(host).seconds();
        (seconds < OPENING).then_some(Self::PredictedShort(seconds))
    }
}

impl fmt::Display for EngineReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBuilt => f.write_str("this build has no GPU engine"),
            Self::Short(seconds) => {
                let (at_most, opening) = (Seconds(*seconds), Seconds(OPENING));
                write!(f, "the CPU takes at most {at_most}, a GPU {opening} to open")
            }
            Self::PredictedShort(seconds) => {
                let (time, opening) = (Seconds(*seconds), Seconds(OPENING));
                write!(f, "the CPU is predicted to take {time}, a GPU takes {opening} to open")
            }
            Self::NotMeasured(error) => write!(f, "the rates of the CPU could not be measured: {error}"),
            Self::NoCard => f.write_str("there is no GPU that computes in f64"),
            Self::Predicted(comparison) => comparison.fmt(f),
            Self::Failed(error) => write!(f, "the GPU failed when it was opened: {error}"),
            Self::MeasuringFailed(error) => write!(f, "the GPU failed when its rates were measured: {error}"),
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Prediction { opening, upload, uploaded_bytes, .. } = self.gpu;
        let mut of_it = Vec::new();
        if opening > 0.0 {
            of_it.push(format!("{} of it to open it", Seconds(opening)));
        }
        if upload > 0.0 {
            of_it.push(format!("{} of it to bring {} there", Seconds(upload), Bytes(uploaded_bytes)));
        }
        let of_it = if of_it.is_empty() { String::new() } else { format!(" ({})", of_it.join(", ")) };
        let (gpu, cpu) = (Seconds(self.gpu.seconds()), Seconds(self.cpu.seconds()));
        write!(f, "the GPU would take {gpu}{of_it}, the CPU {cpu}")
    }
}

/// A time with two digits.
struct Seconds(f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            x if x >= 9.95 => write!(f, "{x:.0} s"),
            x if x >= 0.0995 => write!(f, "{x:.1} s"),
            x if x >= 0.000_995 => write!(f, "{:.0} ms", 1e3 * x),
            _ => f.write_str("1 ms"),
        }
    }
}

/// A size in decimal units.
struct Bytes(f64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            x if x >= 9.95e9 => write!(f, "{:.0} GB", x / 1e9),
            x if x >= 0.995e9 => write!(f, "{:.1} GB", x / 1e9),
            x => write!(f, "{:.0} MB", (x / 1e6).max(1.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_one_sentence_with_both_times() {
        let gpu =
            Prediction { upload: 0.31, uploaded_bytes: 2.56e9, computing: 0.49, ..Prediction::default() };
        let cpu = Prediction { computing: 4.12, ..Prediction::default() };
        let comparison = Comparison { cpu, gpu, kind: CardKind::Discrete };
        assert!(comparison.prefers_gpu());
        assert_eq!(
            EngineReason::Predicted(comparison).to_string(),
            "the GPU would take 0.8 s (0.3 s of it to bring 2.6 GB there), the CPU 4.1 s"
        );
        let gpu = Prediction { opening: 0.3, upload: 0.0, uploaded_bytes: 0.0, computing: 12.4 };
        let resident = Comparison { cpu, gpu, kind: CardKind::Discrete };
        assert!(!resident.prefers_gpu());
        assert_eq!(resident.to_string(), "the GPU would take 13 s (0.3 s of it to open it), the CPU 4.1 s");
        assert_eq!(
            EngineReason::Short(0.0123).to_string(),
            "the CPU takes at most 12 ms, a GPU 0.3 s to open"
        );
        assert_eq!(
            EngineReason::PredictedShort(0.0123).to_string(),
            "the CPU is predicted to take 12 ms, a GPU takes 0.3 s to open"
        );
        assert_eq!(EngineReason::NoCard.to_string(), "there is no GPU that computes in f64");
    }
}
