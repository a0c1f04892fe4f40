//! Where a store is and which durability is requested.

use clap::ValueEnum;
use serde::Serialize;

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

/// Where a store is, which account to use, and what a confirmed operation means.
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
    /// For redis wait=N; for etcd linearizable or serializable; for mongodb w=0, w=1 or majority; for cassandra one, quorum, all or serial
    #[arg(long, value_name = "WORD")]
    pub durability: Option<String>,
}
