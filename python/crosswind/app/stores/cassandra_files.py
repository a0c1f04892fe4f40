"""The configuration of a Cassandra server: its settings, its logging, and the options of its Java.

Source: Apache Cassandra 5.0, `conf/cassandra.yaml`, `conf/jvm-server.options`, `conf/jvm17-server.options`.
"""

import json
from collections.abc import Sequence
from pathlib import Path

HEAP = "320m"
# One rack, so that the snitch knows that db0 is the nearest replica.
RACK = "dc=crosswind\nrack=crosswind\n"
LOGGING = """\
<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%date{HH:mm:ss.SSS} %level %logger{0}: %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="out"/></root>
</configuration>
"""
# Packages of Java that Cassandra's own options open.
_EXPORTED = (
    "java.base/java.lang.ref",
    "java.base/jdk.internal.misc",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi",
    "java.rmi/sun.rmi.registry",
    "java.rmi/sun.rmi.server",
    "java.sql/java.sql",
    "jdk.unsupported/sun.misc",
)
_OPENED = (
    "java.base/java.io",
    "java.base/java.lang",
    "java.base/java.lang.module",
    "java.base/java.lang.reflect",
    "java.base/java.nio",
    "java.base/java.util",
    "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.loader",
    "java.base/jdk.internal.math",
    "java.base/jdk.internal.module",
    "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect",
    "java.base/jdk.internal.util.jar",
    "java.base/sun.nio.ch",
    "java.rmi/sun.rmi.transport.tcp",
    "jdk.management/com.sun.management.internal",
)


def settings_text(number: int, addresses: Sequence[str]) -> str:
    """Return `cassandra.yaml` of one node, as JSON, which YAML includes.

    Args:
        number: of the node, from 0.
        addresses: of all nodes, in the order of their numbers; all are seeds.
    """
    settings = {
        "cluster_name": "crosswind",
        "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
        "num_tokens": 1,
        "initial_token": str(token(number, len(addresses))),
        "auto_bootstrap": False,
        "listen_address": addresses[number],
        "rpc_address": addresses[number],
        "seed_provider": [
            {
                "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
                "parameters": [{"seeds": ",".join(addresses)}],
            }
        ],
        "endpoint_snitch": "GossipingPropertyFileSnitch",
        # The default: a confirmed write is in the memory of a replica, and within ten seconds on its disk.
        "commitlog_sync": "periodic",
        "commitlog_sync_period": "10000ms",
        # Limits for a small heap.
        "commitlog_segment_size": "8MiB",
        "memtable_heap_space": "64MiB",
        "memtable_offheap_space": "64MiB",
        # The table is emptied before it is filled; no copy of its old content is needed.
        "auto_snapshot": False,
    }
    return json.dumps(settings, indent=2) + "\n"


def token(number: int, nodes: int) -> int:
    """Return the first token of a node, if nodes are evenly spaced on the ring of 2^64 tokens."""
    return -(2**63) + number * 2**64 // nodes


def java_options(folder: Path, agent: Path) -> list[str]:
    """Return the options of a server whose data are below `folder`.

    Args:
        agent: the archive of jamm, which measures objects for the limits of memory.
    """
    return [
        *(f"-Xms{HEAP}", f"-Xmx{HEAP}", "-Xss256k"),
        # Trials take seconds: an optimising compiler would compete with the load and finish after it.
        *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        # A server without memory exits, so the trial fails with that reason.
        "-XX:+ExitOnOutOfMemoryError",
        # No files in /tmp or in a home folder.
        *("-XX:-UsePerfData", f"-Djava.io.tmpdir={folder}/scratch", f"-Djna.tmpdir={folder}/scratch"),
        "-Djdk.attach.allowAttachSelf=true",
        *(f"--add-exports={name}=ALL-UNNAMED" for name in _EXPORTED),
        *(f"--add-opens={name}=ALL-UNNAMED" for name in _OPENED),
        f"-javaagent:{agent}",
        f"-Dcassandra.config=file://{folder}/conf/cassandra.yaml",
        f"-Dcassandra.storagedir={folder}",
        f"-Dlogback.configurationFile=file://{folder}/conf/logback.xml",
        "-Dcassandra-foreground=yes",
        # Tokens are fixed and all nodes are seeds, so a node need not wait before it joins.
        *("-Dcassandra.skip_wait_for_gossip_to_settle=0", "-Dcassandra.ring_delay_ms=1000"),
        "-Dcassandra.load_ring_state=false",
        # Memory overhead of a row, as estimated by a server. Otherwise each server would estimate it at every
        # start, which takes a third of the CPU time of a start.
        "-Dcassandra.memtable.row_overhead_size=181",
    ]
