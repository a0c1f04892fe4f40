//! Divides a fabric into domains, with a packet thread for each.

use crosswind_fabric::{Domains, Fabric};

use crate::crossings::LEAST_CUT_NS;
use crate::Files;

/// The domains of a fabric; `None` where it is not divided.
///
/// # Errors
/// When the requested division is impossible.
pub fn domains(fabric: &Fabric) -> Result<Option<Domains>, String> {
    if fabric.domains.is_one() {
        return Ok(None);
    }
    let domains = Domains::of(fabric, &fabric.domains, &[], LEAST_CUT_NS);
    domains.map(|domains| Some(domains).filter(|it| it.count() > 1)).map_err(|error| error.to_string())
}

/// Refuses files that several packet threads of one machine cannot write.
///
/// # Errors
/// An error text with the remedy.
pub fn check_files(domains: Option<&Domains>, files: &Files) -> Result<(), String> {
    let asked = match files {
        Files { record: Some(_), .. } => "a recording",
        Files { capture: Some(_), .. } => "a capture",
        Files { record: None, capture: None } => return Ok(()),
    };
    domains.map_or(Ok(()), |domains| {
        Err(format!("{asked} needs one domain, but the fabric has {}; declare domains: 1", domains.count()))
    })
}
