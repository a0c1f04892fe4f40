//! Loss and duplication, from a condition's words to the engine's: what they must satisfy, and what they are there.

use crosswind_engine::{FourStateLaw, GilbertElliottLaw, LossLaw, LossPattern, Share};

use crate::spec::LossEntry;

/// A share that has been checked.
pub(crate) fn share(ppb: u32) -> Share {
    Share::parts_per_billion(ppb).expect("at most the whole: checked")
}

/// Checks the share of packets that something happens to.
pub(crate) fn check_share(share_ppb: u32, what: &str, wrong: &mut Vec<String>) {
    if share_ppb == 0 {
        wrong.push(format!("{what}: share 0 does nothing; leave the element out"));
    }
    check_probability("share", share_ppb, what, wrong);
}

fn check_probability(name: &str, ppb: u32, what: &str, wrong: &mut Vec<String>) {
    if Share::parts_per_billion(ppb).is_none() {
        wrong.push(format!("{what}: {name} {ppb} ppb is above the whole, 1000000000 ppb"));
    }
}

/// Checks a law of loss.
pub(crate) fn check_loss(law: &LossEntry, what: &str, wrong: &mut Vec<String>) {
    match law {
        LossEntry::Bernoulli { share_ppb } => check_share(*share_ppb, what, wrong),
        LossEntry::GilbertElliott { p_ppb, r_ppb, h_ppb, k_ppb } => {
            for (name, ppb) in [("p", p_ppb), ("r", r_ppb), ("h", h_ppb), ("k", k_ppb)] {
                check_probability(name, *ppb, what, wrong);
            }
        }
        LossEntry::FourState { p13_ppb, p31_ppb, p32_ppb, p23_ppb, p14_ppb } => {
            check_probability("p23", *p23_ppb, what, wrong);
            for (name, first, second) in [("p13 + p14", p13_ppb, p14_ppb), ("p31 + p32", p31_ppb, p32_ppb)] {
                check_probability(name, first.saturating_add(*second), what, wrong);
            }
        }
        LossEntry::Trace { pattern } => {
            if pattern_of(pattern).is_none() {
                wrong.push(format!(
                    "{what}: a trace is a text of 0 (received) and 1 (lost) with at least one 0"
                ));
            }
        }
    }
}

/// The engine's law for one that has been checked.
pub(crate) fn loss_law(law: &LossEntry) -> LossLaw {
    match *law {
        LossEntry::Bernoulli { share_ppb } => LossLaw::Bernoulli { share: share(share_ppb) },
        LossEntry::GilbertElliott { p_ppb, r_ppb, h_ppb, k_ppb } => {
            LossLaw::GilbertElliott(GilbertElliottLaw {
                p: share(p_ppb),
                r: share(r_ppb),
                h: share(h_ppb),
                k: share(k_ppb),
            })
        }
        LossEntry::FourState { p13_ppb, p31_ppb, p32_ppb, p23_ppb, p14_ppb } => {
            LossLaw::FourState(FourStateLaw {
                p13: share(p13_ppb),
                p31: share(p31_ppb),
                p32: share(p32_ppb),
                p23: share(p23_ppb),
                p14: share(p14_ppb),
            })
        }
        LossEntry::Trace { ref pattern } => LossLaw::Trace(pattern_of(pattern).expect("checked")),
    }
}

fn pattern_of(text: &str) -> Option<LossPattern> {
    let mark = |mark| match mark {
        b'0' => Some(false),
        b'1' => Some(true),
        _ => None,
    };
    LossPattern::new(&text.bytes().map(mark).collect::<Option<Vec<bool>>>()?)
}
