//! The page of the manual at the start of a source file: its `//!` lines.

use alloc::string::String;
use alloc::vec::Vec;

use super::Object;

/// A source file whose header is a page of the manual.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// Its path from the root of the repository.
    pub file: &'static str,
    /// Its whole text.
    pub source: &'static str,
}

impl Page {
    /// The header, as Markdown.
    pub fn text(&self) -> String {
        let head = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        head.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n").trim().into()
    }

    /// Adds the page to the description of an element or a variant.
    pub(super) fn describe(&self, described: &mut Object) {
        // If the crate is built from another folder, this is the whole path.
        let file = self.file.rfind("crates/").map_or(self.file, |begin| &self.file[begin..]);
        described.insert("file".into(), file.into());
        described.insert("page".into(), self.text().into());
    }
}

/// The page of the file in `page!("its_name.rs")`.
macro_rules! page {
    ($name:literal) => {
        crate::describe::Page { file: file!(), source: include_str!($name) }
    };
}
pub(crate) use page;
