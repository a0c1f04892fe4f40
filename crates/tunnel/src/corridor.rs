//! The straight lines that lie below some points and above others: what all exchanges together permit of a clock.
//!
//! Only the corners of the hull that face the lines matter, a handful of some thousand points. Of the lines that fit,
//! the one in the middle of the widest corridor is the estimate: where the corridor is widest, both sides touch it with
//! the points that were least delayed. The outermost lines that fit are the bounds.
//!
//! Source: Duda, Harrus, Haddad and Bernard 1987, "Estimating global time in distributed systems" (lines between two
//! convex hulls); Andrew 1979, "Another efficient algorithm for convex hulls in two dimensions" (monotone chain).

/// Where a hull lies as seen from the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// No line is above its points.
    Above,
    /// No line is below its points.
    Below,
}

/// The corners of points, given from left to right, that face the lines.
#[derive(Clone, Debug)]
pub struct Hull {
    side: Side,
    corners: Vec<(i64, i64)>,
}

impl Hull {
    /// Of no points.
    pub fn new(side: Side) -> Self {
        Self { side, corners: Vec::new() }
    }

    /// Adds a point; one that does not lie to the right of all others is left out.
    pub fn add(&mut self, point: (i64, i64)) {
        if self.corners.last().is_some_and(|last| last.0 >= point.0) {
            return;
        }
        while let [.., before, last] = self.corners[..] {
            let (along, up) = (i128::from(last.0 - before.0), i128::from(last.1 - before.1));
            let turn = along * i128::from(point.1 - before.1) - up * i128::from(point.0 - before.0);
            let stays = match self.side {
                Side::Above => turn > 0,
                Side::Below => turn < 0,
            };
            if stays {
                break;
            }
            self.corners.pop();
        }
        self.corners.push(point);
    }

    /// Adds the corners of a hull that lies to the right.
    pub fn add_all(&mut self, other: &Self) {
        other.corners.iter().for_each(|&corner| self.add(corner));
    }

    fn seen_from(&self, (x, y): (i64, i64)) -> Vec<(f64, f64)> {
        self.corners.iter().map(|corner| ((corner.0 - x) as f64, (corner.1 - y) as f64)).collect()
    }
}

/// A line, and the outermost ones beside it.
#[derive(Clone, Copy, Debug)]
pub struct Corridor {
    /// Slope of the line in the middle.
    pub slope: f64,
    /// Its height at the place that was asked for.
    pub height: i64,
    /// No line that fits is farther away there.
    pub bound: i64,
    /// No line that fits has a slope that differs by more.
    pub slope_bound: f64,
}

