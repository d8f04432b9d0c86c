//! The models: which sets a law allows, and the ground set that it is conditioned on.

mod conditions;
mod contraction;
mod counts;
mod dpp;
mod factor_residual;
pub(crate) mod feasibility;
mod free_items;
mod graded;
mod ground_set;
mod independent;
mod k_dpp;
mod log_determinant;
mod max_weight_basis;
mod open_parts;
mod partition_dpp;
mod ridge;
mod sets;
mod weight_narrowing;

pub(crate) use conditions::{Conditions, Left, OpenPart};
pub(crate) use contraction::Contraction;
pub(crate) use counts::{Counts, Demand};
pub use dpp::Dpp;
pub(crate) use factor_residual::Lacking;
pub(crate) use free_items::FreeItems;
pub(crate) use graded::{accurately, within};
pub(crate) use ground_set::GroundSet;
pub use independent::{IndependentKDpps, PartKDpp};
pub use k_dpp::KDpp;
pub(crate) use log_determinant::{factor_error, log_determinant, log_determinant_estimate};
pub use partition_dpp::PartitionDpp;
pub use ridge::RidgeDpp;
pub(crate) use ridge::{DrawnDpp, Fill, FreeRidge, log_probability};
pub use sets::Sets;
