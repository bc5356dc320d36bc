"""`python -m gemini_mcp.host.adapter`: the reference's adapter on standard input and output."""

import sys

from gemini_mcp.host.adapter import serve

if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
