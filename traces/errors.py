"""Errors that journals, artifacts and steps raise.

TraceError
├── JournalError                 the journal cannot be read or written
│   ├── ChainBrokenError         a stored event does not fit its hash, its number or its predecessor
│   ├── LockedError              another process is writing this journal
│   ├── ReadOnlyError            an append to a journal that was opened for reading
│   └── NewerFormatError         written by a newer version of Lakatos
├── ArtifactError                an artifact cannot be stored or understood
│   ├── ArtifactMissingError     no artifact of that digest
│   └── ArtifactCorruptError     the stored bytes do not hash to their name
├── StepError                    a step cannot be run
│   ├── StepInterruptedError     a step with effects outside was cut short; a person has to look
│   └── StepResultError          a step returned something else than it promised
├── HeadError                    the end of a journal cannot be signed or kept, or a bundle not be made
├── PlatformError                this operating system lacks what is needed
├── RecordError                  a value cannot be recorded, or a stored record cannot be read
└── InboxError                   a delivery that cannot be accepted or found
"""


class TraceError(Exception):
    """Something is wrong with the trace of a run."""


class PlatformError(TraceError):
    """This operating system lacks what is needed."""


class JournalError(TraceError):
    """The journal cannot be read or written."""


class ChainBrokenError(JournalError):
    """A stored event does not fit its hash, its number or its predecessor."""


class LockedError(JournalError):
    """Another process is writing this journal."""


class ReadOnlyError(JournalError):
    """An append to a journal that was opened for reading."""


class NewerFormatError(JournalError):
    """The journal was written by a newer version of Lakatos."""


class ArtifactError(TraceError):
    """An artifact cannot be stored or understood."""


class ArtifactMissingError(ArtifactError):
    """No artifact of that digest is stored."""


class ArtifactCorruptError(ArtifactError):
    """The stored bytes of an artifact do not hash to its name."""


class StepError(TraceError):
    """A step cannot be run."""


class StepInterruptedError(StepError):
    """A step with effects outside was cut short, and only a person can tell what it did."""


class StepResultError(StepError):
    """A step returned something else than it promised, or than it recorded before."""


class HeadError(TraceError):
    """The end of a journal cannot be signed or kept, or a bundle cannot be made or read."""


class RecordError(TraceError):
    """A value cannot be recorded, or a stored record cannot be read."""


class InboxError(TraceError):
    """A delivery that cannot be accepted or found."""
