"""What a run leaves behind: journal, tables, samples, monitors, provenance.

The formats are in docs/reference/contracts.md, section 5. The journal is the truth; the tables are rewritten
from it. Nothing here starts or measures anything.
"""

from crosswind.store.folder import ResultsFolder, latest_folder
from crosswind.store.journal import AlreadyEnded, Journal, Step
from crosswind.store.lock import FolderInUse, only_writer
from crosswind.store.monitors import store_monitors
from crosswind.store.provenance import machine_fingerprint, provenance
from crosswind.store.rows import Metric, TrialRow
from crosswind.store.samples import NoSamples, store_samples
from crosswind.store.tables import write_tables

__all__ = [
    "AlreadyEnded",
    "FolderInUse",
    "Journal",
    "Metric",
    "NoSamples",
    "ResultsFolder",
    "Step",
    "TrialRow",
    "latest_folder",
    "machine_fingerprint",
    "only_writer",
    "provenance",
    "store_monitors",
    "store_samples",
    "write_tables",
]
