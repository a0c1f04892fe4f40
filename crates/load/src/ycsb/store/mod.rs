//! The stores that there are. A new one is one folder, one kind of target, and one line in each function.

pub mod cassandra;
pub mod etcd;
pub mod interface;
pub mod mongodb;
pub mod postgresql;
pub mod redis;
pub mod target;

use std::sync::Arc;

use self::interface::Store;
use self::target::{Kind, Target};
use super::record::Table;
use crate::failure::NotPrepared;
use crate::stop::Stop;

/// Refuses what this kind of store has no use for.
pub fn check(target: &Target) -> Result<(), String> {
    if target.store != Kind::Postgresql && (target.user.is_some() || target.database.is_some()) {
        return Err("--user and --database are for postgresql; leave them out".into());
    }
    let word = target.durability.as_deref();
    match target.store {
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
