"""The kernel's traffic control: queueing disciplines and filters on the veths of hosts and nodes."""
