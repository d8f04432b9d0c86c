//! The error type of the library.

mod kind;
mod problems;
pub(crate) mod words;
pub use kind::ErrorKind;
pub use problems::*;

/// Everything that can go wrong: one variant per rule, with the values that break it. Positions are 0-based.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A buffer or array has the wrong size.
    #[error("{what} has {}; {} needed", words::counted(*found, "value"), words::are(*expected))]
    Shape {
        /// The array at fault.
        what: &'static str,
        /// The size that the other arguments imply.
        expected: usize,
        /// The size found.
        found: usize,
    },
    /// An argument that must not be empty is empty.
    #[error("{what} is empty")]
    Empty {
        /// The argument at fault.
        what: &'static str,
    },
    /// More items than 32-bit indices can name.
    #[error("{items} items are more than the {limit} supported")]
    TooManyItems {
        /// Items given.
        items: usize,
        /// Items supported.
        limit: usize,
    },
    /// A value is NaN or infinite.
    #[error("the value in row {row}, column {column} is {value}; every value must be finite")]
    NotFinite {
        /// Row of the value.
        row: usize,
        /// Column of the value.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A dense kernel is not symmetric.
    #[error("the kernel is not symmetric: entries ({row}, {column}) and ({column}, {row}) differ by {}, more than the tolerance {tolerance:e}", words::plain(*gap))]
    Asymmetric {
        /// Row of the worst pair.
        row: usize,
        /// Column of the worst pair.
        column: usize,
        /// Absolute difference.
        gap: f64,
        /// Largest difference allowed.
        tolerance: f64,
    },
    /// A dense kernel has a negative eigenvalue.
    #[error("the kernel is not positive semidefinite: its smallest eigenvalue is {}, and the tolerance is {tolerance:e}", words::plain(*eigenvalue))]
    NotPositiveSemidefinite {
        /// The smallest eigenvalue.
        eigenvalue: f64,
        /// The most negative eigenvalue allowed, as a positive number.
        tolerance: f64,
    },
    /// A dense kernel has no positive eigenvalue.
    #[error("the kernel is zero: every set but the empty one has probability zero")]
    ZeroKernel,
    /// A number that must be positive is not.
    #[error("{what} is {value}; it must be a positive number")]
    NotPositive {
        /// The argument at fault.
        what: &'static str,
        /// The number.
        value: f64,
    },
    /// A point of the unit cube has an entry outside [0, 1].
    #[error("the value of item {item} is {value}; it must lie in [0, 1]")]
    NotAProbability {
        /// The item.
        item: usize,
        /// Its value.
        value: f64,
    },
    /// The number of labels is not the number of items.
    #[error("there {} for {}", words::are_counted(*labels, "label"), words::counted(*items, "item"))]
    LabelCount {
        /// Items of the features.
        items: usize,
        /// Labels given.
        labels: usize,
    },
    /// A quota names a part that no label has.
    #[error("{}", words::unknown_part(name, known))]
    UnknownPart {
        /// The unknown name.
        name: String,
        /// Names of the parts.
        known: Vec<String>,
    },
    /// A quota names one part twice.
    #[error("the quota names part {name} twice")]
    RepeatedPart {
        /// The name.
        name: String,
    },
    /// A positional quota has the wrong number of entries.
    #[error("the quota has {} for {}: {}", words::counted_as(*entries, "entry", "entries"), words::counted(parts.len(), "part"), words::join(parts))]
    QuotaLength {
        /// Names of the parts.
        parts: Vec<String>,
        /// Entries given.
        entries: usize,
    },
    /// A quota was made for another partition.
    #[error("the quota was made for parts {}; the partition has {}", words::join(quota), words::join(parts))]
    QuotaOfOtherParts {
        /// Names of the parts the quota was made for.
        quota: Vec<String>,
        /// Names of the partition's parts.
        parts: Vec<String>,
    },
    /// A quota asks for more items than the part has.
    #[error("the quota asks for {} of part {part}, which has {size}", words::counted(*quota, "item"))]
    QuotaAbovePartSize {
        /// Name of the part.
        part: String,
        /// Requested items.
        quota: usize,
        /// Items of the part.
        size: usize,
    },
    /// A quota has ranges where exact counts are needed.
    #[error("{what} needs one exact count per part, and the quota has ranges")]
    CountsNotExact {
        /// The operation that needs exact counts.
        what: &'static str,
    },
    /// A question that a law cannot answer.
    #[error("{0}")]
    NotForLaw(&'static str),
    /// A subset size or a whole quota is zero.
    #[error("{what} is zero: there is nothing to choose")]
    Nothing {
        /// The argument at fault.
        what: &'static str,
    },
    /// Shards of one matrix differ in columns or in element type.
    #[error("shard {shard} has {found}; the first shard has {expected}")]
    UnlikeShards {
        /// Index of the shard.
        shard: usize,
        /// Its columns and type.
        found: String,
        /// The columns and type of the first shard.
        expected: String,
    },
    /// A range of counts begins above its end.
    #[error("the range of part {part} is empty: no count is at least {low} and at most {high}")]
    EmptyRange {
        /// Name of the part.
        part: String,
        /// Lower end.
        low: usize,
        /// Upper end.
        high: usize,
    },
    /// The ranges of the parts do not allow the total.
    #[error("the total is {} in all, but the ranges of the parts allow {low} to {high}", words::counted(*total, "item"))]
    TotalOutsideRanges {
        /// Requested items.
        total: usize,
        /// Sum of the lower ends.
        low: usize,
        /// Sum of the upper ends.
        high: usize,
    },
    /// A quota leaves the total open, but sets must all have one size.
    #[error("the ranges of the parts allow {low} to {high} items in all; the total must be fixed")]
    OpenTotal {
        /// Sum of the lower ends.
        low: usize,
        /// Sum of the upper ends.
        high: usize,
    },
    /// A subset size exceeds the number of items.
    #[error("k = {k} is more than the {}", words::counted(*items, "item"))]
    SizeAboveItems {
        /// Requested size.
        k: usize,
        /// Number of items.
        items: usize,
    },
    /// A subset size exceeds the rank of the kernel: the determinant of every such set is zero in f64.
    #[error("{}", words::above_rank(*k, *rank))]
    SizeAboveRank {
        /// Requested size.
        k: usize,
        /// Rank of the kernel, or the number of features, which it cannot exceed.
        rank: usize,
    },
    /// A design has fewer rows than columns, or dependent columns, so it cannot estimate every coefficient.
    #[error("{}", words::design_rank(*rank, *columns))]
    DesignRank {
        /// The rank of all rows, or the number of rows of the design, which it cannot exceed.
        rank: usize,
        /// Number of columns.
        columns: usize,
    },
    /// No set that meets the quota has a positive determinant (Rado's theorem names the parts).
    #[error("{}", words::infeasible(parts, *rank, *quota))]
    Infeasible {
        /// Names of the parts at fault.
        parts: Vec<String>,
        /// Joint rank of their rows.
        rank: usize,
        /// Items that the quota takes from them together.
        quota: usize,
    },
    /// No set that meets the quota and has the included items has a positive determinant.
    #[error("{}", words::infeasible_beyond(parts, *rank, *quota))]
    InfeasibleBeyondIncluded {
        /// Names of the parts at fault.
        parts: Vec<String>,
        /// Joint rank of their rows beyond the included rows.
        rank: usize,
        /// Items that the quota takes from them together, beyond the included items.
        quota: usize,
    },
    /// Exact sampling would need too many proposals, and interpolation too many nodes.
    #[error("{}", words::over_budgets([*expected, *budget], [*nodes, *node_budget]))]
    ProposalBudget {
        /// Predicted proposals per sample.
        expected: f64,
        /// The budget of proposals.
        budget: f64,
        /// Nodes that interpolation may need.
        nodes: f64,
        /// The budget of nodes.
        node_budget: f64,
    },
    /// Exact sampling under ranges may need too many proposals.
    #[error("an exact draw under ranges may take {} proposals; the budget is {budget:.2e}", words::large(*expected, 2))]
    RangeProposalBudget {
        /// Predicted proposals per sample.
        expected: f64,
        /// The budget of proposals per sample.
        budget: f64,
    },
    /// Inference, or a sampler by interpolation, would need too many nodes.
    #[error("interpolation needs {} nodes, more than the budget of {budget:.3e}", words::large(*nodes, 3))]
    NodeBudget {
        /// Nodes needed.
        nodes: f64,
        /// The budget.
        budget: f64,
    },
    /// The features are too badly conditioned for f64.
    #[error("{}", words::ill_conditioned(*deviation, *tolerance))]
    IllConditioned {
        /// Estimated total variation error of the law; outside [0, 1) if no estimate is possible.
        deviation: f64,
        /// Largest error accepted.
        tolerance: f64,
    },
    /// An item index is outside the ground set.
    #[error("item {item} does not exist: there {}", words::are_counted(*items, "item"))]
    ItemOutOfRange {
        /// The index.
        item: usize,
        /// Number of items.
        items: usize,
    },
    /// A set names one item twice.
    #[error("item {item} is named twice in one set")]
    RepeatedItem {
        /// The index.
        item: usize,
    },
    /// An item is both included and excluded.
    #[error("item {item} cannot be both included and excluded")]
    IncludedAndExcluded {
        /// The index.
        item: usize,
    },
    /// The included items have determinant zero.
    #[error("the items to include are linearly dependent: item {item} adds nothing to the others in f64")]
    DependentItems {
        /// An item that depends on the others.
        item: usize,
    },
    /// More items of a part must be included than the quota asks for.
    #[error("{} of part {part} must be included, but the quota asks for {quota}", words::counted(*included, "item"))]
    QuotaBelowIncluded {
        /// Name of the part.
        part: String,
        /// Requested items.
        quota: usize,
        /// Items that must be included.
        included: usize,
    },
    /// More items must be included than the size of the subset.
    #[error("{} must be included, but k = {k}", words::counted(*included, "item"))]
    SizeBelowIncluded {
        /// Requested size.
        k: usize,
        /// Items that must be included.
        included: usize,
    },
    /// An item has probability zero given the picks made so far.
    #[error("item {item} cannot be picked next: it has probability zero given the picks made so far")]
    ImpossiblePick {
        /// The index.
        item: usize,
    },
    /// Rounding errors left no item with positive weight during a draw.
    #[error("a draw lost all precision after {picked} of {wanted} items; draw by rejection")]
    LostDraw {
        /// Items picked so far.
        picked: usize,
        /// Items to pick.
        wanted: usize,
    },
    /// An item is in two parts.
    #[error("{}", words::overlapping(*item, first, second))]
    OverlappingParts {
        /// The index.
        item: usize,
        /// Name of one part.
        first: String,
        /// Name of the other.
        second: String,
    },
    /// An item has the same label twice.
    #[error("item {item} has label {label} twice")]
    RepeatedLabel {
        /// The index.
        item: usize,
        /// The label.
        label: String,
    },
    /// An item is in no part.
    #[error("item {item} is in no part; put it into a part with quota 0 if it must not be chosen")]
    ItemWithoutPart {
        /// The index.
        item: usize,
    },
    /// A file could not be opened or read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: std::path::PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// A .npy file is not a valid matrix of real numbers.
    #[error("{}: {problem}", path.display())]
    Npy {
        /// The file.
        path: std::path::PathBuf,
        /// The fault.
        problem: NpyProblem,
    },
    /// Rows cannot be weighted.
    #[error(transparent)]
    Weights(#[from] WeightProblem),
    /// Weighted draws do not allow an estimate.
    #[error(transparent)]
    Estimate(#[from] EstimateProblem),
    /// An Arrow array has the wrong type or contents.
    #[error(transparent)]
    Arrow(#[from] ArrowProblem),
    /// Data sent between processes cannot be used.
    #[error(transparent)]
    Stream(#[from] StreamProblem),
    /// A kernel that is a function of two items cannot be used.
    #[error(transparent)]
    Kernel(#[from] KernelProblem),
    /// A GPU is unavailable, or failed.
    #[error(transparent)]
    Device(#[from] DeviceProblem),
    /// A [`Watch`](crate::Watch) ended the work early.
    #[error(transparent)]
    Ended(#[from] crate::watch::Ended),
    /// A draw took far more proposals than guaranteed, and was abandoned.
    #[error("a draw was given up after {proposals} proposals: the guarantee is {} on average", words::large(*expected, 2))]
    DrawGivenUp {
        /// Proposals made, all rejected.
        proposals: u64,
        /// Guaranteed upper bound on the average number of proposals.
        expected: f64,
    },
    /// An eigenvalue iteration did not converge.
    #[error("the eigen-decomposition of a {size}×{size} matrix did not converge")]
    Eigen {
        /// Size of the matrix.
        size: usize,
    },
}
