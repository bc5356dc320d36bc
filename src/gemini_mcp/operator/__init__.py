"""What the operator sets and sees: options (pure), doctor, set-up of clients, log and start (edges)."""
