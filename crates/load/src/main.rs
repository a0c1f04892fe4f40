//! The program `crosswind-load`; see the library.

fn main() -> std::process::ExitCode {
    crosswind_load::main()
}
