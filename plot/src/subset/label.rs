//! Places for names next to markers, so that names hide neither each other nor the markers.

use std::ops::Range;

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) width: i32,
    pub(super) height: i32,
}

impl Place {
    fn overlap(&self, other: &Place) -> i32 {
        let across = (self.left + self.width).min(other.left + other.width) - self.left.max(other.left);
        let down = (self.top + self.height).min(other.top + other.height) - self.top.max(other.top);
        across.max(0) * down.max(0)
    }

    fn outside(&self, bounds: &(Range<i32>, Range<i32>)) -> i32 {
        let over = |start: i32, end: i32, range: &Range<i32>| {
            (range.start - start).max(0) + (end - range.end).max(0)
        };
        over(self.left, self.left + self.width, &bounds.0) + over(self.top, self.top + self.height, &bounds.1)
    }
}

/// Returns a place for every name, one after the other.
///
/// Of the eight sides of its marker at three distances, each name takes the first place that hides least.
pub(super) fn place(
    markers: &[(i32, i32)],
    radius: i32,
    sizes: &[(i32, i32)],
    bounds: &(Range<i32>, Range<i32>),
) -> Vec<Place> {
    let side = 2 * radius;
    let mut taken: Vec<Place> = markers
        .iter()
        .map(|&(x, y)| Place { left: x - radius, top: y - radius, width: side, height: side })
        .collect();
    let mut places = Vec::with_capacity(markers.len());
    for (&marker, &size) in markers.iter().zip(sizes) {
        let cost = |place: &Place| {
            taken.iter().map(|other| place.overlap(other)).sum::<i32>() + 1000 * place.outside(bounds)
        };
        if let Some(best) = candidates(marker, radius, size).min_by_key(cost) {
            taken.push(best);
            places.push(best);
        }
    }
    places
}

fn candidates((x, y): (i32, i32), radius: i32, (width, height): (i32, i32)) -> impl Iterator<Item = Place> {
    const SIDES: [(i32, i32); 8] = [(1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (-1, -1), (1, 1), (-1, 1)];
    [4, 12, 24].into_iter().flat_map(move |gap| {
        SIDES.into_iter().map(move |(across, down)| {
            let left = x - width / 2 + across * (radius + gap + width / 2);
            let top = y - height / 2 + down * (radius + gap / 2 + height / 2);
            Place { left, top, width, height }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_near_items_stay_apart() {
        let markers = [(100, 100), (105, 102), (98, 110)];
        let places = place(&markers, 10, &[(50, 20); 3], &(0..400, 0..400));
        for (i, a) in places.iter().enumerate() {
            assert!(places[..i].iter().all(|b| a.overlap(b) == 0), "{places:?}");
        }
    }

    #[test]
    fn names_stay_inside() {
        let bounds = (0..200, 0..200);
        let places = place(&[(195, 195)], 10, &[(60, 20)], &bounds);
        assert_eq!(places[0].outside(&bounds), 0, "{places:?}");
    }
}
