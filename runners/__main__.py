"""`python -m runners`."""

import sys

# Before the imports, which an older Python cannot make, and in words that it understands.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.stderr.write("runners: this Python is too old; use 3.11 or later, such as the one of `make site`\n")
    sys.exit(2)

try:
    from perfledger.runners.cli import main
except ModuleNotFoundError as error:
    if error.name not in ("click", "msgspec"):
        raise
    sys.stderr.write(f"runners: this Python lacks {error.name}; use the one of `make site`: . .venv/bin/activate\n")
    sys.exit(2)

sys.exit(main(sys.argv[1:]))
