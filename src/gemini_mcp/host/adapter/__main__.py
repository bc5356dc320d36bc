"""`python -m gemini_mcp.host.adapter`: the reference's adapter on standard input and output. Effect."""

import sys

from gemini_mcp.host.adapter import serve
from gemini_mcp.host.adapter.scenario import reply

if __name__ == "__main__":
    serve(sys.stdin, sys.stdout, reply)
