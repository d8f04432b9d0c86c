//! The steps of batches: proposals, draws with an estimated error, and slates, each in a workgroup of a card.

use super::{
    host::CACHED,
    job::{Job, Machine, STORED, Steps},
    steps::{Place, RowCount, Step},
};

/// Proposals of a batch on a card.
const PROPOSALS: f64 = 65_536.0;
/// The largest sets that a card proposes.
const MOST_PICKS: f64 = 36.0;
/// Proposals a draw beyond which another bound is cheaper, against which the host draws one by one.
const MOST_PROPOSALS: f64 = 30.0;
/// What a trial costs besides its row, in multiply-adds: on the host, and where it replays a card's.
const TRIAL: [f64; 2] = [330.0, 50.0];
/// What the upload of a value counts, in multiply-adds, where the host decides whether a card's tables pay.
const UPLOAD: f64 = 8.0;
/// Draws with weights from which the law of those without is estimated.
const PILOT: f64 = 2048.0;
/// Of these, those made for one without.
const WEIGHTED: f64 = 2.0;
/// Values of a row, and of all directions, that a workgroup holds for draws with an estimated error.
const SEQUENTIAL: [f64; 2] = [128.0, 2944.0];
/// A pick of a weighted draw on the host, in multiply-adds: for every entry of a matrix that it updates, for every value of the
/// directions so far, and besides.
const WEIGHED: [f64; 3] = [0.75, 3.0, 1100.0];
/// A candidate at a pick of a slate on the host, in multiply-adds: for every value of its row, in f32, and for reading the row
/// wherever it is and comparing gains.
const COMPARED: [f64; 2] = [0.75, 65.0];
/// Requests, and candidates, that go to a card together.
const SLATES: [f64; 2] = [8192.0, 2_097_152.0];

/// A proposal or a draw: multiply-adds of the host, rows that it reads without asking for them ahead, and bytes that it updates
/// in no core's cache; multiply-adds to replay a card's; values read and operations of a card.
struct Work {
    on_host: f64,
    alone: f64,
    updated: f64,
    replayed: f64,
    values: f64,
    operations: f64,
}

impl Job {
    /// Proposals of a draw, at most: Gurvits' bound for equal counts κ = k/p, (2πκ)^(p/2) / √(2πk) by Stirling's formula.
    fn proposals_of_a_draw(&self) -> f64 {
        let (parts, picks) = (self.rows.parts, self.picks);
        let count = (picks / parts).max(1.0);
        let of = |count: f64| 0.5 * (std::f64::consts::TAU * count).ln() + 1.0 / (12.0 * count);
        (parts * of(count) - of(parts * count)).exp()
    }

    /// A tilted proposal: k eigenvectors of r, then trials of rows beyond those picked so far, about r/c of them with c picks
    /// to go.
    fn proposal(&self) -> Work {
        let RowCount { items, dims, .. } = self.rows;
        let (rank, picks) = (self.rank(), self.picks);
        let trials = rank * (1.0 + picks.ln()) + picks;
        let by_trials = dims * picks * (rank + picks) + TRIAL[0] * rank * (1.0 + (1.0 + picks).ln());
        Work {
            // Or a pass over all rows.
            on_host: by_trials.min(items * picks * (picks + 3.0)),
            alone: 0.0,
            updated: 0.0,
            replayed: trials * (picks * (dims + picks) + TRIAL[1]),
            values: trials * rank,
            operations: trials * picks * (picks + 2.0),
        }
    }

    /// Picks one after another, each in proportion to what the picks before leave of a row.
    fn weighted_draw(&self) -> Work {
        let (rank, picks) = (self.rank(), self.picks);
        let [entry, value, besides] = WEIGHED;
        let mapped = if self.is_stored() { 0.0 } else { self.rows.dims * rank };
        let on_host = picks * (entry * rank * rank + value * picks * rank + mapped + besides);
        // Half of the matrix of a part.
        let bytes = 4.0 * rank * rank;
        let updated = if 2.0 * bytes * self.rows.parts > CACHED { picks * bytes } else { 0.0 };
        let operations = 3.0 * picks * rank * rank;
        Work { on_host, alone: picks, updated, replayed: on_host, values: 3.0 * picks * rank, operations }
    }

    /// Whether a sampler keeps rows in its own coordinates.
    fn is_stored(&self) -> bool {
        8.0 * self.rows.values() <= STORED
    }
}

