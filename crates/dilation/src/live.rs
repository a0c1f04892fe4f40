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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_the_image_is_found_and_named() {
        let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let (dilated, undilated) = processes(10);
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
