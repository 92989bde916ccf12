"""The one process of a host that touches the network."""
