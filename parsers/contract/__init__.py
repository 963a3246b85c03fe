"""The contract between a format and everything that uses it: all that a format imports.

A format is data: templates, rows or patterns of lines, the unit and scope of their numbers, and verbs. Lines that test it
are in `tests/golden/<id>/samples.toml`. The registry finds the modules in the packages of formats; a new format is one new
module.
"""

from perfledger.parsers.contract.checkpoints import silent_checkpoints
from perfledger.parsers.contract.columns import CLOCKS, COLUMNS, is_private
from perfledger.parsers.contract.conditions import Condition, lacks, says
from perfledger.parsers.contract.epoch_means import ROUNDS, stretches
from perfledger.parsers.contract.fact import Fact, grouped, listed, product, text, without_folders
from perfledger.parsers.contract.format import Format
from perfledger.parsers.contract.gaps import up_to, up_to_argument
from perfledger.parsers.contract.patterns import FormatError
from perfledger.parsers.contract.reading import EPOCH_END, EPOCH_TIMER, Pause, PauseKind, Reading, Record, Scope, Span
from perfledger.parsers.contract.rows import Rows
from perfledger.parsers.contract.statistics import median, medians
from perfledger.parsers.contract.template import ENDED, NUMBER
from perfledger.parsers.contract.verbs import (
    Column,
    Columns,
    Indices,
    Verb,
    carry,
    either,
    evaluations,
    fine,
    first_drawn,
    mean_of_ranks,
    only,
    only_if,
    since_start,
    states,
    total,
    undo_mean,
    undo_window,
    within,
)
from perfledger.parsers.contract.waits import timed

__all__ = [
    "CLOCKS",
    "COLUMNS",
    "ENDED",
    "EPOCH_END",
    "EPOCH_TIMER",
    "NUMBER",
    "ROUNDS",
    "Column",
    "Columns",
    "Condition",
    "Fact",
    "Format",
    "FormatError",
    "Indices",
    "Pause",
    "PauseKind",
    "Reading",
    "Record",
    "Rows",
    "Scope",
    "Span",
    "Verb",
    "carry",
    "either",
    "evaluations",
    "fine",
    "first_drawn",
    "grouped",
    "is_private",
    "lacks",
    "listed",
    "mean_of_ranks",
    "median",
    "medians",
    "only",
    "only_if",
    "product",
    "says",
    "silent_checkpoints",
    "since_start",
    "states",
    "stretches",
    "text",
    "timed",
    "total",
    "undo_mean",
    "undo_window",
    "up_to",
    "up_to_argument",
    "within",
    "without_folders",
]
