#!/usr/bin/env bash
# Installs the services of OpenStack for tests/live/test_openstack.py: those from PyPI into .venv/openstack (590 MB in all), MariaDB and
# RabbitMQ from Debian without starting them. Takes a minute.
set -eu
cd "$(dirname "$0")"
ROOT=../../..
"$ROOT/.venv/bin/python" -m venv "$ROOT/.venv/openstack"
"$ROOT/.venv/openstack/bin/pip" install -q --disable-pip-version-check -r requirements.txt
if ! [ -x /usr/sbin/mariadbd ] || ! [ -x /usr/lib/rabbitmq/bin/rabbitmq-server ]; then
    # Without this, Debian would start RabbitMQ as a service.
    if ! [ -e /usr/sbin/policy-rc.d ]; then
        printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
        chmod 755 /usr/sbin/policy-rc.d
        trap 'rm /usr/sbin/policy-rc.d' EXIT
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mariadb-server-core mariadb-client-core rabbitmq-server >/dev/null
fi
