#!/usr/bin/env bash
# Gets what the tests can use and this machine lacks. What cannot be had is no error here: its tests say SKIPPED and why.
# All at once: downloads wait while compilers work.
set -u
cd "$(dirname "$0")/.."

missing() { ! command -v "$1" >/dev/null 2>&1; }

# Programs of applications go into crosswind's own folder; nothing of the system is touched.
apps() { .venv/bin/crosswind apps install "$@" || echo "tests that need $* will be skipped"; }

packages() {
    local absent="$1"
    shift
    if [ "$(id -u)" = 0 ] && ! missing apt-get; then
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null ||
            echo "$absent could not be installed; its tests will be skipped"
    else
        echo "$absent is missing and this is not root on Debian; its tests will be skipped"
    fi
}

system() {
    # Open vSwitch carries experiments of some tests; its service stays off.
    missing ovs-vswitchd && ! [ -x /usr/sbin/ovs-vswitchd ] && packages openvswitch-switch openvswitch-switch
    # A browser to open the report in, ping, iproute2 and tcpdump to look at networks, a firewall to stand in the way, and sshd for
    # machines.
    if missing chromium || missing ping || missing ip || missing tcpdump || missing nft || ! [ -x /usr/sbin/sshd ]; then
        packages "chromium, iputils-ping, iproute2, tcpdump, nftables or openssh-server" \
            chromium iputils-ping iproute2 tcpdump nftables openssh-client openssh-server
    fi
}

# Axe finds what hinders people in a page who use a screen reader or a keyboard.
axe() { npm ci --silent --no-audit --no-fund --prefix tests/axe || echo "axe-core could not be installed; its tests will be skipped"; }

system &
axe &
# Prometheus and Jaeger read in a test what Crosswind exports.
.venv/bin/python tests/live/readers.py &
# Spark brings 500 MB of archives, HDFS another 60 MB into the same folder, Cassandra 66 MB.
{ apps spark spark/hdfs; apps ycsb/cassandra; } &
# PyTorch is 150 MB. Vegeta is built where there is a Go.
{ apps training; apps hpcc; apps memcached web dns; } &
apps ycsb/postgresql ycsb/redis ycsb/etcd ycsb/ferretdb iperf3 nuttcp sockperf
# Debian 12 has Valkey in its backports only, which not every mirror has.
apps ycsb/valkey
# A wheel of 42 MB for x86-64.
apps ycsb/mongodb
wait
exit 0
