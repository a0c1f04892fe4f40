//! Meters: what measures traffic against a rate and a burst. They count IP bytes.

mod police;
mod token_bucket;

pub(crate) use police::Police;
pub(crate) use token_bucket::TokenBucket;
