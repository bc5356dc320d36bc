"""How messages travel: stdio by a core of our own, HTTP by the SDK. Effects; no call is decided here."""
