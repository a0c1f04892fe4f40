//! What a store must be able to do, and the stores that there are. A new one is one folder and one line in each function.

pub mod postgresql;

use std::sync::Arc;

use clap::ValueEnum;
use serde::Serialize;

use super::record::{Field, Record};
use crate::driver::Failure;
use crate::stop::Stop;

/// A kind of store.
#[derive(Clone, Copy, Debug, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Postgresql,
}

/// Where a store is, and as whom to use it.
#[derive(Clone, Debug, clap::Args, Serialize)]
pub struct Target {
    /// The kind of store
    #[arg(long)]
    pub store: Kind,
    /// The server
    #[arg(long, value_name = "HOST:PORT")]
    pub server: String,
    /// The account, which must need no password
    #[arg(long)]
    pub user: String,
    /// The database
    #[arg(long)]
    pub database: String,
}

/// One connection to a store. A record that is not there, or is there already, is a [`Failure::Refused`].
pub trait Store {
    /// Our address and the server's.
    fn addresses(&self) -> std::io::Result<(std::net::SocketAddr, std::net::SocketAddr)>;
    /// Takes all fields of one record.
    fn read(&mut self, key: &str) -> Result<(), Failure>;
    /// Writes one field (by its number) of one record.
    fn update(&mut self, key: &str, field_number: usize, value: &Field) -> Result<(), Failure>;
    /// Adds a record.
    fn insert(&mut self, key: &str, record: &Record) -> Result<(), Failure>;
    /// Takes all fields of up to `count` records, from `first_key` upwards in the order of key names.
    fn scan(&mut self, first_key: &str, count: u64) -> Result<(), Failure>;
}

/// Connects to a store that [`prepare`] has filled.
pub fn connect(target: &Target, stop: &Arc<Stop>) -> Result<Box<dyn Store>, String> {
    match target.store {
        Kind::Postgresql => Ok(Box::new(postgresql::Postgresql::connect(target, stop)?)),
    }
}

/// Why a store could not be filled.
#[derive(Debug)]
pub enum NotPrepared {
    /// There is no connection.
    Unreachable(String),
    /// The store did not do what it was asked.
    Failed(Failure),
}

/// Replaces what a store holds for us by the records 0 to `records - 1`, whose contents follow from the seed.
pub fn prepare(target: &Target, records: u64, seed: u64, stop: &Arc<Stop>) -> Result<(), NotPrepared> {
    match target.store {
        Kind::Postgresql => postgresql::prepare::prepare(target, records, seed, stop),
    }
}
