"""iperf3: an application of its own here, and the generator of real interference under any other."""

from crosswind.app.requirements.debian import DebianPackages

IPERF3 = DebianPackages("iperf3", packages=("iperf3",), programs=("iperf3",))