impl Steps {
    /// So many draws by rejection, or of a k-DPP or a DPP.
    pub(super) fn draws(&mut self, count: f64) {
        self.set_up();
        let proposals = self.job.proposals_of_a_draw();
        if proposals > MOST_PROPOSALS {
            let values = count * MOST_PROPOSALS * self.job.proposal().on_host;
            return self.push(Place::Host, Step::Values { count: values });
        }
        self.proposals(count * proposals);
    }

    /// So many tilted proposals. A card's tables go up if they cost the host less than the proposals.
    pub(super) fn proposals(&mut self, count: f64) {
        let (rank, rows) = (self.job.rank(), self.job.rows);
        let fits = self.job.picks <= MOST_PICKS;
        self.batch(count, &self.job.proposal(), (fits, rows.dims * rank));
    }

    /// The law is that of draws with weights, of which the host makes some first.
    pub(super) fn estimated(&mut self, draws: f64) {
        self.set_up();
        let Job { rows, picks, .. } = self.job;
        let rank = 4.0 * (self.job.rank() / 4.0).ceil();
        let work = self.job.weighted_draw();
        self.on_host(PILOT, &work);
        let [widest, directions] = SEQUENTIAL;
        let fits = rank <= widest && picks * (rank + 1.0) <= directions;
        let of_a_row = if self.job.is_stored() { 0.0 } else { rows.dims * rank };
        if self.machine == Machine::Card {
            self.push(Place::Card, Step::Tables { values: rows.parts * rank * rank, words: 0.0 });
        }
        self.batch(WEIGHTED * draws, &work, (fits, of_a_row));
    }

    /// Draws or proposals with a row of values, which takes so many multiply-adds, and 8 bytes for every item.
    fn batch(&mut self, count: f64, work: &Work, (fits, of_a_row): (bool, f64)) {
        let Job { rows, picks, .. } = self.job;
        let (items, rank) = (rows.items, self.job.rank());
        let tables = items * (of_a_row + UPLOAD * rank);
        if self.machine == Machine::Cpu || !fits || count * work.replayed <= tables {
            return self.on_host(count, work);
        }
        self.push(Place::Host, Step::Values { count: items * of_a_row });
        self.push(Place::Card, Step::Tables { values: items * rank, words: 2.0 * items });
        let (values, operations) = (count * work.values, count * work.operations);
        self.push(Place::Card, Step::Workgroups { values, operations });
        // The items of all that are accepted, 4 bytes each.
        self.push(Place::Card, Step::Answers { count: 0.5 * count * (picks + 1.0) });
        self.waits(0.0, (count / PROPOSALS).ceil());
    }

    /// Draws or proposals of the host, on all threads.
    fn on_host(&mut self, count: f64, work: &Work) {
        self.push(Place::Host, Step::Values { count: count * work.on_host });
        let Job { rows: RowCount { items, .. }, .. } = self.job;
        let bytes = 8.0 * self.job.rank();
        self.push(Place::Host, Step::Alone { items, bytes, count: count * work.alone });
        self.push(Place::Host, Step::Updates { bytes: count * work.updated / self.threads });
    }

    /// Greedy sets of so many requests for so many candidates each: on the CPU a request is a thread's.
    pub(super) fn slates(&mut self, requests: f64, candidates: f64) {
        let Job { rows, picks, .. } = self.job;
        let all = requests * candidates;
        // Lengths, then a direction for every pick.
        let gains = all * rows.dims * picks;
        if self.machine == Machine::Cpu {
            let [value, besides] = COMPARED;
            self.push(Place::Host, Step::Values { count: value * gains + besides * all * picks });
            self.waits(1.0, 0.0);
            return;
        }
        self.push(Place::Host, Step::Answers { count: 2.0 * all });
        self.push(Place::Card, Step::Tables { values: all, words: 2.0 * all + 4.0 * requests });
        self.push(Place::Card, Step::Workgroups { values: gains, operations: 2.0 * gains });
        self.push(Place::Card, Step::Answers { count: 0.5 * requests * picks });
        // ln det is the host's.
        self.push(Place::Host, Step::Values { count: 2.0 * requests * picks * picks * rows.dims });
        let [most, at_once] = SLATES;
        self.waits(0.0, (requests / most).max(all / at_once).ceil());
    }
}
