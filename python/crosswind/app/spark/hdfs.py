"""HDFS of a trial: a fresh name node on `master` and an empty data node on every worker.

The first replica of a block is on the worker that writes it, the others are on other workers. Writing these
crosses the network, and so does reading a block without a replica on the reader's node.

The Java classes are started directly, because Maven repositories do not have Hadoop's scripts.
"""

from urllib.parse import quote
from xml.sax.saxutils import escape

from crosswind.app.base import Stage
from crosswind.app.spark import programs
from crosswind.app.spark.cluster import DAEMON_OPTIONS, MASTER, READY_S
from crosswind.app.spark.files import make_folder
from crosswind.testbed.agent import Ended
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Process

PORT = 9000
HTTP_PORT = 9870
HEAP = "256m"
_NAME_NODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
_DATA_NODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"
# Folders that its web servers need on the class path.
_WEB_FOLDERS = ("hdfs", "datanode", "static")
_LOGGING = """\
log4j.rootLogger=INFO,stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.Target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n
"""
# Exits with 0 once the name node has the given number of live data nodes and lets clients write.
_PROBE = """\
import json, sys, urllib.request
answer = json.load(urllib.request.urlopen(sys.argv[1], timeout=5))["beans"][0]
sys.exit(answer["NumLiveDataNodes"] < int(sys.argv[2]) or answer["FSState"] != "Operational")
"""


class Hdfs:
    """Name node and data nodes of one trial.

    Args:
        workers: the nodes that get a data node.
        replicas: of every block; at most the number of workers.
    """

    def __init__(self, stage: Stage, workers: list[str], replicas: int) -> None:
        self._stage = stage
        self._workers = workers
        self._replicas = replicas
        self._folder = stage.folder / "hdfs"
        self.processes: list[Process] = []

    @property
    def uri(self) -> str:
        """The URI of its root, for clients."""
        return f"hdfs://{MASTER}:{PORT}"

    @property
    def settings(self) -> dict[str, str]:
        """Properties that every client needs."""
        return {"dfs.replication": str(self._replicas), "dfs.client.use.datanode.hostname": "true"}

    def start(self) -> None:
        """Format and start HDFS; return when all data nodes are live and clients can write."""
        self._configure()
        formatting = self._java(MASTER, "format", _NAME_NODE, "-format", "-nonInteractive", "-force")
        ended = formatting.wait(READY_S)
        if ended != Ended(0, None):
            raise TestbedError(f"{formatting}: {ended or 'still running'}; {formatting.last_words()}")
        self.processes = [self._java(MASTER, "namenode", _NAME_NODE)]
        self.processes += [self._java(worker, "datanode", _DATA_NODE) for worker in self._workers]
        query = quote("Hadoop:service=NameNode,name=FSNamesystemState", safe=":=,")
        address = f"http://{MASTER}:{HTTP_PORT}/jmx?qry={query}"
        self._stage.fabric.probe(
            MASTER,
            "hdfs-ready",
            [programs.python(), "-c", _PROBE, address, len(self._workers)],
            cwd=self._folder,
            timeout_s=READY_S,
            alive=self.processes,
        )

    def _configure(self) -> None:
        conf = self._folder / "conf"
        for folder in (self._folder, conf):
            make_folder(self._stage, folder)
        for name in _WEB_FOLDERS:
            (conf / "webapps" / name).mkdir(parents=True)
        (conf / "log4j.properties").write_text(_LOGGING)
        (conf / "core-site.xml").write_text(_configuration({"fs.defaultFS": self.uri}))
        (conf / "hdfs-site.xml").write_text(
            _configuration(
                {
                    **self.settings,
                    "dfs.namenode.name.dir": f"file://{self._folder}/names",
                    "dfs.namenode.http-address": f"{MASTER}:{HTTP_PORT}",
                    "dfs.datanode.data.dir": f"file://{self._folder}/${{crosswind.node}}",
                    "dfs.datanode.hostname": "${crosswind.node}",
                    # Only hosts files have the names of nodes; there is no DNS to look up an address.
                    "dfs.namenode.datanode.registration.ip-hostname-check": "false",
                    # The file system is deleted with the trial, so its owners do not matter.
                    "dfs.permissions.enabled": "false",
                    # Clients can write as soon as all data nodes have registered.
                    "dfs.namenode.safemode.extension": "0",
                }
            )
        )

    def _java(self, node: str, name: str, main: str, *arguments: str) -> Process:
        scratch = self._folder / f"scratch-{node}"
        make_folder(self._stage, scratch)
        options = DAEMON_OPTIONS.format(scratch=scratch).split()
        class_path = f"{self._folder / 'conf'}:{programs.HDFS.folder}/*"
        command: list[object] = [
            programs.java(),
            *(f"-Xmx{HEAP}", *options, f"-Dcrosswind.node={node}"),
            *("-cp", class_path, main, *arguments),
        ]
        return self._stage.fabric.start(
            node, name, command, cwd=scratch, env=programs.environment() | {"HADOOP_USER_NAME": "spark"}
        )


def _configuration(settings: dict[str, str]) -> str:
    """Return properties as an XML file of Hadoop."""
    properties = "".join(
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in settings.items()
    )
    return f'<?xml version="1.0"?>\n<configuration>\n{properties}</configuration>\n'
