"""What runs on a node: it checks the node, runs the command, and writes down what happened.

It needs Python 3.6 or newer and the standard library. `nodes.py` of the launcher packs these modules, sends them once,
and starts `actions.serve` with a question. `commands.py` lists the commands by which the agent starts itself.

A question comes every few seconds, next to what is measured: import where it is used whatever few questions need.
"""
