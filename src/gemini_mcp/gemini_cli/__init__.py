"""Gemini CLI as a program: its options, and what it makes of a command line. Pure but for the file of its options.

What may live here: what is true of Google's program, whoever starts it. The suite and the gate judge by it. The server
and the host must not, or they would be judged by what they share.
"""
