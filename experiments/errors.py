"""Errors of studies run on people.

ExperimentError
├── StimuliError          a trial that the domain does not allow
├── TaskFileError         a file that declares no domain
├── AnswerScaleError      a grid of outcomes that is none
├── TrialsError           responses that cannot be counted
│   └── ImplausibleError  responses that most likely mean something else than they were read as
├── DesignError           no admissible design
│   └── EmptyDesignSpaceError
├── PreregistrationError  collection without frozen predictions
├── SourceError           a participant source cannot do what is asked
│   └── ArchiveExhaustedError
└── DataMissingError      published data are not where they should be
└── DataDigestError   published data were changed
"""


class ExperimentError(Exception):
    """Root of all errors of this package."""


class StimuliError(ExperimentError):
    """A trial that the domain does not allow."""


class TaskFileError(ExperimentError):
    """A file does not declare a domain: what is wrong in it, where, and what to write."""


class AnswerScaleError(ExperimentError):
    """A domain declares a grid of outcomes that is none: its levels or edges do not grow, or are too many."""


class TrialsError(ExperimentError):
    """Responses that cannot be counted."""


class ImplausibleError(TrialsError):
    """Responses that most likely mean something else than they were read as; the user may say that they are right."""


class DesignError(ExperimentError):
    """No admissible design can be found, or what was asked of the search makes no sense."""


class EmptyDesignSpaceError(DesignError):
    """The design space of the study holds no admissible trial."""


class PreregistrationError(ExperimentError):
    """Collection was asked for without frozen predictions."""


class SourceError(ExperimentError):
    """A participant source cannot do what is asked."""


class ArchiveExhaustedError(SourceError):
    """The archive has no unused responses left for what is asked."""


class DataMissingError(ExperimentError):
    """Published data are not where they should be."""


class DataDigestError(DataMissingError):
    """A published data file differs from the version that the study cites."""
