//! Three-colour meters as they cross from Python to the agent, what they must satisfy, and what they are in the engine.

use std::num::NonZeroU64;

use crosswind_engine::{ColourActions, ElementSpec, SrtcmSpec, TrtcmSpec};
use serde::{Deserialize, Serialize};

/// Colours by one rate and two bursts (RFC 2697).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SrtcmEntry {
    /// Committed information rate, IP bits per second.
    pub cir_bps: NonZeroU64,
    /// Committed burst, IP bytes; 0 or at least one packet.
    pub cbs_bytes: u64,
    /// Excess burst, IP bytes; 0 or at least one packet.
    pub ebs_bytes: u64,
    /// Whether the colours that packets come with count.
    #[serde(default)]
    pub mode: ColourMode,
    /// What is done to green packets.
    #[serde(default)]
    pub green: ColourAction,
    /// What is done to yellow packets.
    pub yellow: ColourAction,
    /// What is done to red packets.
    pub red: ColourAction,
    /// Everywhere when absent.
    #[serde(default)]
    pub on: Option<Vec<String>>,
}

/// Colours by two rates with a burst each (RFC 2698).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrtcmEntry {
    /// Committed information rate, IP bits per second.
    pub cir_bps: NonZeroU64,
    /// Committed burst, IP bytes; at least one packet.
    pub cbs_bytes: u64,
    /// Peak information rate, IP bits per second, at least the committed.
    pub pir_bps: NonZeroU64,
    /// Peak burst, IP bytes; at least one packet.
    pub pbs_bytes: u64,
    /// Whether the colours that packets come with count.
    #[serde(default)]
    pub mode: ColourMode,
    /// What is done to green packets.
    #[serde(default)]
    pub green: ColourAction,
    /// What is done to yellow packets.
    pub yellow: ColourAction,
    /// What is done to red packets.
    pub red: ColourAction,
    /// Everywhere when absent.
    #[serde(default)]
    pub on: Option<Vec<String>>,
}

/// Whether a meter heeds the colour that a packet comes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColourMode {
    /// It does not.
    #[default]
    Blind,
    /// It does, and never improves it.
    Aware,
}

/// What a meter does to packets of one colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColourAction {
    /// Nothing.
    #[default]
    Pass,
    /// Drops them.
    Drop,
    /// Keeps their AF class and sets its drop precedence.
    Remark,
    /// Sets this code point, 0..=63.
    Dscp(u8),
}

impl SrtcmEntry {
    pub(crate) fn check(&self, what: &str, mtu_bytes: u32, wrong: &mut Vec<String>) {
        let bursts = [("cbs", self.cbs_bytes), ("ebs", self.ebs_bytes)];
        if bursts.iter().all(|&(_, bytes)| bytes == 0) {
            wrong.push(format!("{what}: cbs and ebs of 0 bytes colour everything red; give one of them"));
        }
        check_bursts(what, bursts.into_iter().filter(|&(_, bytes)| bytes > 0), mtu_bytes, wrong);
        check_actions(what, [self.green, self.yellow, self.red], wrong);
    }

    pub(crate) fn spec(&self) -> ElementSpec {
        ElementSpec::Srtcm(SrtcmSpec {
            cir: self.cir_bps,
            cbs_bytes: self.cbs_bytes,
            ebs_bytes: self.ebs_bytes,
            mode: self.mode.into(),
            actions: actions(self.green, self.yellow, self.red),
        })
    }
}

impl TrtcmEntry {
    pub(crate) fn check(&self, what: &str, mtu_bytes: u32, wrong: &mut Vec<String>) {
        if self.pir_bps < self.cir_bps {
            wrong
                .push(format!("{what}: pir {} is below cir {}; give pir >= cir", self.pir_bps, self.cir_bps));
        }
        check_bursts(what, [("cbs", self.cbs_bytes), ("pbs", self.pbs_bytes)], mtu_bytes, wrong);
        check_actions(what, [self.green, self.yellow, self.red], wrong);
    }

    pub(crate) fn spec(&self) -> ElementSpec {
        ElementSpec::Trtcm(TrtcmSpec {
            cir: self.cir_bps,
            cbs_bytes: self.cbs_bytes,
            pir: self.pir_bps,
            pbs_bytes: self.pbs_bytes,
            mode: self.mode.into(),
            actions: actions(self.green, self.yellow, self.red),
        })
    }
}

