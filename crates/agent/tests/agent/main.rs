//! Tests the built agent over its standard streams, as its caller uses it, as root and as an unprivileged user.
//!
//! Nothing here touches the host's network: all traffic stays in namespaces that the agent made.

mod dilation;
mod driver;
mod enter;
mod leaving;
mod limits;
mod network;
mod processes;
mod requests;
mod root;
mod spare;
mod strike;
mod waiting;
