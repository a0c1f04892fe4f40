//! The part of etcd's messages that the workloads use; fields that are left out are skipped when read and absent when sent.
//!
//! Source: etcd 3.4, `etcdserver/etcdserverpb/rpc.proto` and `mvcc/mvccpb/kv.proto`; numbers are theirs.

use prost::{Enumeration, Message, Oneof};

#[derive(Clone, PartialEq, Message)]
pub struct RangeRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub range_end: Vec<u8>,
    #[prost(int64, tag = "3")]
    pub limit: i64,
    #[prost(bool, tag = "7")]
    pub serializable: bool,
}

#[derive(Clone, PartialEq, Message)]
pub struct KeyValue {
    #[prost(bytes = "vec", tag = "1")]
    pub key: Vec<u8>,
    /// The revision of the last write of this key.
    #[prost(int64, tag = "3")]
    pub mod_revision: i64,
    #[prost(bytes = "vec", tag = "5")]
    pub value: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct RangeResponse {
    #[prost(message, repeated, tag = "2")]
    pub pairs: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
pub struct PutRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub value: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct DeleteRangeRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub range_end: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct DeleteRangeResponse {}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Enumeration)]
#[repr(i32)]
pub enum CompareResult {
    Equal = 0,
    Greater = 1,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Enumeration)]
#[repr(i32)]
pub enum CompareTarget {
    Version = 0,
    Mod = 2,
    Value = 3,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum CompareWith {
    /// How often a key was written; 0 for one that is not there.
    #[prost(int64, tag = "4")]
    Version(i64),
    /// The revision of the last write of the key; 0 for one that is not there.
    #[prost(int64, tag = "6")]
    ModRevision(i64),
    #[prost(bytes, tag = "7")]
    Value(Vec<u8>),
}

#[derive(Clone, PartialEq, Message)]
pub struct Compare {
    #[prost(enumeration = "CompareResult", tag = "1")]
    pub result: i32,
    #[prost(enumeration = "CompareTarget", tag = "2")]
    pub target: i32,
    #[prost(bytes = "vec", tag = "3")]
    pub key: Vec<u8>,
    #[prost(oneof = "CompareWith", tags = "4, 6, 7")]
    pub with: Option<CompareWith>,
}

#[derive(Clone, PartialEq, Oneof)]
pub enum Request {
    #[prost(message, tag = "2")]
    Put(PutRequest),
}

#[derive(Clone, PartialEq, Message)]
pub struct RequestOperation {
    #[prost(oneof = "Request", tags = "2")]
    pub request: Option<Request>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TxnRequest {
    #[prost(message, repeated, tag = "1")]
    pub compare: Vec<Compare>,
    #[prost(message, repeated, tag = "2")]
    pub success: Vec<RequestOperation>,
}

#[derive(Clone, PartialEq, Message)]
pub struct TxnResponse {
    #[prost(bool, tag = "2")]
    pub succeeded: bool,
}
