//! Disjoint parts of the ground set.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    sync::Arc,
};

use crate::{Error, Result};

/// A division of the items into p disjoint parts, ordered by label. Cloning is cheap.
///
/// # Shapes
/// One label per item. Memory: 8 bytes per item.
///
/// ```
/// # fn main() -> Result<(), partition_dpp::Error> {
/// let partition = partition_dpp::Partition::from_labels(&["light", "dark", "light"])?;
/// assert_eq!(partition.names(), ["dark", "light"]);
/// assert_eq!(partition.members(1), [0, 2]);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    names: Arc<[String]>,
    items: Arc<Grouped>,
}

/// The part of every item, and the items of every part.
#[derive(Debug, PartialEq, Eq)]
struct Grouped {
    part_of: Vec<u32>,
    /// The items grouped by part, ascending within each part; part l is `offsets[l]..offsets[l + 1]`.
    members: Vec<u32>,
    offsets: Vec<usize>,
}

impl Partition {
    /// Groups items by label, in the order of the labels.
    ///
    /// # Cost
    /// O(m log p).
    ///
    /// # Errors
    /// - [`Error::Empty`] if there are no labels;
    /// - [`Error::TooManyItems`] above 2³²−1 items.
    pub fn from_labels<L: Ord + Display>(labels: &[L]) -> Result<Self> {
        Self::of(labels)
    }

    /// Groups items by labels that have no text of their own, in the order of the labels; `name` gives the text.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::Partition;
    /// #[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
    /// enum Size { Small, Large }
    /// let partition = Partition::from_labels_by(&[Size::Large, Size::Small], |size| format!("{size:?}"))?;
    /// assert_eq!(partition.names(), ["Small", "Large"]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// - the errors of [`from_labels`](Partition::from_labels);
    /// - [`Error::RepeatedPart`] if two labels have the same name.
    pub fn from_labels_by<L: Ord>(labels: &[L], name: impl Fn(&L) -> String) -> Result<Self> {
        let made = Self::named(labels, |label| name(label))?;
        check_names(&made.names)?;
        Ok(made)
    }

    /// Groups items like [`from_labels`](Partition::from_labels), from an iterator. Keeps one copy of each label.
    ///
    /// # Errors
    /// The errors of [`from_labels`](Partition::from_labels).
    pub fn of<L: Ord + Display>(labels: impl IntoIterator<Item = L>) -> Result<Self> {
        Self::named(labels, ToString::to_string)
    }

    fn named<L: Ord>(labels: impl IntoIterator<Item = L>, name: impl Fn(&L) -> String) -> Result<Self> {
        let labels = labels.into_iter();
        // If the iterator knows its length, too many labels are rejected before any is read.
        check_item_count(labels.size_hint().0)?;
        let mut first_seen = BTreeMap::new();
        let mut part_of = Vec::with_capacity(labels.size_hint().0);
        for label in labels {
            #[expect(clippy::cast_possible_truncation, reason = "checked below: no more labels than items")]
            let next = first_seen.len() as u32;
            part_of.push(*first_seen.entry(label).or_insert(next));
        }
        if part_of.is_empty() {
            return Err(Error::Empty { what: "the list of labels" });
        }
        check_item_count(part_of.len())?;
        let mut part = vec![0; first_seen.len()];
        (0..).zip(first_seen.values()).for_each(|(place, &seen)| part[seen as usize] = place);
        part_of.iter_mut().for_each(|seen| *seen = part[*seen as usize]);
        Ok(Self::group(first_seen.keys().map(name).collect(), part_of))
    }

    /// Takes the parts as named lists of items, in this order. Each of the `items` items must be in exactly one list.
    ///
    /// # Cost
    /// O(m + p log p).
    ///
    /// # Errors
    /// - [`Error::OverlappingParts`] if an item is in two parts;
    /// - [`Error::ItemWithoutPart`] if an item is in no part;
    /// - [`Error::ItemOutOfRange`], [`Error::RepeatedPart`], [`Error::Empty`], [`Error::TooManyItems`].
    pub fn from_sets<N: Into<String>, S: AsRef<[usize]>>(
        items: usize,
        parts: impl IntoIterator<Item = (N, S)>,
    ) -> Result<Self> {
        const NONE: u32 = u32::MAX;
        if items == 0 {
            return Err(Error::Empty { what: "the partition" });
        }
        check_item_count(items)?;
        let parts: Vec<(N, S)> = parts.into_iter().collect();
        // If the parts list fewer items than there are, one of the first `listed + 1` items is in no part. So memory
        // depends on the lists, not on `items`.
        let listed: usize = parts.iter().map(|(_, members)| members.as_ref().len()).sum();
        let (mut names, mut known_names) = (Vec::<String>::new(), BTreeSet::new());
        let mut part_of = vec![NONE; items.min(listed + 1)];
        for (part, (name, members)) in (0..).zip(parts) {
            let name = name.into();
            if !known_names.insert(name.clone()) {
                return Err(Error::RepeatedPart { name });
            }
            names.push(name);
            for &item in members.as_ref() {
                if item >= items {
                    return Err(Error::ItemOutOfRange { item, items });
                }
                let Some(other) = part_of.get_mut(item) else { continue };
                match *other {
                    NONE => *other = part,
                    known if known == part => return Err(Error::RepeatedItem { item }),
                    known => {
                        let (first, second) = (names[known as usize].clone(), names[part as usize].clone());
                        return Err(Error::OverlappingParts { item, first, second });
                    }
                }
            }
        }
        if let Some(item) = part_of.iter().position(|&part| part == NONE) {
            return Err(Error::ItemWithoutPart { item });
        }
        Ok(Self::group(names.into(), part_of))
    }

