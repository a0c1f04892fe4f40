//! Captures from anywhere: damage and cuts are a reason, and what was read before them adds up.

use crosswind_simulator::capture;

/// Any file.
pub fn capture_file(input: &[u8]) {
    let Ok(found) = capture(input, 200_000_000) else { return };
    let left_out: u64 = found.left_out.values().sum();
    assert!(left_out <= found.packets, "{left_out} of {} packets left out", found.packets);
    let sent: u64 = found.flows.iter().map(|flow| flow.figures.packets).sum();
    assert_eq!(sent, found.sum.packets);
    assert!(sent <= found.packets - left_out);
    for flow in &found.flows {
        assert_eq!(flow.figures.timeouts, flow.silences.len() as u64);
        assert!(flow.figures.timeouts <= flow.figures.retransmissions);
        assert!(flow.figures.retransmissions <= flow.figures.packets);
    }
    assert!(found.ended.is_none_or(|reason| !reason.is_empty()));
    serde_json::to_string(&found.sum).expect("numbers can be written");
}
