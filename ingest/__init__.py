"""Raw logs in, figures and pages out: the only layer that touches the disk."""

import perfledger.parsers  # noqa: F401 - first of all it refuses a Python that would misread logs
