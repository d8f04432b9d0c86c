//! Tilt and spectrum of a Partition-DPP, and coordinates in which they are accurate.

use super::TiltedSpectrum;
use crate::{
    PartitionDpp, Result,
    engine::{Engine, Group, Items, Rows, in_double},
    estimate::accurate,
    linalg::Grading,
    polynomial::{
        gram::Summand,
        tilt::{Tilt, homogeneous_tilt, ranged_tilt, weighted_tilt},
        torus::default_node_budget,
    },
};

/// Tilts that differ by less than this share the same coordinates.
const NEAR: f64 = 8.0;

impl PartitionDpp {
    /// The tilt and spectrum at which proposals are most likely to meet the quota.
    pub(crate) fn spectrum(&self, engine: &Engine, rows: &Rows<'_>) -> Result<TiltedSpectrum> {
        let counts = self.counts();
        let mut found = if let Some(exact) = counts.exact() {
            TiltedSpectrum::for_counts(engine, rows, self.ground(), exact)?
        } else {
            let tilt = |grams: &[_], offsets: &[f64]| self.tilt_of(engine, grams, offsets);
            TiltedSpectrum::for_ranges(engine, rows, self.ground(), counts.total(), tilt)?
        };
        found.spectrum.error = accurate(found.spectrum.error + self.beyond_rank())?;
        Ok(found)
    }

    /// The same law in coordinates that are graded for the weights that its tilt gives the parts.
    pub(crate) fn graded(&self, engine: &Engine) -> Result<Option<Self>> {
        if self.quota().exact_counts().is_some() {
            self.graded_for_counts(engine)
        } else {
            self.graded_for_ranges(engine)
        }
    }

    fn graded_for_counts(&self, engine: &Engine) -> Result<Option<Self>> {
        let rows = self.rows();
        let Some(ground) = self.ground().graded(&rows, engine)? else { return Ok(None) };
        let graded = self.in_ground(ground);
        if self.open().len() < 2 {
            return Ok(Some(graded));
        }
        let counts = self.counts();
        engine.proceed()?;
        let grams = Engine::host().part_grams(&graded.rows(), None)?;
        let tilt = homogeneous_tilt(engine, &grams, &counts.low, Grading::Descending)?;
        if tilt.are_alike() {
            return Ok(Some(graded));
        }
        let weighted = self.ground().graded(&rows.weighted(&tilt.log_weights), engine)?;
        Ok(weighted.map(|ground| self.in_ground(ground)))
    }

    fn graded_for_ranges(&self, engine: &Engine) -> Result<Option<Self>> {
        let groups = self.open().iter().map(|part| Group { items: Items::from(&part.items), scale: 1.0 });
        let rows = Rows::with_scales(self.ground().features(), groups.collect());
        let Some(ground) = self.ground().graded(&rows, engine)? else { return Ok(None) };
        let alike = self.in_ground(ground).narrowed();
        if alike.open().len() < self.open().len() {
            // The exact rank leaves nothing for some parts, so grade for the others.
            if alike.open().is_empty() {
                return Ok(Some(alike));
            }
            return alike.in_ground(self.ground().clone()).graded_for_ranges(engine);
        }
        if self.open().is_empty() {
            return Ok(Some(alike));
        }
        let mut tilt = alike.tilt(engine)?;
        if tilt.are_alike() {
            return Ok(Some(alike));
        }
        // If many tilts are equally good, another one may be found in new coordinates, which are not graded for it.
        for last in [false, false, true] {
            let weighted = self.ground().graded(&rows.clone().weighted(&tilt.log_weights), engine)?;
            let Some(ground) = weighted else { return Ok(None) };
            let graded = self.in_ground(ground).narrowed();
            if last || graded.open().is_empty() {
                return Ok(Some(graded));
            }
            let found = graded.tilt(engine)?;
            let gaps = found.log_weights.iter().zip(&tilt.log_weights).map(|(new, old)| (new - old).abs());
            if gaps.fold(0.0, f64::max) < NEAR {
                return Ok(Some(graded));
            }
            tilt = found;
        }
        unreachable!("the last round returns")
    }

    /// The tilt under ranges, for the rows as given.
    fn tilt(&self, engine: &Engine) -> Result<Tilt> {
        let rows = self.rows();
        let grams = in_double(engine).part_grams(&rows, None)?;
        let offsets: Vec<f64> = rows.scales().iter().map(|scale| -2.0 * scale.ln()).collect();
        let mut tilt = self.tilt_of(engine, &grams, &offsets)?;
        tilt.log_weights.iter_mut().zip(&offsets).for_each(|(weight, offset)| *weight -= offset);
        Ok(tilt)
    }

    /// The tilt under ranges that makes acceptance most likely, from Gram matrices of scaled rows.
    fn tilt_of<G: Summand>(&self, engine: &Engine, grams: &[G], offsets: &[f64]) -> Result<Tilt> {
        match self.count_weights() {
            Some(weights) => weighted_tilt(engine, grams, offsets, &weights),
            None => ranged_tilt(engine, grams, offsets, &self.counts()),
        }
    }

    /// The node budget of inference.
    pub(crate) fn nodes_allowed(&self) -> f64 {
        self.node_budget().unwrap_or_else(|| default_node_budget(self.ground().dims_left()))
    }
}
