"""Perfledger reads raw training logs and writes a bilingual benchmark report site.

In a checkout the packages `ingest`, `parsers`, `runners` and `schema` lie next to this folder, where they also run by
themselves (`python -m ingest`); installed, they lie inside it. Both ways they are imported as `perfledger.ingest`, ....
"""

from pathlib import Path

__version__ = "0.1.0"
LICENSE = "Apache-2.0"

_HERE = Path(__file__).resolve().parent
INSTALLED = (_HERE / "ingest").is_dir()
#: The folder that Python must search to find `perfledger`.
TOP = _HERE.parent
#: The folder of `ingest`, `parsers`, `runners` and `schema`.
PACKAGES = _HERE if INSTALLED else TOP
TEMPLATES = PACKAGES / ("templates" if INSTALLED else "report_templates")

if not INSTALLED:
    __path__.append(str(TOP))
