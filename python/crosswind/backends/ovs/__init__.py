"""Open vSwitch: hosts and switches are bridges, links are veth pairs between them."""
