"""iperf3: an application, and the generator of real interference for all other applications."""

from crosswind.app.requirements.debian import DebianPackages

IPERF3 = DebianPackages("iperf3", packages=("iperf3",), programs=("iperf3",))
