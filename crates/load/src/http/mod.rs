//! Objects over HTTP/1.1: GET requests on persistent connections, one in flight on each.
//!
//! An object is named by its size in bytes: `/1000` has a body of 1000 bytes, and every other length is an error, as is
//! every status but 200. Which object is next is drawn with equal probability from those that were declared.
//!
//! The head of an answer is read by `httparse`, the parser of hyper; everything around it is a blocking socket, as
//! elsewhere here, so that nothing stands between the last byte and the clock.
//!
//! Not supported, and reported as an error: bodies without `Content-Length` (chunked or ended by closing) and servers that
//! close a connection after an answer. Neither happens with files from a server that is configured for persistent connections.
//!
//! Source: RFC 9112, sections 4, 6.3 and 9.3.

pub mod client;
pub mod head;
