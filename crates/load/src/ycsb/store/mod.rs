//! What a store must be able to do, and the stores that there are. A new one is one folder and one line in each function.

pub mod cassandra;
pub mod etcd;
pub mod mongodb;
pub mod postgresql;
pub mod redis;

use std::sync::Arc;

use clap::ValueEnum;
use serde::Serialize;

use super::record::{Record, Table};
use crate::driver::Failure;
use crate::stop::Stop;

/// A kind of store, by the protocol that it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Postgresql,
    Redis,
    Etcd,
    Mongodb,
    Cassandra,
}

/// Where a store is, as whom to use it, and what a confirmed operation is to mean.
#[derive(Clone, Debug, clap::Args, Serialize)]
pub struct Target {
    /// The kind of store
    #[arg(long)]
    pub store: Kind,
    /// The server
    #[arg(long, value_name = "HOST:PORT")]
    pub server: String,
    /// The account, which must need no password; for PostgreSQL, and required there
    #[arg(long, required_if_eq("store", "postgresql"))]
    pub user: Option<String>,
    /// The database; for PostgreSQL, and required there
    #[arg(long, required_if_eq("store", "postgresql"))]
    pub database: Option<String>,
    /// For redis wait=N; for etcd linearizable or serializable; for mongodb w=0, w=1 or majority; for cassandra one, quorum or all
    #[arg(long, value_name = "WORD")]
    pub durability: Option<String>,
}

impl Target {
    /// Refuses what this kind of store has no use for.
    pub fn check(&self) -> Result<(), String> {
        if self.store != Kind::Postgresql && (self.user.is_some() || self.database.is_some()) {
            return Err("--user and --database are for postgresql; leave them out".into());
        }
        let word = self.durability.as_deref();
        match self.store {
            Kind::Postgresql if word.is_some() => {
                Err("--durability: PostgreSQL's is a setting of the server, synchronous_commit; set it there"
                    .into())
            }
            Kind::Postgresql => Ok(()),
            Kind::Redis => redis::durability(word).map(|_| ()),
            Kind::Etcd => etcd::durability(word).map(|_| ()),
            Kind::Mongodb => mongodb::durability(word).map(|_| ()),
            Kind::Cassandra => cassandra::durability(word).map(|_| ()),
        }
    }
}

/// One connection to a store. A record that is not there, or is there already, is a [`Failure::Refused`].
pub trait Store {
    /// Our address and the server's.
    fn addresses(&self) -> std::io::Result<(std::net::SocketAddr, std::net::SocketAddr)>;
    /// Takes all fields of one record.
    fn read(&mut self, key: &str) -> Result<(), Failure>;
    /// Writes one field (by its number) of one record.
    fn update(&mut self, key: &str, field_number: usize, value: &[u8]) -> Result<(), Failure>;
    /// Adds a record.
    fn insert(&mut self, key: &str, record: &Record) -> Result<(), Failure>;
    /// Takes all fields of up to `count` records, from `first_key` upwards in the order of key names.
    fn scan(&mut self, first_key: &str, count: u64) -> Result<(), Failure>;
}

/// Connects to a store that [`prepare`] has filled.
pub fn connect(target: &Target, stop: &Arc<Stop>) -> Result<Box<dyn Store>, String> {
    Ok(match target.store {
        Kind::Postgresql => Box::new(postgresql::Postgresql::connect(target, stop)?),
        Kind::Redis => Box::new(redis::Redis::connect(target, stop)?),
        Kind::Etcd => Box::new(etcd::Etcd::connect(target, stop)?),
        Kind::Mongodb => Box::new(mongodb::Mongodb::connect(target, stop)?),
        Kind::Cassandra => Box::new(cassandra::Cassandra::connect(target, stop)?),
    })
}

/// Why a store could not be filled.
#[derive(Debug)]
pub enum NotPrepared {
    /// There is no connection.
    Unreachable(String),
    /// The store did not do what it was asked.
    Failed(Failure),
}

/// Replaces what a store holds for us by the records of a table.
pub fn prepare(target: &Target, table: Table, stop: &Arc<Stop>) -> Result<(), NotPrepared> {
    match target.store {
        Kind::Postgresql => postgresql::prepare::prepare(target, table, stop),
        Kind::Redis => redis::prepare::prepare(target, table, stop),
        Kind::Etcd => etcd::prepare::prepare(target, table, stop),
        Kind::Mongodb => mongodb::prepare::prepare(target, table, stop),
        Kind::Cassandra => cassandra::prepare::prepare(target, table, stop),
    }
}
