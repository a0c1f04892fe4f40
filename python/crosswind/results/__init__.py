"""The results folder, written and read: journal, tables, samples, monitors, fidelity.

The formats are in docs/reference/contracts.md, section 5. The tables of trials and metrics are rewritten from
the journal. Nothing here starts or measures anything.
"""

from crosswind.results.folder import ResultsFolder, latest_folder
from crosswind.results.journal import AlreadyEnded, Journal, JournalStep
from crosswind.results.lock import FolderInUse, only_writer
from crosswind.results.measurement import Measurement
from crosswind.results.monitors import store_monitors
from crosswind.results.provenance import MachineFacts, Provenance
from crosswind.results.rows import Metric, TrialRow
from crosswind.results.samples import NoSamples, store_samples
from crosswind.results.tables import write_tables

__all__ = [
    "AlreadyEnded",
    "FolderInUse",
    "Journal",
    "JournalStep",
    "MachineFacts",
    "Measurement",
    "Metric",
    "NoSamples",
    "Provenance",
    "ResultsFolder",
    "TrialRow",
    "latest_folder",
    "only_writer",
    "store_monitors",
    "store_samples",
    "write_tables",
]
