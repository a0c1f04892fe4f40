//! Where things are in the running kernel: its types, as it describes them (BTF).
//!
//! Source: kernel documentation, bpf/btf.rst.

use std::fs;
use std::io;

const KIND_INT: u32 = 1;
const KIND_STRUCT: u32 = 4;
const KIND_FUNCTION: u32 = 12;
const MAGIC: u16 = 0xeb9f;
const HEADER_BYTES: usize = 24;
const TYPE_BYTES: usize = 12;
const MEMBER_BYTES: usize = 12;

/// All types of the kernel, but not those of its modules.
pub struct Types {
    bytes: Vec<u8>,
    /// Where names begin in `bytes`.
    strings: usize,
    /// By number; the first is `void`.
    heads: Vec<Head>,
}

#[derive(Clone, Copy, Default)]
struct Head {
    kind: u32,
    name: usize,
    size: u32,
    /// Members of a structure: where they begin in `bytes`, and their number.
    members: (usize, usize),
}

/// A structure.
pub struct Structure<'a> {
    types: &'a Types,
    pub number: u32,
    pub size: u32,
    members: (usize, usize),
}

/// A member of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its place among the members, and its offset in bytes.
    pub index: u32,
    pub offset: u32,
}

impl Types {
    pub fn of_the_kernel() -> io::Result<Self> {
        let bytes = fs::read("/sys/kernel/btf/vmlinux")?;
        Self::parse(bytes).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the kernel's BTF"))
    }

    fn parse(bytes: Vec<u8>) -> Option<Self> {
        if bytes.get(..2)? != MAGIC.to_ne_bytes() {
            return None;
        }
        let [header, types, types_length, strings] = [4, 8, 12, 16].map(|at| number(&bytes, at));
        let begin = header? as usize;
        let (mut at, strings) = (begin + types? as usize, begin + strings? as usize);
        let end = at + types_length? as usize;
        let mut heads = vec![Head::default()];
        while at < end {
            let [name, information, size] = [0, 4, 8].map(|offset| number(&bytes, at + offset));
            let (kind, count) = (information? >> 24 & 0x1f, (information? & 0xffff) as usize);
            at += TYPE_BYTES;
            heads.push(Head { kind, name: name? as usize, size: size?, members: (at, count) });
            at += match kind {
                KIND_INT | 14 | 17 => 4,                 // INT, VAR, DECL_TAG
                3 => 12,                                 // ARRAY
                KIND_STRUCT | 5 | 15 | 19 => 12 * count, // STRUCT, UNION, DATASEC, ENUM64
                6 | 13 => 8 * count,                     // ENUM, FUNC_PROTO
                _ => 0,
            };
        }
        Some(Self { bytes, strings, heads })
    }

    fn find(&self, kind: u32, name: &str) -> Option<(u32, Head)> {
        let position =
            self.heads.iter().position(|head| head.kind == kind && self.is_called(head.name, name))?;
        Some((position as u32, self.heads[position]))
    }

    fn is_called(&self, at: usize, name: &str) -> bool {
        let found = self.bytes.get(self.strings + at..).unwrap_or_default();
        found.starts_with(name.as_bytes()) && found.get(name.len()) == Some(&0)
    }

    pub fn structure(&self, name: &str) -> io::Result<Structure<'_>> {
        let (number, head) = self.find(KIND_STRUCT, name).ok_or_else(|| lacks(name))?;
        Ok(Structure { types: self, number, size: head.size, members: head.members })
    }

    /// The number of a function.
    pub fn function(&self, name: &str) -> io::Result<u32> {
        Ok(self.find(KIND_FUNCTION, name).ok_or_else(|| lacks(name))?.0)
    }
}

impl Structure<'_> {
    pub fn member(&self, name: &str) -> io::Result<Member> {
        let (begin, count) = self.members;
        let called = |index: &usize| {
            let at = number(&self.types.bytes, begin + index * MEMBER_BYTES);
            at.is_some_and(|at| self.types.is_called(at as usize, name))
        };
        let index = (0..count).find(called).ok_or_else(|| lacks(name))?;
        // The upper eight bits are the width of a bit field, where the structure has one.
        let bits = number(&self.types.bytes, begin + index * MEMBER_BYTES + 8).ok_or_else(|| lacks(name))?;
        Ok(Member { index: index as u32, offset: (bits & 0xff_ffff) / 8 })
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn lacks(name: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("this kernel has no {name}"))
}

/// The least BTF that the kernel accepts: the type `int`.
pub fn least() -> Vec<u8> {
    let strings = b"\0int\0";
    let types = [1, KIND_INT << 24, 4, 32_u32];
    let lengths = [HEADER_BYTES, 0, 16, 16, strings.len()].map(|length| length as u32);
    let mut bytes = MAGIC.to_ne_bytes().to_vec();
    bytes.extend([1, 0]);
    for word in lengths.iter().chain(&types) {
        bytes.extend(word.to_ne_bytes());
    }
    bytes.extend(strings);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_by_name() {
        let mut bytes = least();
        // struct a { int b; int ab; }, after `int`.
        let more = [5, KIND_STRUCT << 24 | 2, 8, 7, 1, 0, 9, 1, 32_u32];
        for (at, word) in [(12, 16 + 36), (16, 16 + 36), (20, 12)] {
            bytes[at..at + 4].copy_from_slice(&u32::to_ne_bytes(word));
        }
        let strings = bytes.split_off(HEADER_BYTES + 16);
        more.iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
        bytes.extend(strings);
        bytes.extend(b"a\0b\0ab\0");
        let types = Types::parse(bytes).unwrap();
        let found = types.structure("a").unwrap();
        assert_eq!((found.number, found.size), (2, 8));
        assert_eq!(found.member("ab").unwrap(), Member { index: 1, offset: 4 });
        assert!(
            found.member("a").is_err() && types.structure("int").is_err() && types.function("a").is_err()
        );
    }

    #[test]
    fn what_is_no_btf_is_refused() {
        assert!(Types::parse(Vec::new()).is_none());
        assert!(Types::parse(vec![0; 64]).is_none());
        let mut cut = least();
        cut.truncate(HEADER_BYTES + 8);
        assert!(Types::parse(cut).is_none());
    }
}
