//! Reno: one more packet per round trip; a loss halves the window.
//!
//! Source: RFC 5681, 3.1.

use super::Window;

/// RFC 5681, 3.1, equation 4: "ssthresh = max (FlightSize / 2, 2*SMSS)". As Linux, from the window instead of what is in
/// flight.
pub(super) fn threshold_after_loss(window: &Window) -> u32 {
    (window.packets / 2).max(2)
}
