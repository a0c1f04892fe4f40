//! Instructions of BPF programs, as far as the agent's need them. A register is its number, an offset in bytes.
//!
//! Register 0 has what a call returns, 1 to 5 its arguments, 6 to 9 outlive calls, and 10 is the end of the stack.
//!
//! Source: RFC 9669.

/// `struct bpf_insn`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    code: u8,
    /// The destination in the lower four bits, the source in the others.
    registers: u8,
    offset: i16,
    immediate: i32,
}

const fn instruction(code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Instruction {
    Instruction { code, registers: to | from << 4, offset, immediate }
}

/// `to` = the 32 bits at `from` + `offset`.
pub const fn load(to: u8, from: u8, offset: i16) -> Instruction {
    instruction(0x61, to, from, offset, 0)
}

/// `to` = the byte at `from` + `offset`.
pub const fn load_byte(to: u8, from: u8, offset: i16) -> Instruction {
    instruction(0x71, to, from, offset, 0)
}

/// `to` = the 64 bits at `from` + `offset`.
pub const fn load_wide(to: u8, from: u8, offset: i16) -> Instruction {
    instruction(0x79, to, from, offset, 0)
}

/// The 32 bits at `to` + `offset` = `from`.
pub const fn store(to: u8, offset: i16, from: u8) -> Instruction {
    instruction(0x63, to, from, offset, 0)
}

/// The 64 bits at `to` + `offset` = `from`.
pub const fn store_wide(to: u8, offset: i16, from: u8) -> Instruction {
    instruction(0x7b, to, from, offset, 0)
}

pub const fn set(to: u8, value: i32) -> Instruction {
    instruction(0xb7, to, 0, 0, value)
}

pub const fn copy(to: u8, from: u8) -> Instruction {
    instruction(0xbf, to, from, 0, 0)
}

/// The lower 32 bits; the others become zero, as of all instructions for 32 bits.
pub const fn copy_32(to: u8, from: u8) -> Instruction {
    instruction(0xbc, to, from, 0, 0)
}

pub const fn add(to: u8, from: u8) -> Instruction {
    instruction(0x0f, to, from, 0, 0)
}

pub const fn add_value(to: u8, value: i32) -> Instruction {
    instruction(0x07, to, 0, 0, value)
}

pub const fn add_32(to: u8, from: u8) -> Instruction {
    instruction(0x0c, to, from, 0, 0)
}

pub const fn subtract_32(to: u8, from: u8) -> Instruction {
    instruction(0x1c, to, from, 0, 0)
}

/// `to` keeps the bits that `value` has.
pub const fn mask(to: u8, value: i32) -> Instruction {
    instruction(0x57, to, 0, 0, value)
}

pub const fn multiply(to: u8, value: i32) -> Instruction {
    instruction(0x27, to, 0, 0, value)
}

/// Without a sign and rounded down, as the remainder.
pub const fn divide(to: u8, value: i32) -> Instruction {
    instruction(0x37, to, 0, 0, value)
}

pub const fn remainder(to: u8, value: i32) -> Instruction {
    instruction(0x97, to, 0, 0, value)
}

/// Skips instructions where a register has this value.
pub const fn skip_if(register: u8, value: i32, instructions: i16) -> Instruction {
    instruction(0x15, register, 0, instructions, value)
}

pub const fn skip_unless(register: u8, value: i32, instructions: i16) -> Instruction {
    instruction(0x55, register, 0, instructions, value)
}

/// Skips instructions where a register has less than this value.
pub const fn skip_if_below(register: u8, value: i32, instructions: i16) -> Instruction {
    instruction(0xa5, register, 0, instructions, value)
}

/// Skips instructions where a register has at most what `other` has.
pub const fn skip_if_at_most(register: u8, other: u8, instructions: i16) -> Instruction {
    instruction(0xbd, register, other, instructions, 0)
}

/// Skips instructions where the lower 32 bits are a negative number.
pub const fn skip_if_negative(register: u8, instructions: i16) -> Instruction {
    instruction(0xc6, register, 0, instructions, 0)
}

/// Calls a helper of BPF by its number.
pub const fn call_helper(number: i32) -> Instruction {
    instruction(0x85, 0, 0, 0, number)
}

/// Calls a function of the kernel by its number in the kernel's BTF.
pub const fn call_kernel(function: i32) -> Instruction {
    instruction(0x85, 0, 2, 0, function)
}

/// Returns register 0.
pub const fn end() -> Instruction {
    instruction(0x95, 0, 0, 0, 0)
}

/// Words of memory, by their offset from the address in any register.
#[cfg(test)]
pub type Memory = std::collections::BTreeMap<i16, u32>;

/// Runs a program without calls to its end, with a value in one register.
#[cfg(test)]
pub fn run(program: &[Instruction], register: u8, value: u32, memory: &mut Memory) {
    let mut registers = [0_u64; 11];
    registers[usize::from(register)] = value.into();
    let mut next = 0;
    while let Some(&Instruction { code, registers: both, offset, immediate }) = program.get(next) {
        next += 1;
        let (to, from) = (usize::from(both & 15), registers[usize::from(both >> 4)]);
        let here = registers[to];
        let low = |wide: u64| u64::from(wide as u32);
        registers[to] = match code {
            0x61 => memory[&offset].into(),
            0x71 => u64::from(memory[&offset]) & 0xff,
            0x57 => here & immediate as u64,
            0x27 => here.wrapping_mul(immediate as u64),
            0xb7 => immediate as u64,
            0xbf => from,
            0xbc => low(from),
            0x0f => here.wrapping_add(from),
            0x0c => low(here.wrapping_add(from)),
            0x1c => low(here.wrapping_sub(from)),
            0x37 => here / immediate as u64,
            0x97 => here % immediate as u64,
            0x63 => {
                memory.insert(offset, from as u32);
                here
            }
            0xa5 | 0xbd => {
                let skips = if code == 0xa5 { here < immediate as u64 } else { here <= from };
                next += if skips { offset as usize } else { 0 };
                here
            }
            0x15 => {
                next += if here == immediate as u64 { offset as usize } else { 0 };
                here
            }
            _ => panic!("instruction {code:#x}"),
        };
    }
}
