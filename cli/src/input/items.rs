//! Items and rows. With `--multi-label` an item has a row for each of its labels: laws are over rows, questions and
//! answers about items. This module translates between them.

use std::borrow::Cow;

use partition_dpp::{Error, Estimate, Features, Subset, data::LabelCopies, map::Solution};
use pdpp_plot::GroundSet;

use super::{
    Conditions, Input, Scored, Worth,
    ids::{Id, Ids},
};
use crate::failure::Failure;

impl Input {
    /// A new input of some items, in ascending order.
    pub(crate) fn restricted_to(&self, items: &[usize]) -> Result<Self, Error> {
        let features = self.features.restricted_to(items)?;
        let partition = self.partition.as_ref().map(|partition| partition.restricted_to(items));
        let scored = self.scored.as_ref().map(|Scored { scores, diversity }| Scored {
            scores: items.iter().map(|&item| scores[item]).collect(),
            diversity: *diversity,
        });
        Ok(Self {
            given: features.clone(),
            features,
            partition: partition.transpose()?,
            copies: None,
            images: None,
            ids: None,
            scored,
            ..*self
        })
    }

    /// Whether the similarity of rows is their product, and the diversity is above 0.
    pub(crate) fn is_of_rows(&self) -> bool {
        let alone = self.scored.as_ref().is_some_and(Scored::decide_alone);
        self.ridge.is_none() && !self.comparison.is_of_pairs() && !alone
    }

    /// The ground set to plot.
    pub(crate) fn ground_set(&self) -> GroundSet<'_> {
        let Self { given, features, partition, copies, images, .. } = self;
        let features = if copies.is_some() { features } else { given };
        GroundSet { features, partition: partition.as_ref(), copies: copies.as_ref(), images: *images }
    }

    pub(crate) fn items(&self) -> usize {
        self.copies.as_ref().map_or(self.features.items(), LabelCopies::items)
    }

    pub(crate) fn item_of(&self, row: usize) -> usize {
        self.copies.as_ref().map_or(row, |copies| copies.item_of(row))
    }

    /// The items of some rows, ascending; an item appears once for each of its rows.
    pub(crate) fn items_of<'s>(&self, rows: &'s Subset) -> Cow<'s, [usize]> {
        match &self.copies {
            Some(copies) => copies.items_of(rows).into(),
            None => rows.as_slice().into(),
        }
    }

    /// The rows as they were given, one per item.
    pub(super) fn given(&self) -> &Features {
        &self.given
    }

    /// The part of one item, or all its labels; `None` without parts.
    pub(crate) fn parts_of(&self, item: usize) -> Option<String> {
        let partition = self.partition.as_ref()?;
        let rows = self.copies.as_ref().map_or(item..item + 1, |copies| copies.copies_of(item));
        let names: Vec<&str> = rows.map(|row| partition.names()[partition.part_of(row)].as_str()).collect();
        Some(names.join(", "))
    }

    /// The inclusion probabilities of items, from the probabilities of rows.
    pub(crate) fn marginals<'r>(&self, of_rows: &'r Estimate<Vec<f64>>) -> Cow<'r, Estimate<Vec<f64>>> {
        match &self.copies {
            Some(copies) => Cow::Owned(copies.inclusion_probabilities(of_rows)),
            None => Cow::Borrowed(of_rows),
        }
    }

    /// The items with these ids, one for each.
    pub(super) fn items_called(&self, ids: &[String]) -> Result<Vec<usize>, Failure> {
        self.known_ids(ids)?.map_or_else(|| Ok(Vec::new()), |known| known.find(ids))
    }

    /// All items with these ids.
    pub(super) fn all_called(&self, ids: &[String]) -> Result<Vec<usize>, Failure> {
        self.known_ids(ids)?.map_or_else(|| Ok(Vec::new()), |known| known.find_all(ids))
    }

    /// The ids of all items, unless none is asked for.
    fn known_ids(&self, asked: &[String]) -> Result<Option<&Ids>, Failure> {
        match &self.ids {
            _ if asked.is_empty() => Ok(None),
            Some(known) => Ok(Some(known)),
            None => {
                let sentence =
                    "--include-ids and --exclude-ids need the ids of the items: --ids or --id-column";
                Err(Failure::Arguments(sentence.into()))
            }
        }
    }

    /// The ids of the items of some rows, in their order; `None` without ids.
    pub(crate) fn ids_of(&self, rows: &Subset) -> Option<Vec<Id<'_>>> {
        let ids = self.ids.as_ref()?;
        Some(self.items_of(rows).iter().map(|&item| ids.json(item)).collect())
    }

    /// Refuses to draw, or to compute probabilities, with diversity 0.
    pub(crate) fn refuse_scores_alone(&self) -> Result<(), Failure> {
        if self.scored.as_ref().is_some_and(Scored::decide_alone) {
            let sentence = "--diversity 0 leaves nothing to chance: pdpp map finds the top scores";
            return Err(Failure::Arguments(sentence.into()));
        }
        Ok(())
    }

    /// One number per row, from one number per item.
    pub(crate) fn of_rows(&self, of_items: &[f64]) -> Vec<f64> {
        (0..self.features.items()).map(|row| of_items[self.item_of(row)]).collect()
    }

    /// The worth of a set; `None` without scores.
    pub(crate) fn worth(&self, Solution { subset, log_det, covered, .. }: &Solution) -> Option<Worth> {
        Some(self.scored.as_ref()?.worth(&self.items_of(subset), *log_det, *covered))
    }

    /// An item as tables show it: its id, or its index without ids.
    pub(crate) fn shown(&self, item: usize) -> Cow<'_, str> {
        self.ids.as_ref().map_or_else(|| item.to_string().into(), |ids| ids.of(item).into())
    }

    /// The rows to include and exclude. Excluding an item excludes all its rows; an included item must have one row.
    pub(crate) fn conditions(&self, conditions: &Conditions) -> Result<Conditions, Failure> {
        let Some(copies) = &self.copies else { return Ok(conditions.clone()) };
        let Conditions { include, exclude } = conditions;
        for items in [include, exclude] {
            Subset::new(items.clone(), copies.items())?;
        }
        if let Some(&item) = include.iter().find(|item| exclude.contains(item)) {
            return Err(Failure::Library(Error::IncludedAndExcluded { item }));
        }
        let only_row = |&item: &usize| match copies.copies_of(item) {
            rows if rows.len() == 1 => Ok(rows.start),
            rows => Err(Failure::Arguments(not_one_label(item, rows.len(), self.parts_of(item)))),
        };
        Ok(Conditions {
            include: include.iter().map(only_row).collect::<Result<_, _>>()?,
            exclude: exclude.iter().flat_map(|&item| copies.copies_of(item)).collect(),
        })
    }

    /// An error that names a row, changed to name its item.
    pub(crate) fn blame_items(&self, error: Error) -> Failure {
        Failure::Library(match error {
            Error::DependentItems { item } => Error::DependentItems { item: self.item_of(item) },
            other => other,
        })
    }
}

fn not_one_label(item: usize, labels: usize, names: Option<String>) -> String {
    match (labels, names) {
        (0, _) | (_, None) => format!("--include {item}: the item has no label, so it is never chosen"),
        (_, Some(names)) => {
            format!(
                "--include {item}: the item has {labels} labels ({names}) and could be chosen for any of them"
            )
        }
    }
}
