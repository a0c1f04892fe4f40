// Sleeps 0.1 s in a thread and prints how long that took.
use std::time::{Duration, Instant};

fn main() {
    let began = Instant::now();
    std::thread::spawn(|| std::thread::sleep(Duration::from_millis(100))).join().unwrap();
    println!("{}", began.elapsed().as_secs_f64());
}
