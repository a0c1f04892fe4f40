//! MongoDB, and servers that speak its protocol: a document for each record, its key as `_id`.
//!
//! `--durability` is the write concern: `w=0` asks for no answer at all, so a write is done when the kernel has taken it, and
//! neither the network nor the server's refusal is ever seen; `w=1`, the default, waits for the primary; `majority`
//! for a majority of the replica set. Reads go to the primary, and see what it has (read concern `local`). After an election
//! all go to the new primary.
//!
//! Source: YCSB 0.17.0, `site.ycsb.db.MongoDbClient`: the same collection, key and binary fields.

pub mod connection;
pub mod prepare;
pub mod primary;
pub mod single;

use std::sync::Arc;

use bson::raw::{cstr, CStr};
use bson::spec::BinarySubtype;
use bson::{rawdoc, RawArrayBuf, RawBinaryRef, RawBson, RawBsonRef, RawDocumentBuf};

use crate::failure::Failure;
use crate::stop::Stop;
use crate::ycsb::record::{Record, FIELDS};
use crate::ycsb::store::interface::Store;
use crate::ycsb::store::target::Target;
use primary::Primary;

const DATABASE: &str = "ycsb";
const TABLE: &str = "usertable";

/// How many servers must have a write before it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteConcern {
    /// None; and nothing is answered.
    Unacknowledged,
    Primary,
    Majority,
}

/// A session with the primary.
pub struct Mongodb {
    primary: Primary,
    concern: WriteConcern,
}

impl Mongodb {
    /// Connects to the primary of the set that the server belongs to.
    pub fn connect(target: &Target, stop: &Arc<Stop>) -> Result<Mongodb, String> {
        let concern = durability(target.durability.as_deref())?;
        Ok(Mongodb { primary: Primary::connect(&target.server, stop)?, concern })
    }

    /// Runs a write that must concern one document.
    fn write(
        &mut self,
        mut command: RawDocumentBuf,
        otherwise: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        let concern = match self.concern {
            WriteConcern::Unacknowledged => rawdoc! { "w": 0 },
            WriteConcern::Primary => rawdoc! { "w": 1 },
            WriteConcern::Majority => rawdoc! { "w": "majority" },
        };
        command.append(cstr!("writeConcern"), concern);
        if self.concern == WriteConcern::Unacknowledged {
            return self.primary.write_unanswered(&command);
        }
        match self.primary.write(command)?.get_i32("n") {
            Ok(1) => Ok(()),
            _ => Err(Failure::Refused(otherwise())),
        }
    }

    /// Returns how many documents there are from a condition on `_id` upwards, after taking all of them.
    fn find(&mut self, id: RawBson, limit: i32) -> Result<usize, Failure> {
        let reply = self.primary.run(&rawdoc! {
            "find": TABLE,
            "filter": { "_id": id },
            "sort": { "_id": 1 },
            "limit": limit,
            "batchSize": limit,
            "singleBatch": true,
            "$db": DATABASE,
        })?;
        let documents = reply.get_document("cursor").and_then(|cursor| cursor.get_array("firstBatch"));
        let documents =
            documents.map_err(|error| Failure::Lost(format!("a reply without documents: {error}")))?;
        let whole = |document: &RawBsonRef| {
            document.as_document().is_some_and(|fields| fields.iter().count() == FIELDS + 1)
        };
        let (mut all, mut wholes) = (0, 0);
        for document in documents {
            let document = document.map_err(|error| Failure::Lost(format!("a broken document: {error}")))?;
            all += 1;
            wholes += usize::from(whole(&document));
        }
        if all == wholes {
            Ok(all)
        } else {
            Err(Failure::Refused(format!("{} documents are not whole records", all - wholes)))
        }
    }
}

impl Store for Mongodb {
    fn addresses(&self) -> std::io::Result<(std::net::SocketAddr, std::net::SocketAddr)> {
        self.primary.addresses()
    }

    fn goes_on_by_itself(&self) -> bool {
        self.primary.is_of_a_set()
    }

