//! Meters: elements that measure traffic against rates and bursts. They count IP bytes.

mod colour;
mod police;
mod srtcm_rfc2697;
mod token_bucket;
mod trtcm_rfc2698;

pub(crate) use colour::Colour;
pub use colour::{ColourAction, ColourActions, ColourMode};
pub(crate) use police::Police;
pub use police::PoliceSpec;
pub(crate) use srtcm_rfc2697::Srtcm;
pub use srtcm_rfc2697::SrtcmSpec;
pub(crate) use token_bucket::TokenBucket;
pub(crate) use trtcm_rfc2698::Trtcm;
pub use trtcm_rfc2698::TrtcmSpec;
