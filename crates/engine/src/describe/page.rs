//! The page of the manual that a source file begins with: its `//!` lines.

use alloc::string::String;
use alloc::vec::Vec;

use super::Object;

/// A source file, whose head is a page of the manual.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// Its path from the root of the repository.
    pub file: &'static str,
    /// All of it.
    pub source: &'static str,
}

impl Page {
    /// The head, as Markdown.
    pub fn text(&self) -> String {
        let head = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        head.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n").trim().into()
    }

    /// Adds it to what is said of an element or a variant.
    pub(super) fn describe(&self, described: &mut Object) {
        // Who builds the crate from elsewhere has the whole path.
        let file = self.file.rfind("crates/").map_or(self.file, |begin| &self.file[begin..]);
        described.insert("file".into(), file.into());
        described.insert("page".into(), self.text().into());
    }
}

/// The page of the file that says `page!("its_name.rs")`.
macro_rules! page {
    ($name:literal) => {
        crate::describe::Page { file: file!(), source: include_str!($name) }
    };
}
pub(crate) use page;