    fn read(&mut self, key: &str) -> Result<(), Failure> {
        match self.find(key.into(), 1)? {
            1 => Ok(()),
            _ => Err(Failure::Refused(format!("{key}: no document; do --records and the collection agree?"))),
        }
    }

    fn update(&mut self, key: &str, field_number: usize, value: &[u8]) -> Result<(), Failure> {
        let mut fields = RawDocumentBuf::new();
        append_field(&mut fields, field_number, value);
        let command = rawdoc! {
            "update": TABLE,
            "updates": [{ "q": { "_id": key }, "u": { "$set": fields } }],
            "$db": DATABASE,
        };
        self.write(command, || format!("{key}: not there; do --records and the collection agree?"))
    }

    fn insert(&mut self, key: &str, record: &Record) -> Result<(), Failure> {
        let command = rawdoc! { "insert": TABLE, "documents": [document(key, record)], "$db": DATABASE };
        self.write(command, || format!("{key}: not stored"))
    }

    fn scan(&mut self, first_key: &str, count: u64) -> Result<(), Failure> {
        let from = RawBson::Document(rawdoc! { "$gte": first_key });
        match self.find(from, count as i32)? {
            0 => Err(Failure::Refused(format!(
                "{first_key}: no document; do --records and the collection agree?"
            ))),
            _ => Ok(()),
        }
    }
}

/// The write concern, from `w=0`, `w=1` or `majority`.
pub fn durability(word: Option<&str>) -> Result<WriteConcern, String> {
    match word {
        Some("w=0") => Ok(WriteConcern::Unacknowledged),
        None | Some("w=1") => Ok(WriteConcern::Primary),
        Some("majority") => Ok(WriteConcern::Majority),
        Some(word) => Err(format!("--durability {word}: MongoDB has w=0, w=1 and majority")),
    }
}

fn document(key: &str, record: &Record) -> RawDocumentBuf {
    let mut document = rawdoc! { "_id": key };
    for (number, value) in record.iter().enumerate() {
        append_field(&mut document, number, value);
    }
    document
}

fn documents<'a>(records: impl Iterator<Item = (String, Record)> + 'a) -> RawArrayBuf {
    let mut documents = RawArrayBuf::new();
    records.for_each(|(key, record)| documents.push(document(&key, &record)));
    documents
}

fn append_field(document: &mut RawDocumentBuf, number: usize, value: &[u8]) {
    const NAMES: [&CStr; FIELDS] = [
        cstr!("field0"),
        cstr!("field1"),
        cstr!("field2"),
        cstr!("field3"),
        cstr!("field4"),
        cstr!("field5"),
        cstr!("field6"),
        cstr!("field7"),
        cstr!("field8"),
        cstr!("field9"),
    ];
    document.append(NAMES[number], RawBinaryRef { subtype: BinarySubtype::Generic, bytes: value });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;
    use std::net::TcpListener;

    #[test]
    fn durability_is_the_write_concern() {
        assert_eq!(durability(None), Ok(WriteConcern::Primary));
        assert_eq!(durability(Some("w=0")), Ok(WriteConcern::Unacknowledged));
        assert_eq!(durability(Some("majority")), Ok(WriteConcern::Majority));
        assert!(durability(Some("wait=1")).unwrap_err().contains("w=0"));
    }

    #[test]
    fn an_unacknowledged_write_does_not_wait_for_a_server_that_never_answers() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = silent.local_addr().unwrap().to_string();
        let stop = Arc::new(Stop::new());
        let connection = connection::Connection::connect(&server, &stop).unwrap();
        let primary = Primary::new(connection, Vec::new(), &stop);
        let mut store = Mongodb { primary, concern: WriteConcern::Unacknowledged };
        assert_eq!(store.update("user1", 3, &[b'x'; 100]), Ok(()));
        store.concern = WriteConcern::Primary;
        store.primary.set_timeout(std::time::Duration::from_millis(50));
        assert!(matches!(store.update("user1", 3, &[b'x'; 100]), Err(Failure::Lost(_))));
    }
}
