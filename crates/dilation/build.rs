//! Links the image: the code that every dilated process has, an ELF file of its own. Other CPUs have none yet.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=image");
    for shared in ["calls", "layout", "map"] {
        println!("cargo::rerun-if-changed=src/{shared}.rs");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let image = out.join("image.so");
    if env::var("CARGO_CFG_TARGET_ARCH").as_deref() != Ok("x86_64") {
        std::fs::write(image, b"").expect("write an empty image");
        return;
    }
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let object = out.join("image.o");
    // One object without references to anything else: what is missing, a message of a panic for example, does not link.
    let flags =
        "--crate-type=lib --crate-name=image --edition=2021 --emit=obj -Copt-level=2 -Ccodegen-units=1 \
                 -Cpanic=abort -Crelocation-model=pic -Cforce-unwind-tables=yes -Cdebug-assertions=off \
                 -Coverflow-checks=off -Clto=off";
    let mut compile = Command::new(&rustc);
    compile.args(flags.split_whitespace()).args(["--target", &target]).arg("-o").arg(&object);
    succeed(compile.arg("image/image.rs"));
    let mut link = linker(&rustc);
    let flags = "-shared -nostdlib -soname=linux-vdso.so.1 --hash-style=both --eh-frame-hdr -Bsymbolic --no-undefined \
                 -z noexecstack --build-id=none --strip-all --version-script=image/image.map -T image/image.ld";
    succeed(link.args(flags.split_whitespace()).arg("-o").arg(&image).arg(&object));
}

/// Rust's own linker, which links for every target, or the machine's where Rust was installed without it.
fn linker(rustc: &std::ffi::OsStr) -> Command {
    let sysroot = Command::new(rustc).args(["--print", "sysroot"]).output().expect("rustc runs");
    let sysroot = String::from_utf8(sysroot.stdout).expect("a path in UTF-8");
    let host = env::var("HOST").expect("cargo sets HOST");
    let own = Path::new(sysroot.trim()).join("lib/rustlib").join(host).join("bin/rust-lld");
    if own.exists() {
        let mut command = Command::new(own);
        command.args(["-flavor", "gnu"]);
        return command;
    }
    Command::new("ld")
}

fn succeed(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(status.success(), "{command:?}: {status}");
}
