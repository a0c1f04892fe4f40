//! Calls to an etcd server: unary gRPC, one HTTP/2 stream a call, over one connection.
//!
//! HTTP/2 comes from `h2`, which is asynchronous; every connection has a runtime of its own that lives in its thread and runs
//! only while a call is in flight, so nothing crosses threads between the socket and the clock. An etcd client library
//! would bring a runtime with threads, its own reconnecting and balancing, and hide the socket, and so our
//! address.
//!
//! No passwords and no TLS: a server under test lives in a network of its own and trusts it.
//!
//! Source: "gRPC over HTTP2" (grpc/doc/PROTOCOL-HTTP2.md); RFC 9113.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use h2::client::SendRequest;
use h2::RecvStream;
use http::{HeaderMap, Request};
use prost::Message;
use tokio::runtime::{Builder, Runtime};

use crate::clock::monotonic_ns;
use crate::failure::Failure;
use crate::stop::Stop;
use crate::stream::{connect_timeout, Stream, TICK};

/// A scan of 100 records is 160 kB; with the default window of 64 KiB it would wait until we allow more.
const WINDOW_BYTES: u32 = 4 << 20;
const PREFIX_BYTES: usize = 5; // a byte that says "not compressed", and the length

/// A connection.
pub struct Connection {
    runtime: Runtime,
    requests: SendRequest<Bytes>,
    stop: Arc<Stop>,
    authority: String,
    addresses: (SocketAddr, SocketAddr),
}

impl Connection {
    /// Connects and exchanges the settings of HTTP/2.
    pub fn connect(server: &str, stop: &Arc<Stop>) -> Result<Connection, String> {
        let stream = Stream::connect(server, stop)?;
        let no_runtime = |error: io::Error| format!("a runtime for the connection to {server}: {error}");
        let addresses = stream.addresses().map_err(no_runtime)?;
        let tcp = stream.into_nonblocking().map_err(no_runtime)?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(no_runtime)?;
        let greeting = async {
            let tcp =
                tokio::net::TcpStream::from_std(tcp).map_err(|error| Failure::Lost(error.to_string()))?;
            let (requests, connection) = h2::client::Builder::new()
                .initial_window_size(WINDOW_BYTES)
                .initial_connection_window_size(WINDOW_BYTES)
                .handshake(tcp)
                .await
                .map_err(lost)?;
            // Runs whenever a call is waited for. The call that it ends reports how it ended.
            tokio::spawn(connection);
            requests.ready().await.map_err(lost)
        };
        let requests = runtime
            .block_on(in_time(stop, connect_timeout(stop), greeting))
            .map_err(|failure| format!("etcd at {server}: {failure}"))?;
        Ok(Connection { runtime, requests, stop: Arc::clone(stop), authority: server.to_string(), addresses })
    }

    /// Our address and the server's.
    pub fn addresses(&self) -> (SocketAddr, SocketAddr) {
        self.addresses
    }

    /// Calls a method, such as `Range`, of the service KV.
    pub fn call<A: Message + Default>(
        &mut self,
        method: &str,
        question: &impl Message,
    ) -> Result<A, Failure> {
        let exchange = exchange(self.requests.clone(), &self.authority, method, framed(question));
        let answer = self.runtime.block_on(in_time(&self.stop, self.stop.patience(), exchange))?;
        A::decode(answer).map_err(|error| Failure::Lost(format!("{method}: {error}; is the server an etcd?")))
    }
}

/// Waits for what is to come, but no longer than the time-out or the request to stop, as [`Stream`] does.
async fn in_time<T>(
    stop: &Stop,
    timeout: Duration,
    coming: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let give_up_ns = monotonic_ns() + timeout.as_nanos() as u64;
    let mut coming = pin!(coming);
    loop {
        match tokio::time::timeout(TICK, &mut coming).await {
            Ok(result) => return result,
            Err(_) if stop.reason().is_some() => return Err(Failure::Stopped),
            Err(_) if monotonic_ns() >= give_up_ns => {
                return Err(Failure::Lost(format!("no complete answer within {timeout:?}")))
            }
            Err(_) => {}
        }
    }
}

async fn exchange(
    requests: SendRequest<Bytes>,
    authority: &str,
    method: &str,
    question: Bytes,
) -> Result<Bytes, Failure> {
    let request = Request::post(format!("http://{authority}/etcdserverpb.KV/{method}"))
        .version(http::Version::HTTP_2)
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(())
        .map_err(|error| Failure::Refused(format!("{method}: {error}")))?;
    let mut requests = requests.ready().await.map_err(lost)?;
    let (response, mut body) = requests.send_request(request, false).map_err(lost)?;
    body.send_data(question, true).map_err(lost)?;
    let (head, body) = response.await.map_err(lost)?.into_parts();
    let (message, trailers) = whole(body).await.map_err(lost)?;
    // A call that fails at once has its status in the head, and neither a message nor trailers.
    check_status(trailers.as_ref().unwrap_or(&head.headers))?;
    unframed(message)
}

async fn whole(mut body: RecvStream) -> Result<(BytesMut, Option<HeaderMap>), h2::Error> {
    let mut message = BytesMut::new();
    while let Some(part) = body.data().await {
        let part = part?;
        body.flow_control().release_capacity(part.len())?;
        message.extend_from_slice(&part);
    }
    Ok((message, body.trailers().await?))
}

fn framed(message: &impl Message) -> Bytes {
    let length = message.encoded_len();
    let mut frame = BytesMut::with_capacity(PREFIX_BYTES + length);
    frame.put_u8(0);
    frame.put_u32(length as u32);
    message.encode_raw(&mut frame);
    frame.freeze()
}

fn unframed(mut frame: BytesMut) -> Result<Bytes, Failure> {
    if frame.len() < PREFIX_BYTES || frame.get_u8() != 0 || frame.get_u32() as usize != frame.len() {
        return Err(Failure::Lost("an answer that is no gRPC message; is the server an etcd?".into()));
    }
    Ok(frame.freeze())
}

fn check_status(headers: &HeaderMap) -> Result<(), Failure> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    match text("grpc-status") {
        Some("0") => Ok(()),
        Some(status) => Err(Failure::Refused(format!(
            "{} (gRPC status {status})",
            text("grpc-message").unwrap_or("no message")
        ))),
        None => Err(Failure::Lost("an answer without a gRPC status; is the server an etcd?".into())),
    }
}

fn lost(error: h2::Error) -> Failure {
    Failure::Lost(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ycsb::store::etcd::messages::RangeRequest;

    #[test]
    fn a_message_is_framed_as_grpc_says() {
        let question = RangeRequest { key: b"k".to_vec(), ..RangeRequest::default() };
        // Not compressed, three bytes; field 1, of one byte, "k".
        assert_eq!(framed(&question)[..], [0, 0, 0, 0, 3, 0x0a, 1, b'k']);
        assert_eq!(unframed(BytesMut::from(&framed(&question)[..])).unwrap()[..], [0x0a, 1, b'k']);
        assert!(unframed(BytesMut::from(&[0, 0, 0, 0, 3, 0x0a][..])).is_err());
    }

    #[test]
    fn a_status_other_than_zero_is_a_refusal_with_the_servers_words() {
        let mut headers = HeaderMap::new();
        assert!(matches!(check_status(&headers), Err(Failure::Lost(_))));
        headers.insert("grpc-status", "14".parse().unwrap());
        headers.insert("grpc-message", "etcdserver: no leader".parse().unwrap());
        let refusal = Failure::Refused("etcdserver: no leader (gRPC status 14)".into());
        assert_eq!(check_status(&headers), Err(refusal));
    }
}
