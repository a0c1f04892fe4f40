//! `traffic-serve`: one node's part in runs, one run after another.
//!
//! It listens for data on a TCP port and for orders on a Unix socket. A run that is called off (the other end of the
//! socket closed) leaves nothing behind but these two sockets.

use std::io::{self, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{channel, Receiver, Sender};
use std::sync::Arc;

use super::control::{hear, say, Order, Received, Report, Task};
use super::incoming::{accept_for_ever, Desk, Expected};
use super::outgoing::{self, Finished};
use super::start::Start;
use crate::clock::monotonic_ns;
use crate::stop::{Stop, StopReason};

/// What a run waits for.
enum Event {
    Order(Order),
    /// The other end closed, or sent what cannot be understood.
    Closed(String),
    Connected,
    Sent(Result<Finished, String>),
    Received(Result<Received, String>),
}

/// Listens from now on, for data and for orders; returns the address of the former.
pub fn start(listen: &str, control: &Path) -> Result<String, String> {
    let refused = |error: io::Error| {
        format!("listen on \"{listen}\": {error}; write a local ADDRESS:PORT that is free")
    };
    let data = TcpListener::bind(listen).map_err(refused)?;
    let address = data.local_addr().map_err(refused)?.to_string();
    let orders = UnixListener::bind(control).map_err(|error| {
        format!("listen on \"{}\": {error}; write a new file in a folder that is there", control.display())
    })?;
    let desk = Arc::new(Desk::default());
    std::thread::spawn({
        let desk = Arc::clone(&desk);
        move || accept_for_ever(&data, &desk)
    });
    std::thread::spawn({
        let address = address.clone();
        move || {
            for run in orders.incoming() {
                if let Err(error) = run.and_then(|control| serve(control, &address, &desk)) {
                    eprintln!("crosswind-load: run given up: {error}");
                }
            }
        }
    });
    Ok(address)
}

/// Takes part in one run.
fn serve(mut control: UnixStream, address: &str, desk: &Arc<Desk>) -> io::Result<()> {
    say(&mut control, &Report::Listening { address: address.into() })?;
    let (events, happening) = channel();
    listen_for_orders(control.try_clone()?, events.clone());
    let task = match happening.recv() {
        Ok(Event::Order(Order::Prepare(task))) => task,
        Ok(Event::Closed(_)) | Err(_) => return Ok(()), // the peer only checked whether this node is there
        Ok(_) => return Err(io::Error::other("the first order must be prepare")),
    };
    if let Err(why) = task.check() {
        say(&mut control, &Report::Failed { message: why.clone() })?;
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let (start, stop) = (Arc::new(Start::unknown()), Arc::new(Stop::new()));
    expect(&task, desk, &start, &events);
    let result = say(&mut control, &Report::Prepared)
        .and_then(|()| take_part(&mut control, &task, (&start, &stop), &events, &happening));
    // Ends everything of the run that still goes on; after a normal end there is nothing left.
    start.call_off();
    stop.request(StopReason::Signal(libc::SIGTERM as u8));
    desk.forget(task.run);
    match result {
        Ok(()) => Ok(()),
        Err(error) => {
            // The other end may have closed, which is then known there.
            let _ = say(&mut control, &Report::Failed { message: error.to_string() });
            Err(error)
        }
    }
}

fn take_part(
    control: &mut UnixStream,
    task: &Task,
    (start, stop): (&Arc<Start>, &Arc<Stop>),
    events: &Sender<Event>,
    happening: &Receiver<Event>,
) -> io::Result<()> {
    let mut sent: Option<Finished> = None;
    let mut received = Vec::new();
    while sent.is_none() || received.len() < task.incoming.len() {
        match happening.recv().map_err(io::Error::other)? {
            Event::Order(Order::Connect) => connect(task, start, stop, events),
            Event::Connected => say(control, &Report::Connected)?,
            Event::Order(Order::Start { at_ns }) => {
                let now_ns = monotonic_ns();
                if now_ns >= at_ns {
                    let late_us = (now_ns - at_ns) / 1000;
                    return Err(io::Error::other(format!(
                        "the order to start came {late_us} us late; this machine is too busy, try again"
                    )));
                }
                start.set(at_ns);
            }
            Event::Sent(result) => sent = Some(result.map_err(io::Error::other)?),
            Event::Received(result) => received.push(result.map_err(io::Error::other)?),
            Event::Order(Order::Prepare(_)) => return Err(io::Error::other("a run is prepared once")),
            Event::Closed(why) => return Err(io::Error::other(why)),
        }
    }
    let Some(Finished { mut done, rows }) = sent else { unreachable!("the loop ends with it") };
    received.sort_by_key(|one| one.number);
    done.received = received;
    say(control, &Report::Done(done))?;
    control.write_all(&rows)
}

fn listen_for_orders(control: UnixStream, events: Sender<Event>) {
    std::thread::spawn(move || {
        let mut control = BufReader::new(control);
        loop {
            let event = match hear(&mut control) {
                Ok(Some(order)) => Event::Order(order),
                Ok(None) => Event::Closed("called off".into()),
                Err(error) => Event::Closed(format!("no order: {error}")),
            };
            let is_over = matches!(event, Event::Closed(_));
            // The run may have ended by itself.
            if events.send(event).is_err() || is_over {
                return;
            }
        }
    });
}

fn expect(task: &Task, desk: &Arc<Desk>, start: &Arc<Start>, events: &Sender<Event>) {
    for incoming in &task.incoming {
        let events = events.clone();
        let expected = Expected {
            load: task.load.clone(),
            congestion_control: incoming.congestion_control.clone(),
            start: Arc::clone(start),
            done: Box::new(move |result| {
                let _ = events.send(Event::Received(result)); // the receiver is gone once the run is called off
            }),
        };
        desk.expect(task.run, incoming.number, expected);
    }
}

fn connect(task: &Task, start: &Arc<Start>, stop: &Arc<Stop>, events: &Sender<Event>) {
    let (task, start, stop, events) = (task.clone(), Arc::clone(start), Arc::clone(stop), events.clone());
    std::thread::spawn(move || {
        let told = events.clone();
        let result = outgoing::run(&task, &start, &stop, move || {
            let _ = told.send(Event::Connected);
        });
        let _ = events.send(Event::Sent(result)); // as above
    });
}
