//! What a store must be able to do.

use std::net::SocketAddr;

use crate::failure::Failure;
use crate::ycsb::record::Record;

/// One connection to a store. A record that is not there, or is there already, is a [`Failure::Refused`].
pub trait Store {
    /// Our address and the server's.
    fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)>;
    /// Whether it finds another server by itself after a connection was lost.
    fn goes_on_by_itself(&self) -> bool {
        false
    }
    /// Takes all fields of one record.
    fn read(&mut self, key: &str) -> Result<(), Failure>;
    /// Writes one field (by its number) of one record.
    fn update(&mut self, key: &str, field_number: usize, value: &[u8]) -> Result<(), Failure>;
    /// Adds a record.
    fn insert(&mut self, key: &str, record: &Record) -> Result<(), Failure>;
    /// Takes all fields of up to `count` records, from `first_key` upwards in the order of key names.
    fn scan(&mut self, first_key: &str, count: u64) -> Result<(), Failure>;
}
