//! The program `crosswind-agent`; see the library.

fn main() -> std::process::ExitCode {
    crosswind_agent::main()
}
