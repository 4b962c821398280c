"""Published choices of people, by the name of the data set."""

from lakatos.experiments.archives.allais import READER as ALLAIS
from lakatos.experiments.archives.archive import ArchiveReader
from lakatos.experiments.archives.attention_busch2024 import NAVON_READER, STROOP_READER
from lakatos.experiments.archives.estimation_little2024 import READER as ESTIMATION_LITTLE2024
from lakatos.experiments.archives.games_zhu2024 import READER as GAMES_ZHU2024
from lakatos.experiments.archives.intertemporal_ericson2015 import (
    READER as INTERTEMPORAL_ERICSON2015,
)
from lakatos.experiments.archives.learning_probability_thoma2025 import (
    READER as LEARNING_PROBABILITY_THOMA2025,
)
from lakatos.experiments.archives.learning_reversal_zorowitz2023 import (
    READER as LEARNING_REVERSAL_ZOROWITZ2023,
)
from lakatos.experiments.archives.learning_two_step_nussenbaum2020 import (
    READER as LEARNING_TWO_STEP_NUSSENBAUM2020,
)
from lakatos.experiments.archives.learning_two_step_shahar2019 import (
    READER as LEARNING_TWO_STEP_SHAHAR2019,
)
from lakatos.experiments.archives.multiattribute_autocog import READER as MULTIATTRIBUTE_AUTOCOG
from lakatos.experiments.archives.multiattribute_electricity import (
    READER as MULTIATTRIBUTE_ELECTRICITY,
)
from lakatos.experiments.archives.publicgoods_alsobay2025 import (
    READER as PUBLICGOODS_ALSOBAY2025,
)
from lakatos.experiments.archives.risky_cpc18 import READER as RISKY_CPC18
from lakatos.experiments.archives.risky_spektor2024 import READER as RISKY_SPEKTOR2024

ARCHIVES: dict[str, ArchiveReader] = {
    reader.name: reader
    for reader in (
        MULTIATTRIBUTE_AUTOCOG,
        RISKY_CPC18,
        RISKY_SPEKTOR2024,
        ALLAIS,
        INTERTEMPORAL_ERICSON2015,
        LEARNING_REVERSAL_ZOROWITZ2023,
        LEARNING_TWO_STEP_SHAHAR2019,
        LEARNING_TWO_STEP_NUSSENBAUM2020,
        LEARNING_PROBABILITY_THOMA2025,
        MULTIATTRIBUTE_ELECTRICITY,
        GAMES_ZHU2024,
        ESTIMATION_LITTLE2024,
        PUBLICGOODS_ALSOBAY2025,
        NAVON_READER,
        STROOP_READER,
    )
}
