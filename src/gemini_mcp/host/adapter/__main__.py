"""`python -m gemini_mcp.host.adapter`: the reference's adapter on standard input and output. Effect."""

import sys

from gemini_mcp.host.adapter import serve
from gemini_mcp.host.adapter.scenario import reply
from gemini_mcp.host.rules.javascript import STACK

if __name__ == "__main__":
    sys.setrecursionlimit(STACK)
    serve(sys.stdin, sys.stdout, reply)
