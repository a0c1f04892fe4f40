"""Who listens where, read from tables that Linux 6.18 printed."""

from pathlib import Path

from crosswind.app.command.listening import listening_addresses

CAPTURED = Path(__file__).parent / "captured"
TCP = (CAPTURED / "proc-net-tcp.txt").read_text()
UDP = (CAPTURED / "proc-net-udp.txt").read_text()


def test_a_listening_port_is_found_at_its_address() -> None:
    assert listening_addresses(TCP, 8080) == {"127.0.0.1"}
    assert listening_addresses(TCP, 8081) == {"0.0.0.0"}
    assert listening_addresses(TCP, 8082) == {"::"}


def test_a_connection_is_no_listener() -> None:
    # The client's end of the one connection in the table.
    client = int(next(line for line in TCP.splitlines() if " 01 " in line).split()[1].rpartition(":")[2], 16)
    assert listening_addresses(TCP, client) == set()


def test_udp_has_listeners_of_its_own() -> None:
    assert listening_addresses(UDP, 5353, "udp") == {"0.0.0.0"}
    assert listening_addresses(TCP, 5353) == set()


def test_a_table_that_is_cut_off_is_read_as_far_as_it_goes() -> None:
    for length in range(len(TCP)):
        assert listening_addresses(TCP[:length], 8081) <= {"0.0.0.0"}
