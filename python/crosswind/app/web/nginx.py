"""nginx: worker processes with an event loop each."""

from typing import ClassVar

from crosswind.app.requirements import DebianPackages
from crosswind.app.web.server import PORT, Site, WebServer

# As many as a small machine has cores; a number that followed the machine would change results with it.
WORKERS = 2

# Connections are kept for ever, or some requests would pay for a handshake and others not. Every path that
# has a default outside of our folder is set.
_CONFIGURATION = """\
daemon off;
worker_processes {workers};
pid nginx.pid;
error_log stderr notice;
events {{ worker_connections {connections}; }}
http {{
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_timeout 1d;
  keepalive_requests 1000000000;
  client_body_temp_path temporary-1;
  proxy_temp_path temporary-2;
  fastcgi_temp_path temporary-3;
  uwsgi_temp_path temporary-4;
  scgi_temp_path temporary-5;
  server {{ listen {address}:{port} backlog=1024; root {objects}; }}
}}
"""


class Nginx(WebServer):
    """Debian's nginx, without any of its modules that are files of their own."""

    packages: ClassVar[DebianPackages] = DebianPackages(
        "nginx", packages=("nginx-light",), programs=("nginx",)
    )

    def configuration(self, site: Site) -> str:
        return _CONFIGURATION.format(
            workers=WORKERS,
            # A worker may happen to accept all of them.
            connections=site.connections + 64,
            address=site.address,
            port=PORT,
            objects=site.objects,
        )

    def command(self, site: Site) -> list[object]:
        # -e: without it nginx opens its default log before it reads where the log is to be.
        nginx = self.packages.program("nginx").path
        return [nginx, "-p", f"{site.folder}/", "-c", site.configuration, "-e", "stderr"]
