"""Messages, eras and transports."""
