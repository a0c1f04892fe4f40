"""Networks, and programs in their nodes, of more than one file of tests."""

TWO_NODES = """
topology:
  hosts: 2
  uplink: {rate: 100Mbit/s, delay: 0us, buffer: 64KiB}
  wait: sleep
  nodes: {a: h0, b: h1}
"""
ECHO_SERVER = """
import socket
server = socket.create_server(("", 7000))
print("listening", flush=True)
while True:
    connection, _ = server.accept()
    while data := connection.recv(100):
        connection.sendall(data)
"""
# Prints what became of an exchange on an old connection and of a new one, and how long each took.
CUT_CLIENT = """
import socket, sys, time
server = (sys.argv[1], 7000)
old = socket.create_connection(server)
print("connected", flush=True)
sys.stdin.readline()
for act in (lambda: (old.sendall(b"x"), old.recv(1)), lambda: socket.create_connection(server, 1)):
    old.settimeout(1)
    began = time.monotonic()
    try:
        act()
        what = "passed"
    except OSError as error:
        what = type(error).__name__
    print(what, time.monotonic() - began, flush=True)
"""
