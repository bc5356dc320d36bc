"""How messages travel between client and server, and what works around the SDK. Effects; no call is decided here."""
