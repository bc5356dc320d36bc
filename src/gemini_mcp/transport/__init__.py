"""How messages travel between client and server: stdio by a core of our own, HTTP by the SDK. Effects; no call is decided here."""
