//! What was recorded: base delays and trains, and opportunities under full load.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::json;

use crate::describe::{Json, Object, Problem, Sampler, Value};
use crate::units::Duration;

/// Trains of packets after a pause. Clones share the rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LightRecording(Arc<[LightRow]>);

/// One train.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LightRow {
    /// When it was sent.
    pub at: Duration,
    /// The delay of its first packet.
    pub delay: Duration,
    /// When its packets arrived, after its first one; ascending, at least one.
    pub opportunities: Arc<[Duration]>,
}

impl LightRecording {
    /// Rows at ascending times, the first at 0. The last is the end of the recording, so there are at least two.
    ///
    /// # Errors
    /// The first error in them.
    pub fn new(rows: Vec<LightRow>) -> Result<LightRecording, Problem> {
        let ascend = rows.windows(2).all(|pair| pair[0].at < pair[1].at);
        if rows.len() < 2 || !ascend || rows[0].at > Duration::ZERO {
            return Err(Problem::new("needs rows at increasing times, two at least, the first at 0 ns"));
        }
        let sound = |row: &LightRow| {
            !row.opportunities.is_empty() && row.opportunities.windows(2).all(|pair| pair[0] <= pair[1])
        };
        match rows.iter().position(|row| !sound(row)) {
            None => Ok(LightRecording(rows.into())),
            Some(row) => Err(Problem::new(alloc::format!(
                "row {row} needs opportunities at times that do not decrease, at least one"
            ))),
        }
    }

    /// The row that holds at a time, and the base delay, interpolated to the next row. The recording repeats.
    pub(super) fn at(&self, elapsed: Duration) -> (usize, Duration) {
        let rows = &self.0;
        let end_ns = rows[rows.len() - 1].at.as_nanos();
        let time_ns = elapsed.as_nanos() % end_ns;
        let row = rows.partition_point(|row| row.at.as_nanos() <= time_ns) - 1;
        let ((here, next), into_ns) = ((&rows[row], &rows[row + 1]), time_ns - rows[row].at.as_nanos());
        let between = |from: u64, to: u64| {
            let step = (i128::from(to) - i128::from(from)) * i128::from(into_ns);
            let whole = i128::from(next.at.as_nanos() - here.at.as_nanos());
            u64::try_from(i128::from(from) + step / whole).unwrap_or(u64::MAX)
        };
        (row, Duration::from_nanos(between(here.delay.as_nanos(), next.delay.as_nanos())))
    }

    pub(super) fn opportunities(&self, row: usize) -> &[Duration] {
        &self.0[row].opportunities
    }

    pub(super) fn sample(sampler: &mut Sampler) -> Vec<(&'static str, Json)> {
        let delays = json!([*sampler.one_of(&[0, 700, 2_000]), *sampler.one_of(&[300, 1_000]), 500]);
        let trains = json!([[0, 200, 200, 900], *sampler.one_of(&[json!([0]), json!([100, 400])]), [0]]);
        vec![("light", json!({"at_ns": [0, 3_000, 7_000], "delay_ns": delays, "opportunities_ns": trains}))]
    }
}

impl Value for LightRecording {
    fn from_json(json: &Json) -> Result<LightRecording, Problem> {
        let mut lists = lists_of(json)?;
        let at: Vec<Duration> = taken(&mut lists, "at_ns")?;
        let delays: Vec<Duration> = taken(&mut lists, "delay_ns")?;
        let trains: Vec<Vec<Duration>> = taken(&mut lists, "opportunities_ns")?;
        ended(&lists)?;
        if at.len() != delays.len() || at.len() != trains.len() {
            return Err(Problem::new("its lists differ in length; give one entry for each row"));
        }
        let row = |((at, delay), train): ((Duration, Duration), Vec<Duration>)| LightRow {
            at,
            delay,
            opportunities: train.into(),
        };
        LightRecording::new(at.into_iter().zip(delays).zip(trains).map(row).collect())
    }
}

impl Serialize for LightRecording {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(3))?;
        let of = |part: fn(&LightRow) -> Duration| self.0.iter().map(part).collect::<Vec<_>>();
        object.serialize_entry("at_ns", &of(|row| row.at))?;
        object.serialize_entry("delay_ns", &of(|row| row.delay))?;
        let trains: Vec<&[Duration]> = self.0.iter().map(|row| &*row.opportunities).collect();
        object.serialize_entry("opportunities_ns", &trains)?;
        object.end()
    }
}

/// Delivery opportunities of a sender that never pauses. Clones share them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeavyRecording(Arc<[(Duration, u64)]>);

impl HeavyRecording {
    /// Times, ascending and above 0, and how many opportunities each has, at least one; the last time is the period.
    ///
    /// # Errors
    /// The first error in them.
    pub fn new(opportunities: Vec<(Duration, u64)>) -> Result<HeavyRecording, Problem> {
        let ascend = opportunities.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let above = opportunities.first().is_some_and(|&(first, _)| first > Duration::ZERO);
        if !ascend || !above || opportunities.iter().any(|&(_, count)| count == 0) {
            return Err(Problem::new(
                "needs opportunities at increasing times above 0 ns, at least one at each",
            ));
        }
        Ok(HeavyRecording(opportunities.into()))
    }

    pub(super) fn period(&self) -> Duration {
        self.0[self.0.len() - 1].0
    }

    /// The first opportunity after a time below the period, and how many there are.
    pub(super) fn after(&self, time: Duration) -> (Duration, u64) {
        self.0[self.0.partition_point(|&(at, _)| at <= time)]
    }

    pub(super) fn sample(sampler: &mut Sampler) -> Vec<(&'static str, Json)> {
        let counts = json!([*sampler.one_of(&[1, 5]), 2]);
        vec![("heavy", json!({"at_ns": [*sampler.one_of(&[300, 900]), 1_500], "count": counts}))]
    }
}

impl Value for HeavyRecording {
    fn from_json(json: &Json) -> Result<HeavyRecording, Problem> {
        let mut lists = lists_of(json)?;
        let at: Vec<Duration> = taken(&mut lists, "at_ns")?;
        let counts: Vec<u64> = taken(&mut lists, "count")?;
        ended(&lists)?;
        if at.len() != counts.len() {
            return Err(Problem::new("its lists differ in length; give one entry for each time"));
        }
        HeavyRecording::new(at.into_iter().zip(counts).collect())
    }
}

impl Serialize for HeavyRecording {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (at, counts): (Vec<Duration>, Vec<u64>) = self.0.iter().copied().unzip();
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry("at_ns", &at)?;
        object.serialize_entry("count", &counts)?;
        object.end()
    }
}

fn lists_of(json: &Json) -> Result<Object, Problem> {
    json.as_object().cloned().ok_or_else(|| Problem::new(alloc::format!("{json} is not an object of lists")))
}

fn taken<T: Value>(lists: &mut Object, name: &str) -> Result<Vec<T>, Problem> {
    let list =
        lists.remove(name).ok_or_else(|| Problem::new(alloc::format!("{name} is missing; give it")))?;
    Vec::from_json(&list).map_err(|problem| problem.inside(name))
}

fn ended(lists: &Object) -> Result<(), Problem> {
    match lists.keys().next() {
        Some(name) => Err(Problem::new(alloc::format!("unknown key {name}"))),
        None => Ok(()),
    }
}
