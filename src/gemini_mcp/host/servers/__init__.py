"""Servers, from a configuration to a connection and what it offers: transports, discovery, sessions, status. Effect."""
