"""What every report of changes needs: places in JSON files, values as text, SARIF, tables. Pure.

What may live here: what the gate and the host both say. Who reports what is decided by them.
"""
