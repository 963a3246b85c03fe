"""The program of a node: it checks the node, runs the command, and records the outcome.

It needs Python 3.6 or newer and the standard library. `nodes.py` of the launcher packs these modules, sends them once,
and starts `actions.serve` with a question. `__main__.py` lists the commands that the agent gives to itself.

A question comes every few seconds, next to what is measured: import where it is used whatever few questions need.
"""
