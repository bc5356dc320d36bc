"""What the protocol asks of any server: messages, transports, revisions, and the list of tools. Pure."""
