//! Tests the built agent over its standard streams, as its caller uses it, as root and as an unprivileged user.
//!
//! Nothing here touches the host's network: all traffic stays in namespaces that the agent or the test made.

mod cubic;
mod dilation;
mod disk;
mod driver;
mod enter;
mod handshake;
mod leaving;
mod limits;
mod machines;
mod network;
mod processes;
mod requests;
mod root;
mod spare;
mod strike;
mod waiting;
