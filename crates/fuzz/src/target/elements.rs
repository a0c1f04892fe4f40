//! Elements: any condition that passes the last gate can be carried out, changed while packets are inside, and loses none of them.
//!
//! Conditions come from the engine's descriptions, as random parameters of every element, with numbers replaced by fuzzed ones. The gate may refuse; what it lets through must work.

use crosswind_engine::{Ecn, Instant};
use crosswind_fabric::{samples, star, Condition, ElementEntry, Fabric, Frame, Place, Planner};
use serde_json::{json, Value};

use crate::cursor::Cursor;

/// So that every word of a choice is there.
const OF_EACH_KIND: u64 = 15;
/// Conditions and frames of one input; more would only be slower.
const STEPS_MAX: usize = 200;

/// A condition, then steps: frames, advances, other conditions.
pub fn elements(input: &[u8]) {
    let table = table();
    let mut cursor = Cursor::new(input);
    let Ok(fabric) = serde_json::from_value::<Fabric>(fabric(&condition(&mut cursor, &table))) else {
        return;
    };
    let Ok(mut planner) = Planner::new(&fabric) else { return };
    let Ok(mut network) = planner.network(Instant::ZERO) else { return };
    let mut now_ns = 0u64;
    for step in 0..STEPS_MAX {
        if cursor.is_empty() {
            break;
        }
        now_ns += u64::from(cursor.u16()) * 100;
        let at = Instant::from_nanos(now_ns);
        match cursor.u8() {
            0..=15 => {
                if let Ok(condition) = serde_json::from_value::<Condition>(condition(&mut cursor, &table)) {
                    // The gate may refuse it; nothing has changed then.
                    if let Ok(plan) = planner.condition(&condition) {
                        network.apply(at, plan);
                    }
                }
            }
            16..=31 => network.engine().advance(at),
            way => {
                let (from, to) = [(0, 1), (1, 0), (0, 2), (2, 1)][usize::from(way % 4)];
                let marks = cursor.u8();
                let frame = Frame {
                    key: step as u32,
                    count: u32::from(cursor.u8() % 45) + 1,
                    ip_bytes: u32::from(cursor.u16() % 9000) + 1,
                    last_ip_bytes: u32::from(cursor.u16() % 9000) + 1,
                    dscp: marks >> 2,
                    ecn: Ecn::from_bits(marks),
                };
                network.push(at, from, to, 0, &frame);
            }
        }
        let totals = network.engine_ref().totals();
        assert!(totals.real.holds() && totals.ghost.holds(), "{totals:?}");
        while network.engine().pop().is_some() {}
    }
    network.engine().advance(Instant::from_nanos(now_ns + 1_000_000_000));
    let totals = network.engine_ref().totals();
    assert!(totals.real.holds() && totals.ghost.holds(), "{totals:?}");
}

/// Elements at their places: of every kind that the engine describes, with random parameters that are the same each time.
fn table() -> Vec<(String, Value)> {
    let samples = samples(OF_EACH_KIND, 0).into_iter();
    let line = |(place, entry): (Place, ElementEntry)| {
        (place.word().to_owned(), serde_json::to_value(&entry).expect("an entry can be written"))
    };
    samples.map(line).collect()
}

/// One to three elements at their places, with other numbers.
fn condition(cursor: &mut Cursor<'_>, table: &[(String, Value)]) -> Value {
    let mut places = serde_json::Map::new();
    for _ in 0..=cursor.u8() % 3 {
        let (place, element) = &table[usize::from(cursor.u8()) % table.len()];
        let mut element = element.clone();
        replace_numbers(cursor, &mut element);
        places
            .entry(place.clone())
            .or_insert_with(|| json!([]))
            .as_array_mut()
            .expect("a list")
            .push(element);
    }
    json!({"name": "fuzzed", "places": places})
}

fn replace_numbers(cursor: &mut Cursor<'_>, value: &mut Value) {
    match value {
        Value::Number(number) => {
            let fuzzed = match cursor.u8() {
                0..=127 => return,
                128..=143 => {
                    cursor.one_of(&[0, 1, 63, 64, 65_535, u64::from(u32::MAX), i64::MAX as u64, u64::MAX])
                }
                144..=199 => u64::from(cursor.u16()),
                200..=239 => u64::from(cursor.u16()) << (cursor.u8() % 32),
                _ => cursor.u64(),
            };
            *number = fuzzed.into();
        }
        Value::Array(values) => values.iter_mut().for_each(|value| replace_numbers(cursor, value)),
        Value::Object(values) => values.values_mut().for_each(|value| replace_numbers(cursor, value)),
        _ => {}
    }
}

fn fabric(condition: &Value) -> Value {
    json!({
        "seed": 7, "hosts": ["h0", "h1"],
        "nodes": [{"name": "a", "host": "h0"}, {"name": "b", "host": "h1"}, {"name": "c", "host": "h1"}],
        "switches": ["switch"], "links": star(&["h0", "h1"], Some(1_000_000_000), 2000, Some(60_000)), "mtu_bytes": 1500,
        "tcp": {"congestion_control": "cubic", "rto_min_us": 200_000}, "merge_window_ns": 20_000,
        "condition": condition,
    })
}
