//! Objects over HTTP/1.1 end to end, from a server of a few lines that misbehaves on request.

#[allow(dead_code)] // every test file uses a part of it
mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use common::{Folder, Run, Running};

const SOON: Duration = Duration::from_secs(20);

/// Answers each `GET /N` with what `answer` makes of N, on any number of connections, until the test ends.
fn serve(answer: fn(usize) -> Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            std::thread::spawn(move || answer_all(connection, answer));
        }
    });
    address
}

fn answer_all(mut connection: TcpStream, answer: fn(usize) -> Vec<u8>) {
    let mut lines = BufReader::new(connection.try_clone().unwrap()).lines();
    while let Some(Ok(line)) = lines.next() {
        let Some(path) = line.strip_prefix("GET /") else { continue };
        let bytes = path.split(' ').next().unwrap().parse().unwrap();
        if connection.write_all(&answer(bytes)).is_err() {
            return;
        }
    }
}

fn object(status: &str, announced: usize, bytes: usize) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 {status}\r\nContent-Length: {announced}\r\n\r\n").into_bytes();
    answer.resize(answer.len() + bytes, 0);
    answer
}

fn fetch(run: &Run, server: &str, more: &[&str]) -> Running {
    let arguments =
        ["http", "--server", server, "--object-bytes", "1000,200000", "--connections", "2", "--seed", "1"];
    run.start(&[&arguments[..], more].concat())
}

#[test]
fn objects_of_all_sizes_are_fetched_and_their_payload_is_counted() {
    let server = serve(|bytes| object("200 OK", bytes, bytes));
    let folder = Folder::new("http");
    let run = Run::new(&folder);
    let more = ["--rate", "400", "--duration", "0.5", "--warm-up", "0.1"];
    assert_eq!(fetch(&run, &server, &more).exit_code(SOON), Some(0));
    let (rows, summary) = (run.rows(), run.summary());
    assert_eq!(rows.iter().filter(|row| row.measured).count(), 200);
    assert!(rows.iter().all(|row| row.ok && row.operation == "get"));
    // 200 objects, of 1000 or 200000 bytes with equal probability: 100 large ones, standard deviation 7; five of them.
    let payload_bytes = summary["payload_bytes"].as_u64().unwrap();
    let large = (payload_bytes - 200 * 1000) / 199_000;
    assert_eq!(payload_bytes, 200 * 1000 + large * 199_000);
    assert!((65..=135).contains(&large), "{large}");
}

#[test]
fn every_status_but_200_is_an_error_and_the_connection_goes_on() {
    let server = serve(|_| object("404 Not Found", 9, 9));
    let folder = Folder::new("http-404");
    let run = Run::new(&folder);
    assert_eq!(fetch(&run, &server, &["--rate", "100", "--duration", "0.2"]).exit_code(SOON), Some(4));
    let summary = run.summary();
    assert_eq!((&summary["errors"], &summary["payload_bytes"]), (&20.into(), &0.into()));
    assert!(summary["first_error"].as_str().unwrap().contains("status 404 for /"), "{summary}");
    assert_eq!(summary["ended_by"], "plan");
}

#[test]
fn an_object_of_another_size_than_declared_is_an_error() {
    let server = serve(|_| object("200 OK", 5, 5));
    let folder = Folder::new("http-size");
    let run = Run::new(&folder);
    assert_eq!(fetch(&run, &server, &["--rate", "100", "--duration", "0.2"]).exit_code(SOON), Some(4));
    assert!(run.summary()["first_error"].as_str().unwrap().contains(" has 5 bytes"));
}

#[test]
fn more_bytes_than_announced_cost_the_connection() {
    let server = serve(|bytes| object("200 OK", bytes, bytes + 1));
    let folder = Folder::new("http-more");
    let run = Run::new(&folder);
    assert_eq!(fetch(&run, &server, &["--duration", "5"]).exit_code(SOON), Some(4));
    assert_eq!(run.summary()["ended_by"], "connections-lost");
}
