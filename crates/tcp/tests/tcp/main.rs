//! Claims about a whole connection: two ends and a pipe between them, in virtual time.

mod claims;
mod pipe;
mod whatever_happens;