fn check_bursts(
    what: &str,
    bursts: impl IntoIterator<Item = (&'static str, u64)>,
    mtu_bytes: u32,
    wrong: &mut Vec<String>,
) {
    for (name, bytes) in bursts {
        if bytes < u64::from(mtu_bytes) {
            wrong.push(format!(
                "{what}: {name} {bytes} bytes is smaller than one packet; use at least the MTU, {mtu_bytes} bytes"
            ));
        }
    }
}

fn check_actions(what: &str, actions: [ColourAction; 3], wrong: &mut Vec<String>) {
    for action in actions {
        if let ColourAction::Dscp(dscp @ 64..) = action {
            wrong.push(format!("{what}: dscp {dscp} is outside 0 to 63"));
        }
    }
}

fn actions(green: ColourAction, yellow: ColourAction, red: ColourAction) -> ColourActions {
    ColourActions { green: green.into(), yellow: yellow.into(), red: red.into() }
}

impl From<ColourMode> for crosswind_engine::ColourMode {
    fn from(mode: ColourMode) -> Self {
        match mode {
            ColourMode::Blind => Self::Blind,
            ColourMode::Aware => Self::Aware,
        }
    }
}

impl From<ColourAction> for crosswind_engine::ColourAction {
    fn from(action: ColourAction) -> Self {
        match action {
            ColourAction::Pass => Self::Pass,
            ColourAction::Drop => Self::Drop,
            ColourAction::Remark => Self::Remark,
            ColourAction::Dscp(dscp) => Self::Dscp(dscp),
        }
    }
}

#[cfg(test)]
mod tests {
    use crosswind_engine::{Instant, Outcome, Packet};

    use crate::network::tests::{entry, fabric};
    use crate::Network;

    fn wrong_with(element: &str) -> Vec<String> {
        let mut fabric = fabric(2);
        fabric.condition.places.link = Some(vec![entry(element)]);
        fabric.check().map_err(|error| error.0).err().unwrap_or_default()
    }

    #[test]
    fn meters_need_bursts_of_a_packet_and_a_peak_above_the_committed_rate() {
        let srtcm = |cbs: u64, ebs: u64| {
            wrong_with(&format!(
                r#"{{"srtcm": {{"cir_bps": 8, "cbs_bytes": {cbs}, "ebs_bytes": {ebs}, "yellow": "remark", "red": "drop"}}}}"#
            ))
        };
        assert_eq!(srtcm(1500, 0), [""; 0]);
        assert!(srtcm(0, 0)[0].contains("colour everything red"));
        assert!(srtcm(0, 1499)[0].contains("ebs 1499 bytes is smaller than one packet"));
        let trtcm = r#"{"trtcm": {"cir_bps": 8, "cbs_bytes": 0, "pir_bps": 7, "pbs_bytes": 1500, "yellow": "pass",
            "red": {"dscp": 64}}}"#;
        let wrong = wrong_with(trtcm);
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        assert!(wrong[0].contains("pir 7 is below cir 8"));
        assert!(wrong[1].contains("cbs 0 bytes is smaller than one packet"));
        assert!(wrong[2].contains("dscp 64 is outside 0 to 63"));
    }

    #[test]
    fn a_meter_in_front_of_a_switch_colours_what_comes_up() {
        let mut fabric = fabric(2);
        fabric.condition.places = serde_json::from_str(
            r#"{"switch.ingress": [{"srtcm": {"cir_bps": 8, "cbs_bytes": 1500, "ebs_bytes": 1500, "mode": "aware",
                "yellow": "remark", "red": {"dscp": 1}, "on": ["h0"]}}]}"#,
        )
        .unwrap();
        let mut network = Network::new(&fabric, Instant::ZERO).unwrap();
        let (path, alike) = network.path(0, 1);
        assert!(!alike, "the packets of a train may have different colours");
        for tag in 0..3 {
            network.engine().push(Instant::ZERO, path, Packet::real(tag, 1500, 34));
        }
        network.engine().advance(Instant::from_nanos(1_000_000));
        let dscps: Vec<u8> = std::iter::from_fn(|| network.engine().pop())
            .map(|outcome| match outcome {
                Outcome::Departure { packet, .. } => packet.dscp,
                other => panic!("nothing is dropped or duplicated here: {other:?}"),
            })
            .collect();
        assert_eq!(dscps, [34, 36, 1]);
    }
}
