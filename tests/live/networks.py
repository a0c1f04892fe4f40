"""Networks of more than one file of tests."""

TWO_NODES = """
topology:
  hosts: 2
  uplink: {rate: 100Mbit/s, delay: 0us, buffer: 64KiB}
  wait: sleep
  nodes: {a: h0, b: h1}
"""
