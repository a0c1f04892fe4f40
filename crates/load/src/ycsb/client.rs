//! One connection's stream of operations on a store: draws them, then performs them.

use std::net::SocketAddr;
use std::sync::Arc;

use super::chooser::Chooser;
use super::key;
use super::keyspace::KeySpace;
use super::record::{self, Field, Record, FIELDS};
use super::store::interface::Store;
use super::workload::Workload;
use crate::clock::monotonic_ns;
use crate::driver::Session;
use crate::failure::Failure;
use crate::random::{Purpose, Random};
use crate::sample::Operation;

/// Longest scan, in records; lengths are uniform from 1 (YCSB's `maxscanlength`).
const SCAN_RECORDS_MAX: u64 = 100;

/// A client of a store.
pub struct Client {
    store: Box<dyn Store>,
    connect: Box<dyn Fn() -> Result<Box<dyn Store>, String>>,
    workload: Workload,
    keys: Arc<KeySpace>,
    chooser: Chooser,
    random: Random,
    field_bytes: usize,
    chosen: Request,
    /// When the update of the read-modify-write performed last began; None after any other operation.
    update_began_ns: Option<u64>,
}

/// An operation with everything that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Request {
    Read { key: String },
    Update { key: String, field_number: usize, value: Field },
    ReadModifyWrite { key: String, field_number: usize, value: Field },
    Insert { number: u64, key: String, record: Box<Record> },
    Scan { first_key: String, count: u64 },
}

impl Client {
    /// Connects a client whose choices follow from the seed and its own number.
    pub fn connect(
        connect: impl Fn() -> Result<Box<dyn Store>, String> + 'static,
        workload: Workload,
        keys: &Arc<KeySpace>,
        chooser: Chooser,
        seed: u64,
        number: usize,
        field_bytes: usize,
    ) -> Result<Client, String> {
        Ok(Client {
            store: connect()?,
            connect: Box::new(connect),
            workload,
            keys: Arc::clone(keys),
            chooser,
            random: Random::stream(seed, Purpose::Connection, number as u64),
            field_bytes,
            chosen: Request::Read { key: String::new() },
            update_began_ns: None,
        })
    }

    fn existing_key(&mut self) -> String {
        key::name(self.chooser.choose(&self.keys, &mut self.random))
    }

    fn field_number(&mut self) -> usize {
        self.random.below(FIELDS as u64) as usize
    }
}

