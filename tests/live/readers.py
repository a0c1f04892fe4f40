"""Programs that read in a test what Crosswind exports: python tests/live/readers.py installs them.

Debian has Prometheus and Wireshark. Jaeger is built, which takes minutes.
"""

from crosswind.app.requirements import DebianPackages
from crosswind.app.requirements.go_program import GoProgram
from crosswind.errors import CrosswindError

PROMETHEUS = DebianPackages("prometheus", packages=("prometheus",), programs=("prometheus",))
# Wireshark without its window.
TSHARK = DebianPackages("tshark", packages=("tshark",), programs=("tshark",))
# The last of version 1, whose `main` is a package of its module and which needs no file of settings.
JAEGER = GoProgram(
    "jaeger-all-in-one",
    "v1.76.0",
    "github.com/jaegertracing/jaeger",
    "github.com/jaegertracing/jaeger/cmd/all-in-one",
)

if __name__ == "__main__":
    for reader in (PROMETHEUS, TSHARK, JAEGER):
        try:
            reader.install(print)
        except CrosswindError as reason:
            print(f"tests that need {reader.name} will be skipped: {reason}")
