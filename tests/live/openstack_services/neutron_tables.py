"""Create Neutron's tables from its models: its migrations since 2014 would take a minute.

Runs in the services' own virtual environment. Usage: neutron_tables.py URL
"""

import sys

import sqlalchemy
from neutron.db.migration.models import head


def main() -> None:
    head.get_metadata().create_all(sqlalchemy.create_engine(sys.argv[1]))


if __name__ == "__main__":
    main()
