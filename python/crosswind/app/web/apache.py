"""Apache httpd with the event MPM: a fixed pool of threads."""

from typing import ClassVar

from crosswind.app.requirements import DebianPackages
from crosswind.app.web.server import PORT, Site, WebServer

THREADS_PER_PROCESS = 64

# The pool has a fixed size, one thread for each connection; otherwise processes would start during the
# measurement. Connections never time out; otherwise only some requests would need a handshake. The error log
# is written through `cat`: the agent opens the log file, and an unprivileged account may not reopen
# /dev/stderr.
_CONFIGURATION = """\
ServerRoot "{folder}"
ServerName {address}
Listen {address}:{port}
PidFile "{folder}/httpd.pid"
DefaultRuntimeDir "{folder}"
ErrorLog "||/bin/cat"
LogLevel notice
LoadModule mpm_event_module "${{MODULES}}/mod_mpm_event.so"
LoadModule authz_core_module "${{MODULES}}/mod_authz_core.so"
ServerLimit {processes}
StartServers {processes}
ThreadLimit {threads}
ThreadsPerChild {threads}
MaxRequestWorkers {workers}
MinSpareThreads 1
MaxSpareThreads {workers}
MaxConnectionsPerChild 0
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 86400
EnableSendfile On
DocumentRoot "{objects}"
"""


class Apache(WebServer):
    """Debian's apache2, with the two modules that it needs to serve files."""

    packages: ClassVar[DebianPackages] = DebianPackages(
        "apache", packages=("apache2-bin",), programs=("apache2",)
    )

    @property
    def env(self) -> dict[str, str]:
        return {**super().env, "MODULES": str(self.packages.root / "usr/lib/apache2/modules")}

    def configuration(self, site: Site) -> str:
        processes = -(-site.connections // THREADS_PER_PROCESS)
        return _CONFIGURATION.format(
            folder=site.folder,
            address=site.address,
            port=PORT,
            processes=processes,
            threads=THREADS_PER_PROCESS,
            workers=processes * THREADS_PER_PROCESS,
            objects=site.objects,
        )

    def command(self, site: Site) -> list[object]:
        apache = self.packages.program("apache2").path
        return [apache, "-d", site.folder, "-f", site.configuration, "-D", "FOREGROUND"]
