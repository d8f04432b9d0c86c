//! The division of picks into halves, and its predicted cost.

use super::{Bound, BoundCost};

/// Picks drawn at once, or as two halves.
///
/// Each half S has probability det(V_S V_Sᵀ) / Z_S, and the pair is accepted with probability
///
/// ```text
/// det(V Vᵀ) / (det(V_S V_Sᵀ) det(V_T V_Tᵀ)) = vol²(P_S T) / vol²(T) ≤ 1   (Fischer)
/// ```
///
/// A rejection inside one half does not discard the other. Each half therefore takes about the square root of the
/// number of proposals that all k picks take at once.
///
/// # Source
/// Fischer (1908) for the inequality; nested rejection as in Harviainen, Röyskö and Koivisto (2021).
#[derive(Clone, Debug)]
pub(super) struct Halves {
    pub(super) picks: usize,
    pub(super) both: Option<Box<[Halves; 2]>>,
    /// Levels of division below this node.
    depth: usize,
    /// Predicted operations per draw.
    pub(super) operations: f64,
}

/// Operations per proposal, apart from its decisions.
const OVERHEAD: f64 = 1000.0;
/// Operations per decision, apart from its products.
const DECISION: f64 = 800.0;

/// Predicts rejections and cost.
#[derive(Clone, Copy, Debug)]
struct Work {
    /// The number of dimensions d in which isotropic rows would be rejected equally often.
    dims: f64,
    rank: f64,
    /// Operations to read one row.
    read: f64,
}

impl Work {
    /// ln of the number of proposals needed for `picks` picks: −Σ ln(1 − j/d).
    fn loss(dims: f64, picks: usize) -> f64 {
        -(0..picks).map(|j| (-(j as f64) / dims).ln_1p()).sum::<f64>()
    }

    /// Fits d to the number of proposals that all picks take at once.
    fn new(picks: usize, proposals: f64, rank: usize, read: f64) -> Self {
        // More dimensions lose less.
        let (mut least, mut most) = (picks as f64, 1e9);
        for _ in 0..100 {
            let dims = f64::sqrt(least * most);
            if Self::loss(dims, picks) > proposals.ln() { least = dims } else { most = dims }
        }
        Self { dims: most, rank: rank as f64, read }
    }

    /// Operations of a decision, with `met` inner products in f32 and a solution for `solved` rows in f64.
    fn row(&self, met: usize, solved: usize) -> f64 {
        DECISION + 0.4 * self.rank * met as f64 + 2.0 * (solved * solved) as f64
    }

    fn at_once(&self, picks: usize) -> f64 {
        let reached = |j: usize| (-Self::loss(self.dims, j)).exp() * (self.read + self.row(j, j));
        (OVERHEAD + (0..picks).map(reached).sum::<f64>()) * Self::loss(self.dims, picks).exp()
    }

    /// Operations until both halves are accepted together.
    fn in_halves(&self, [one, other]: [usize; 2], costs: f64) -> f64 {
        let lost = |j: usize| {
            let [both, alone] = [one + j, j].map(|picks| Self::loss(self.dims, picks));
            both - alone - Self::loss(self.dims, one)
        };
        let reached = |j: usize| (-lost(j)).exp() * self.row(one, one + j);
        (OVERHEAD + costs + (0..other).map(reached).sum::<f64>()) * lost(other).exp()
    }
}

/// The position at which picks from these groups are divided. It is between two groups, because two halves of one
/// group would often share items.
pub(super) fn middle(groups: &[usize]) -> Option<usize> {
    let between = |&at: &usize| groups[at - 1] != groups[at];
    (1..groups.len()).filter(between).min_by_key(|&at| (2 * at).abs_diff(groups.len()))
}

impl Halves {
    fn at_once(picks: usize, operations: f64) -> Self {
        Self { picks, both: None, depth: 0, operations }
    }

    fn of(halves: [Self; 2], operations: f64) -> Self {
        let [picks, depth] = [halves[0].picks + halves[1].picks, 1 + halves[0].depth.max(halves[1].depth)];
        Self { picks, both: Some(Box::new(halves)), depth, operations }
    }

    /// The fastest division for picks from these groups that take `proposals` at once, and the cost of proposals of
    /// both halves. It has at least two halves; `None` if one group has all picks.
    pub(super) fn best(
        groups: &[usize],
        proposals: f64,
        rank: usize,
        read: f64,
    ) -> Option<(Self, BoundCost)> {
        let work = Work::new(groups.len(), proposals, rank, read);
        let (one, other) = groups.split_at(middle(groups)?);
        let sizes = [one.len(), other.len()];
        let of_halves: f64 = sizes.iter().map(|&size| Work::loss(work.dims, size)).sum();
        let proposals = (Work::loss(work.dims, groups.len()) - of_halves).exp();
        let halves = Self::halved([one, other], &work);
        let operations = halves.operations / proposals;
        Some((halves, BoundCost { bound: Bound::Halves, proposals, operations }))
    }

    fn fastest(groups: &[usize], work: &Work) -> Self {
        let whole = Self::at_once(groups.len(), work.at_once(groups.len()));
        let Some(middle) = middle(groups) else { return whole };
        let (one, other) = groups.split_at(middle);
        let halves = Self::halved([one, other], work);
        if halves.operations < whole.operations { halves } else { whole }
    }

    fn halved(groups: [&[usize]; 2], work: &Work) -> Self {
        let halves = groups.map(|groups| Self::fastest(groups, work));
        let of_halves = halves[0].operations + halves[1].operations;
        let operations = work.in_halves(groups.map(<[usize]>::len), of_halves);
        Self::of(halves, operations)
    }

    /// Divides into halves while there are several groups.
    #[cfg(test)]
    pub(super) fn of_all(groups: &[usize]) -> Self {
        let Some(middle) = middle(groups) else { return Self::at_once(groups.len(), 1.0) };
        let (one, other) = groups.split_at(middle);
        Self::of([one, other].map(Self::of_all), 1.0)
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Lists all nodes below this one, with the groups of their picks.
    pub(super) fn below<'h>(&'h self, groups: &'h [usize], out: &mut Vec<(&'h Halves, &'h [usize])>) {
        let Some(both) = &self.both else { return };
        let (first, second) = groups.split_at(both[0].picks);
        for (half, groups) in both.iter().zip([first, second]) {
            out.push((half, groups));
            half.below(groups, out);
        }
    }
}