impl Session for Client {
    fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)> {
        self.store.addresses()
    }

    fn choose(&mut self) -> Operation {
        let operation = self.workload.operation(&mut self.random);
        self.chosen = match operation {
            Operation::Read => Request::Read { key: self.existing_key() },
            Operation::Update => Request::Update {
                key: self.existing_key(),
                field_number: self.field_number(),
                value: record::field(&mut self.random, self.field_bytes),
            },
            Operation::ReadModifyWrite => Request::ReadModifyWrite {
                key: self.existing_key(),
                field_number: self.field_number(),
                value: record::field(&mut self.random, self.field_bytes),
            },
            Operation::Insert => {
                let number = self.keys.claim();
                Request::Insert {
                    number,
                    key: key::name(number),
                    record: Box::new(record::record(&mut self.random, self.field_bytes)),
                }
            }
            Operation::Scan => Request::Scan {
                first_key: self.existing_key(),
                count: 1 + self.random.below(SCAN_RECORDS_MAX),
            },
            Operation::Call
            | Operation::Transfer
            | Operation::Get
            | Operation::Set
            | Operation::UpdateAfterRead
            | Operation::Write
            | Operation::CompareAndSet
            | Operation::Add
            | Operation::Append => unreachable!("no core workload has it"),
        };
        operation
    }

    fn perform(&mut self) -> Result<(), Failure> {
        self.update_began_ns = None;
        match &self.chosen {
            Request::Read { key } => self.store.read(key),
            Request::Update { key, field_number, value } => self.store.update(key, *field_number, value),
            Request::ReadModifyWrite { key, field_number, value } => {
                self.store.read(key)?;
                self.update_began_ns = Some(monotonic_ns());
                self.store.update(key, *field_number, value)
            }
            Request::Insert { number, key, record } => {
                self.store.insert(key, record)?;
                self.keys.confirm(*number);
                Ok(())
            }
            Request::Scan { first_key, count } => self.store.scan(first_key, *count),
        }
    }

    fn connect_again(&mut self) -> Result<(), String> {
        if !self.store.goes_on_by_itself() {
            self.store = (self.connect)()?;
        }
        Ok(())
    }

    fn last_part(&self) -> Option<(Operation, u64)> {
        self.update_began_ns.map(|began_ns| (Operation::UpdateAfterRead, began_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The store that does nothing, for tests of the choices alone.
    struct Nothing;

    impl Store for Nothing {
        fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)> {
            Err(std::io::ErrorKind::NotConnected.into())
        }
        fn read(&mut self, _: &str) -> Result<(), Failure> {
            Ok(())
        }
        fn update(&mut self, _: &str, _: usize, _: &[u8]) -> Result<(), Failure> {
            Ok(())
        }
        fn insert(&mut self, _: &str, _: &Record) -> Result<(), Failure> {
            Ok(())
        }
        fn scan(&mut self, _: &str, _: u64) -> Result<(), Failure> {
            Ok(())
        }
    }

    fn nothing() -> Result<Box<dyn Store>, String> {
        Ok(Box::new(Nothing))
    }

    fn requests(workload: Workload, number: usize, count: usize) -> Vec<Request> {
        let keys = Arc::new(KeySpace::new(1000, 1000));
        let mut client =
            Client::connect(nothing, workload, &keys, workload.chooser(1000, Some(10_000)), 7, number, 100)
                .unwrap();
        let mut next = || {
            client.choose();
            client.perform().unwrap();
            client.chosen.clone()
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn the_same_seed_makes_the_same_requests_and_another_client_makes_others() {
        for workload in [Workload::A, Workload::D, Workload::E, Workload::F] {
            assert_eq!(requests(workload, 0, 200), requests(workload, 0, 200));
            assert_ne!(requests(workload, 0, 200), requests(workload, 1, 200));
        }
    }

    #[test]
    fn only_a_read_modify_write_has_an_update_as_its_last_part() {
        let keys = Arc::new(KeySpace::new(1000, 1000));
        let chooser = Workload::F.chooser(1000, Some(10_000));
        let mut client = Client::connect(nothing, Workload::F, &keys, chooser, 7, 0, 100).unwrap();
        let mut met = [false; 2];
        for _ in 0..100 {
            let (operation, before_ns) = (client.choose(), monotonic_ns());
            client.perform().unwrap();
            let updates = operation == Operation::ReadModifyWrite;
            match client.last_part() {
                Some((part, began_ns)) => {
                    assert!(updates && part == Operation::UpdateAfterRead);
                    assert!((before_ns..=monotonic_ns()).contains(&began_ns));
                }
                None => assert!(!updates),
            }
            met[usize::from(updates)] = true;
        }
        assert_eq!(met, [true, true]);
    }

    #[test]
    fn scans_take_one_to_a_hundred_records() {
        let counts: Vec<u64> = requests(Workload::E, 0, 5000)
            .into_iter()
            .filter_map(|request| if let Request::Scan { count, .. } = request { Some(count) } else { None })
            .collect();
        assert_eq!((counts.iter().min(), counts.iter().max()), (Some(&1), Some(&100)));
        let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        // Uniform on 1..=100: mean 50.5, standard deviation 28.9 / sqrt(4750) = 0.42; five of them.
        assert!((mean - 50.5).abs() < 2.1, "{mean}");
    }

    #[test]
    fn inserts_take_consecutive_new_keys() {
        let numbers: Vec<u64> = requests(Workload::D, 0, 1000)
            .into_iter()
            .filter_map(
                |request| {
                    if let Request::Insert { number, .. } = request {
                        Some(number)
                    } else {
                        None
                    }
                },
            )
            .collect();
        assert!(numbers.len() > 20);
        assert!(numbers.iter().copied().eq(1000..1000 + numbers.len() as u64));
    }
}
