//! Programs of the agent that run in the kernel: bpf(2), as far as it needs it, without a library and a compiler.
//!
//! A descriptor keeps what it names in the kernel. No descriptor is handed on, so everything ends with the agent, also
//! when it is killed.
//!
//! Source: bpf(2); include/uapi/linux/bpf.h.

mod assembly;
mod btf;
pub mod cubic;
pub mod handshake;

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use assembly::Instruction;

const MAP_CREATE: libc::c_int = 0;
const MAP_UPDATE_ELEM: libc::c_int = 2;
const PROG_LOAD: libc::c_int = 5;
const BTF_LOAD: libc::c_int = 18;
const LINK_CREATE: libc::c_int = 28;
const PROG_TYPE_STRUCT_OPS: u32 = 27;
const MAP_TYPE_STRUCT_OPS: u32 = 26;
const ATTACH_STRUCT_OPS: u32 = 44;
/// BPF_F_LINK, since Linux 6.4: what the map has ends with a link.
const FLAG_LINK: u32 = 1 << 13;

/// The part of `union bpf_attr` that BPF_PROG_LOAD reads here; the kernel takes what follows as zero.
#[repr(C)]
#[derive(Default)]
struct ProgramLoad {
    kind: u32,
    instruction_count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach_kind: u32,
    /// BTF of the program, of its functions and lines.
    described: [u64; 4],
    lines: u32,
    attach_type: u32,
}

/// The same for BPF_LINK_CREATE.
#[repr(C)]
struct LinkCreate {
    /// A program, or a map.
    of: u32,
    target: u32,
    attach_kind: u32,
    flags: u32,
}

/// The same for BPF_MAP_CREATE.
#[repr(C)]
#[derive(Default)]
struct MapCreate {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
    flags: u32,
    inner: u32,
    numa_node: u32,
    name: [u8; 16],
    interface: u32,
    btf: u32,
    key_type: u32,
    value_type: u32,
    kernel_value_type: u32,
}

/// The same for BPF_MAP_UPDATE_ELEM.
#[repr(C)]
struct MapUpdate {
    map: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// The same for BPF_BTF_LOAD.
#[repr(C)]
struct BtfLoad {
    bytes: u64,
    log: u64,
    length: u32,
    log_size: u32,
    log_level: u32,
    padding: u32,
}

/// Hands a program to the kernel, which checks it.
fn load_program(kind: u32, attach_kind: u32, name: &[u8], program: &[Instruction]) -> io::Result<OwnedFd> {
    load_with(
        c"Apache-2.0",
        program,
        ProgramLoad { kind, attach_kind, name: name_of(name), ..Default::default() },
    )
}

/// The same for an operation of the kernel: the number of its structure, and its place there. Only programs whose licence
/// is compatible with the kernel's may call functions of the kernel.
fn load_operation(structure: u32, index: u32, name: &[u8], program: &[Instruction]) -> io::Result<OwnedFd> {
    let attributes = ProgramLoad {
        kind: PROG_TYPE_STRUCT_OPS,
        attach_kind: index,
        attach_type: structure,
        name: name_of(name),
        ..Default::default()
    };
    load_with(c"Dual MIT/GPL", program, attributes)
}

fn load_with(license: &CStr, program: &[Instruction], mut attributes: ProgramLoad) -> io::Result<OwnedFd> {
    attributes.instruction_count = program.len() as u32;
    attributes.instructions = program.as_ptr() as u64;
    attributes.license = license.as_ptr() as u64;
    // SAFETY: the pointers are to a live slice of the length that is given, and to a string with its zero.
    unsafe { make(PROG_LOAD, &attributes) }
}

fn name_of(name: &[u8]) -> [u8; 16] {
    let mut padded = [0; 16];
    padded[..name.len()].copy_from_slice(name);
    padded
}

/// Lets a program run for an object of the kernel, as long as the returned descriptor is open.
fn attach(program: &OwnedFd, target: BorrowedFd<'_>, attach_kind: u32) -> io::Result<OwnedFd> {
    link(program, target.as_raw_fd() as u32, attach_kind)
}

fn link(of: &OwnedFd, target: u32, attach_kind: u32) -> io::Result<OwnedFd> {
    let attributes = LinkCreate { of: of.as_raw_fd() as u32, target, attach_kind, flags: 0 };
    // SAFETY: it has no pointers.
    unsafe { make(LINK_CREATE, &attributes) }
}

/// Gives the kernel a structure of operations, until the returned descriptor is closed.
///
/// `value`: the number of the type that holds it, and its bytes. The structure begins at `begin`; each operation has its
/// offset there. `name` stands at `name_at` of the value.
fn register_operations(
    value: (u32, u32),
    begin: u32,
    operations: &[(u32, OwnedFd)],
    name_at: u32,
    name: &[u8],
) -> io::Result<OwnedFd> {
    let (kernel_value_type, value_bytes) = value;
    let mut content = vec![0_u8; value_bytes as usize];
    for (offset, program) in operations {
        let at = (begin + offset) as usize;
        content[at..at + 8].copy_from_slice(&(program.as_raw_fd() as u64).to_ne_bytes());
    }
    content[name_at as usize..][..name.len()].copy_from_slice(name);
    // The kernel asks for BTF with every map whose value is a type of its own, and does not use it.
    let types = btf::least();
    let attributes = BtfLoad {
        bytes: types.as_ptr() as u64,
        log: 0,
        length: types.len() as u32,
        log_size: 0,
        log_level: 0,
        padding: 0,
    };
    // SAFETY: the pointer is to a live vector of the length that is given.
    let types = unsafe { make(BTF_LOAD, &attributes) }?;
    let attributes = MapCreate {
        kind: MAP_TYPE_STRUCT_OPS,
        key_bytes: 4,
        value_bytes,
        entries: 1,
        flags: FLAG_LINK,
        btf: types.as_raw_fd() as u32,
        kernel_value_type,
        ..Default::default()
    };
    // SAFETY: it has no pointers.
    let map = unsafe { make(MAP_CREATE, &attributes) }?;
    let key = 0_u32;
    let attributes = MapUpdate {
        map: map.as_raw_fd() as u32,
        padding: 0,
        key: std::ptr::from_ref(&key) as u64,
        value: content.as_ptr() as u64,
        flags: 0,
    };
    // SAFETY: the pointers are to a key and a value of the map's sizes.
    unsafe { call(MAP_UPDATE_ELEM, &attributes) }?;
    link(&map, 0, ATTACH_STRUCT_OPS)
}

/// Obeys a command that makes something.
///
/// # Safety
/// As for [`call`].
unsafe fn make<T>(command: libc::c_int, attributes: &T) -> io::Result<OwnedFd> {
    // SAFETY: the caller's promise.
    let number = unsafe { call(command, attributes) }?;
    // SAFETY: such a command answers with a new descriptor, closed on exec, that is ours.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// # Safety
/// `T` is the beginning of the part of `union bpf_attr` for the command, and its pointers are valid.
unsafe fn call<T>(command: libc::c_int, attributes: &T) -> io::Result<i32> {
    // SAFETY: the caller's promise. The kernel reads no more than the size that it is given.
    let answer = unsafe {
        libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), std::mem::size_of::<T>())
    };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(answer as i32)
}
