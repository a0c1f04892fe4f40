"""nginx: worker processes, each with an event loop."""

from typing import ClassVar

from crosswind.app.requirements import DebianPackages
from crosswind.app.web.server import PORT, Site, WebServer

# The cores of a small machine; a number that depended on the machine would change results with it.
WORKERS = 2

# Connections never time out; otherwise only some requests would need a handshake. Every path whose default is
# outside our folder is set.
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
    """Debian's nginx, without modules in separate files."""

    packages: ClassVar[DebianPackages] = DebianPackages(
        "nginx", packages=("nginx-light",), programs=("nginx",)
    )

    def configuration(self, site: Site) -> str:
        return _CONFIGURATION.format(
            workers=WORKERS,
            # One worker may accept all of them.
            connections=site.connections + 64,
            address=site.address,
            port=PORT,
            objects=site.objects,
        )

    def command(self, site: Site) -> list[object]:
        # -e: without it, nginx opens its default log before it reads the configuration.
        nginx = self.packages.program("nginx").path
        return [nginx, "-p", f"{site.folder}/", "-c", site.configuration, "-e", "stderr"]
