"""Serve a WSGI application of OpenStack on loopback; runs in the services' own virtual environment.

Usage: serve.py PORT MODULE
"""

import importlib
import sys

from werkzeug.serving import run_simple


def main() -> None:
    port, module = sys.argv[1:]
    # The application must not take the words of this command line for its own.
    sys.argv = sys.argv[:1]
    application = importlib.import_module(module).application
    run_simple("127.0.0.1", int(port), application, threaded=True)


if __name__ == "__main__":
    main()