    /// The items of several partitions as one ground set, one after the other, as
    /// [`Features::concatenate`](crate::Features::concatenate) takes their rows.
    ///
    /// Parts of the same name become one. Their order is that of the first partition; further parts follow in the order
    /// in which they appear.
    ///
    /// ```
    /// # fn main() -> Result<(), partition_dpp::Error> {
    /// use partition_dpp::Partition;
    /// let both = Partition::concatenate(&[Partition::from_labels(&["b", "c"])?, Partition::from_labels(&["a", "b"])?])?;
    /// assert_eq!(both.names(), ["b", "c", "a"]);
    /// assert_eq!(both.members(0), [0, 3]);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Error::Empty`] if there are no partitions; [`Error::TooManyItems`] above 2³²−1 items in total.
    pub fn concatenate(partitions: &[Self]) -> Result<Self> {
        if partitions.is_empty() {
            return Err(Error::Empty { what: "the list of partitions" });
        }
        let items = partitions.iter().map(Self::items).sum();
        check_item_count(items)?;
        let (mut names, mut places) = (Vec::new(), BTreeMap::new());
        let mut part_of = Vec::with_capacity(items);
        for partition in partitions {
            let place_of = partition.names().iter().map(|name| {
                *places.entry(name).or_insert_with(|| {
                    names.push(name.clone());
                    names.len() - 1
                })
            });
            let place_of: Vec<usize> = place_of.collect();
            #[expect(clippy::cast_possible_truncation, reason = "there are no more parts than items")]
            part_of.extend(partition.part_of_items().iter().map(|&part| place_of[part as usize] as u32));
        }
        Ok(Self::group(names.into(), part_of))
    }

    pub(crate) fn group(names: Arc<[String]>, part_of: Vec<u32>) -> Self {
        let mut offsets = vec![0; names.len() + 1];
        for &part in &part_of {
            offsets[part as usize + 1] += 1;
        }
        for part in 0..names.len() {
            offsets[part + 1] += offsets[part];
        }
        let mut next = offsets.clone();
        let mut members = vec![0; part_of.len()];
        for (item, &part) in (0..).zip(&part_of) {
            members[next[part as usize]] = item;
            next[part as usize] += 1;
        }
        Self { names, items: Arc::new(Grouped { part_of, members, offsets }) }
    }

    /// Number of items, m.
    #[must_use]
    pub fn items(&self) -> usize {
        self.items.part_of.len()
    }

    /// Number of parts, p.
    #[must_use]
    pub fn parts(&self) -> usize {
        self.names.len()
    }

    /// The label of each part, as text.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn shared_names(&self) -> Arc<[String]> {
        Arc::clone(&self.names)
    }

    /// The part of an item.
    ///
    /// # Panics
    /// If there is no such item.
    #[must_use]
    pub fn part_of(&self, item: usize) -> usize {
        self.items.part_of[item] as usize
    }

    /// The part of every item.
    pub(crate) fn part_of_items(&self) -> &[u32] {
        &self.items.part_of
    }

    /// The items of a part, ascending.
    ///
    /// # Panics
    /// If there is no such part.
    #[must_use]
    pub fn members(&self, part: usize) -> &[u32] {
        &self.items.members[self.items.offsets[part]..self.items.offsets[part + 1]]
    }

    /// Number of items of a part.
    ///
    /// # Panics
    /// If there is no such part.
    #[must_use]
    pub fn size(&self, part: usize) -> usize {
        self.items.offsets[part + 1] - self.items.offsets[part]
    }
}

/// Checks that 32 bits can index the items.
pub(crate) fn check_item_count(items: usize) -> Result<()> {
    let limit = u32::MAX as usize;
    if items > limit { Err(Error::TooManyItems { items, limit }) } else { Ok(()) }
}

/// Rejects parts of the same name.
pub(super) fn check_names(names: &[String]) -> Result<()> {
    let mut known = BTreeSet::new();
    match names.iter().find(|name| !known.insert(*name)) {
        Some(name) => Err(Error::RepeatedPart { name: name.clone() }),
        None => Ok(()),
    }
}
