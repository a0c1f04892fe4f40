//! The processes of a node as /proc shows them: which are dilated, and what the others are.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;

use crate::image::Image;
use crate::report::Undilated;

/// Looks at every process in /proc but this one and process 1: how many are dilated, and the programs of the others.
/// A process that still runs this one's own program is about to begin another, dilated.
pub fn processes(factor: u64) -> (u64, Vec<String>) {
    let own = std::process::id() as i32;
    let own_program = program_file("self");
    let mut dilated = 0;
    let mut undilated = Vec::new();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    for id in ids.filter(|&id| id != own && id != 1) {
        let Ok(status) = fs::read_to_string(format!("/proc/{id}/status")) else {
            continue;
        };
        let field = |name: &str| {
            status.lines().find_map(|line| line.strip_prefix(name)).map_or("", str::trim).to_owned()
        };
        if field("State:").starts_with(['Z', 'X']) {
            continue;
        }
        if field("Seccomp:") == "2" && Image::factor_of(id) == Some(factor) {
            dilated += 1;
        } else if has_program(id) && (own_program.is_none() || program_file(&id.to_string()) != own_program) {
            undilated.push(program_of(id));
        }
    }
    (dilated, undilated)
}

/// Whether the process still runs a program; one that is ending has given its memory back, and the image with it.
fn has_program(process: i32) -> bool {
    !fs::read_link(format!("/proc/{process}/exe")).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Device and number of the file of the program that a process runs.
fn program_file(process: &str) -> Option<(u64, u64)> {
    fs::metadata(format!("/proc/{process}/exe")).ok().map(|file| (file.dev(), file.ino()))
}

/// Counts equal programs.
pub fn counts(mut programs: Vec<String>) -> Vec<Undilated> {
    programs.sort();
    let equal = programs.chunk_by(|one, other| one == other);
    equal.map(|some| Undilated { program: some[0].clone(), count: some.len() as u64 }).collect()
}

/// The path of the program that a process runs, or its name where the path is not for this user to see.
pub fn program_of(process: i32) -> String {
    let name = || fs::read_to_string(format!("/proc/{process}/comm")).map(|name| name.trim().to_owned());
    let path = fs::read_link(format!("/proc/{process}/exe")).map(|path| path.to_string_lossy().into_owned());
    path.or_else(|_| name()).unwrap_or_else(|_| "unknown".to_owned())
}

/// The file whose code a process has at this address, or what there is instead.
pub fn code_at(process: i32, address: u64) -> String {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    let there = maps.lines().find(|line| {
        let range = line.split_whitespace().next().and_then(|range| range.split_once('-'));
        let [begins, ends] = range.map_or([0, 0], |(begins, ends)| {
            [begins, ends].map(|number| u64::from_str_radix(number, 16).unwrap_or(0))
        });
        (begins..ends).contains(&address)
    });
    let Some(line) = there else { return "unknown code".to_owned() };
    // Range, rights, offset, device and number of the file; its path may have spaces.
    let path = line.find('/').map(|at| line[at..].to_owned());
    path.unwrap_or_else(|| "code made at run time".to_owned())
}

/// How many seccomp filters a process has; `None` where this kernel does not say so, or it is gone.
pub fn filters_of(process: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Seccomp_filters:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_the_image_is_found_and_named() {
        let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        // Nobody else on this machine has that factor.
        let (dilated, undilated) = processes(997);
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(dilated, 0);
        assert!(undilated.iter().any(|program| program.contains("sleep") || program.contains("coreutils")));
    }

    #[test]
    fn equal_programs_are_counted() {
        let programs = ["b", "a", "b"].map(str::to_owned).to_vec();
        let all = [("a", 1), ("b", 2)].map(|(name, count)| Undilated { program: name.to_owned(), count });
        assert_eq!(counts(programs), all);
    }
}
