"""Who plays a conversation: ports, wires, players and the fake `gemini`. These are the only effects of a run.

A module belongs here when it starts, writes, waits for or ends something.
"""
