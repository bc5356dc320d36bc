"""The steps of one call: plan (pure), run (effect), read the outcome (pure); no protocol is known here."""
