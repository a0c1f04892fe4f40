"""HDFS of a trial: a fresh name node on `master` and an empty data node on every worker.

Blocks are written to the worker that makes them and to as many others as there are replicas; that crosses the
network, and so does reading a block that has no replica on the reader's node.

Java's own programs are started, not Hadoop's scripts, which are not among the archives of a Maven repository.
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
# Folders that its web servers look for on the class path before they serve anything.
_WEB_FOLDERS = ("hdfs", "datanode", "static")
_LOGGING = """\
log4j.rootLogger=INFO,stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.Target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n
"""
# Exits with 0 once the name node has so many live data nodes and lets clients write.
_PROBE = """\
import json, sys, urllib.request
answer = json.load(urllib.request.urlopen(sys.argv[1], timeout=5))["beans"][0]
sys.exit(answer["NumLiveDataNodes"] < int(sys.argv[2]) or answer["FSState"] != "Operational")
"""


class Hdfs:
    """Name node and data nodes of one trial.

    Args:
        workers: the nodes that get a data node.
        replicas: of every block; at most as many as workers.
    """

    def __init__(self, stage: Stage, workers: list[str], replicas: int) -> None:
        self._stage = stage
        self._workers = workers
        self._replicas = replicas
        self._folder = stage.folder / "hdfs"
        self.processes: list[Process] = []

    @property
    def uri(self) -> str:
        """Its root, as clients write it."""
        return f"hdfs://{MASTER}:{PORT}"

    @property
    def settings(self) -> dict[str, str]:
        """What a client has to be told."""
        return {"dfs.replication": str(self._replicas), "dfs.client.use.datanode.hostname": "true"}

    def start(self) -> None:
        """Format and start; return when every data node is there and clients may write."""
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
                    # Addresses of nodes have names in their hosts files only, never the reverse in a DNS.
                    "dfs.namenode.datanode.registration.ip-hostname-check": "false",
                    # The file system of a trial is thrown away with it, whoever wrote there.
                    "dfs.permissions.enabled": "false",
                    # A data node that is ready need not wait for its turn to be counted.
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
    """Return settings as Hadoop reads them."""
    properties = "".join(
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in settings.items()
    )
    return f'<?xml version="1.0"?>\n<configuration>\n{properties}</configuration>\n'