/// The lines between two hulls, at `x`, which lies to the right of all their points. `known`: the slope, if it is taken
/// as known where it fits. `None` if no line fits with a slope of at most `steepest`.
pub fn between(above: &Hull, below: &Hull, x: i64, known: Option<f64>, steepest: f64) -> Option<Corridor> {
    let y = below.corners.last()?.1;
    let (upper, lower) = (above.seen_from((x, y)), below.seen_from((x, y)));
    // Every pair of points bounds the slope from one side.
    let (mut least, mut most) = (-steepest, steepest);
    for &(upper_x, upper_y) in &upper {
        for &(lower_x, lower_y) in &lower {
            let bound = (upper_y - lower_y) / (upper_x - lower_x);
            if upper_x > lower_x {
                most = most.min(bound);
            } else if upper_x < lower_x {
                least = least.max(bound);
            } else if upper_y < lower_y {
                return None;
            }
        }
    }
    (least <= most).then_some(())?;
    // Heights at `x` of the highest and the lowest line of a slope.
    let highest = |slope: f64| upper.iter().map(|(x, y)| y - slope * x).fold(f64::MAX, f64::min);
    let lowest = |slope: f64| lower.iter().map(|(x, y)| y - slope * x).fold(f64::MIN, f64::max);
    let width = |slope: &f64| highest(*slope) - lowest(*slope);
    // The width is concave, and straight between the slopes of edges.
    let edges = upper
        .windows(2)
        .chain(lower.windows(2))
        .map(|edge| (edge[1].1 - edge[0].1) / (edge[1].0 - edge[0].0));
    let slopes = edges.chain([least, most]).map(|slope| slope.clamp(least, most));
    let slope = match known {
        Some(known) => known.clamp(least, most),
        None => slopes.max_by(|one, other| width(one).total_cmp(&width(other)))?,
    };
    let height = (highest(slope) + lowest(slope)) / 2.0;
    Some(Corridor {
        slope,
        height: y + height.round() as i64,
        // The steepest line ends highest, to the right of everything.
        bound: (highest(most) - height).max(height - lowest(least)).ceil() as i64,
        slope_bound: (most - slope).max(slope - least),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hull(side: Side, points: &[(i64, i64)]) -> Hull {
        let mut hull = Hull::new(side);
        points.iter().for_each(|&point| hull.add(point));
        hull
    }

    #[test]
    fn corners_face_the_lines() {
        let points = [(0, 0), (1, 5), (2, 1), (3, 9), (4, 4)];
        assert_eq!(hull(Side::Above, &points).corners, [(0, 0), (2, 1), (4, 4)]);
        assert_eq!(hull(Side::Below, &points).corners, [(0, 0), (1, 5), (3, 9), (4, 4)]);
    }

    #[test]
    fn between_two_parallels_the_line_is_in_the_middle() {
        let above = hull(Side::Above, &[(0, 20), (10, 30)]);
        let below = hull(Side::Below, &[(0, 0), (10, 10)]);
        let corridor = between(&above, &below, 10, None, 10.0).unwrap();
        assert_eq!((corridor.slope, corridor.height), (1.0, 20));
        // The outermost lines go from (0, 0) to (10, 30), and from (0, 20) to (10, 10).
        assert_eq!((corridor.bound, corridor.slope_bound), (10, 2.0));
    }

    #[test]
    fn where_no_line_fits_there_is_no_corridor() {
        // Up and down again, with no room for both.
        let above = hull(Side::Above, &[(0, 2), (10, 12), (20, 2)]);
        let below = hull(Side::Below, &[(1, 0), (11, 10), (21, 0)]);
        assert!(between(&above, &below, 21, None, 10.0).is_none());
    }

    proptest! {
        #[test]
        fn every_line_that_fits_is_within_the_bounds(
            slope in -400i64..400, height in -1_000i64..1_000, room in 1i64..50_000,
            gaps in proptest::collection::vec((0i64..100_000, 0i64..100_000), 2..60)
        ) {
            // Points of a true line, at a distance of `room` and what `gaps` add.
            let truth = |x: i64| height + slope * x / 1_000;
            let (mut above, mut below) = (Hull::new(Side::Above), Hull::new(Side::Below));
            for (place, (up, down)) in (0..).zip(&gaps) {
                let x = 10_000 * place;
                above.add((x, truth(x) + room + up));
                below.add((x + 7, truth(x + 7) - room - down));
            }
            let x = 10_000 * gaps.len() as i64;
            let corridor = between(&above, &below, x, None, 1.0).unwrap();
            prop_assert!((corridor.height - truth(x)).abs() <= corridor.bound + 2, "{:?}", corridor);
            prop_assert!((corridor.slope - slope as f64 / 1e3).abs() <= corridor.slope_bound + 1e-3);
            // The estimate fits itself.
            for (place, (up, down)) in (0..).zip(&gaps) {
                let at = 10_000 * place;
                let line = |at: i64| corridor.height as f64 + corridor.slope * (at - x) as f64;
                prop_assert!(line(at) <= (truth(at) + room + up) as f64 + 2.0);
                prop_assert!(line(at + 7) >= (truth(at + 7) - room - down) as f64 - 2.0);
            }
        }
    }
}
