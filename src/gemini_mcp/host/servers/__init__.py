"""Servers, from a configuration to what a connection offers: transports, discovery, status, running host. Effect."""
