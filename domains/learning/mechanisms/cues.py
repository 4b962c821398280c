"""Mechanisms of learning about cues: first values, losses, biases to respond, and a working memory beside learning.

They add to the slots of `domains.learning.theories`, and use the variables that are set there. Learning apart for each
cue needs no mechanism, since a cue is a state.
"""

from __future__ import annotations

from lakatos.domains.kit.parameter import LOG_ODDS, log_uniform, normal, uniform
from lakatos.domains.learning.mechanisms.past import TABLE
from lakatos.theories.language.account import Wording
from lakatos.theories.language.grammar import Mechanism

CUE, GO = "cue", "go"
"""Parts that mechanisms need, named as in `Mechanism.needs`."""
GAIN = "(reward - 0.0)"
"""A reward above what is neither gain nor loss; declared tasks, whose rewards are shares of a range, replace the 0."""
GUITART = "Guitart-Masip, Huys, Fuentemilla, Dayan, Duzel & Dolan (2012), NeuroImage 62(1), 154-166"
COLLINS = "Collins & Frank (2012), European Journal of Neuroscience 35(7), 1024-1035"
RESPONDING = """
place = xp.arange(available.shape[-1]) - 0.5 * (available.shape[-1] - 1)
responding = (trials["go"][..., None] * place > 0) * 1.0
"""
FIRST_VALUES = (
    Mechanism(
        slot="expectation",
        name="nothing",
        needs=(CUE,),
        start=f'state["value"] = 0.0 + {TABLE}',
        wording=Wording(
            clause="initially expect neither gain nor loss from any option", taken_for_granted=True
        ),
        source=f"Frank et al. (2007), PNAS 104(41), 16311-16316; {GUITART}.",
    ),
    Mechanism(
        slot="expectation",
        name="chance",
        needs=(CUE,),
        start=f'state["value"] = 1.0 / trials["available"].shape[-1] + {TABLE}',
        wording=Wording(
            clause="initially expect one of the options to pay, and each with equal chance",
            taken_for_granted=True,
        ),
        source=f"{COLLINS}.",
    ),
)
LOSSES = Mechanism(
    slot="outcome",
    name="losses apart",
    needs=(CUE,),
    learn=f"""
gained = {GAIN}
reward = reward - gained + xp.where(gained < 0, parameters["loss_weight"] * gained, gained)
surprise = (reward - (picked * state["value"]).sum(axis=(-2, -1))) * paid
""",
    parameters={
        "loss_weight": log_uniform(0.1, 10.0, "ratio", "weight of a loss relative to a gain")
    },
    wording=Wording(
        clause="weight losses {far}more than equal gains",
        opposite_clause="weight gains {far}more than equal losses",
        parameter="loss_weight",
        neutral=1.0,
        unit=0.4,
        log_ratio=True,
        label="loss sensitivity",
        opposite_label="gain sensitivity",
    ),
    source="Cavanagh, Eisenberg, Guitart-Masip, Huys & Frank (2013), Journal of Neuroscience 33(19), 8541-8548.",
)
GO_BIAS = Mechanism(
    slot="bias",
    name="responding",
    needs=(GO,),
    code=RESPONDING + 'habit = habit + parameters["go_bias"][..., None] * responding',
    parameters={
        "go_bias": normal(0.0, 1.0, 6.0, "log odds", "pull towards responding, whatever the cue")
    },
    wording=Wording(
        clause="{much}tend to respond, whatever the cue",
        opposite_clause="{much}tend to withhold responses, whatever the cue",
        parameter="go_bias",
        unit=LOG_ODDS,
        label="a go bias",
        opposite_label="a no-go bias",
    ),
    repairs=("constant",),
    source=f"{GUITART}.",
)
PAVLOVIAN = Mechanism(
    slot="bias",
    name="Pavlovian",
    needs=(GO,),
    code=RESPONDING
    + 'worth = (here * state["cue_value"]).sum(axis=-1)\n'
    + 'evidence = evidence + (parameters["pavlovian"] * worth)[..., None] * responding',
    start="state[\"cue_value\"] = xp.zeros((1, 1, trials['states'].shape[-1]))",
    learn=f"""
missed = ({GAIN} - (here * state["cue_value"]).sum(axis=-1)) * paid
state["cue_value"] = state["cue_value"] + here * (rate * missed)[..., None]
""",
    parameters={
        "pavlovian": normal(
            0.0,
            0.5,
            6.0,
            "ratio",
            "weight of a cue's value for responding, relative to that of options",
        )
    },
    wording=Wording(
        clause="{much}tend to respond to cues that announce gains and withhold responses to cues that announce "
        "losses (Pavlovian bias)",
        clause_short="do the reverse",
        opposite_clause="{much}tend to withhold responses to cues that announce gains and respond to cues that "
        "announce losses",
        opposite_short="do the reverse",
        parameter="pavlovian",
        unit=0.2,
        label="a Pavlovian bias",
        opposite_label="reversed Pavlovian bias",
    ),
    breaks=("last_reward", "last_choice", "ignores last_reward", "ignores last_choice"),
    source=f"{GUITART}.",
)
MEMORY = Mechanism(
    slot="memory",
    name="working memory",
    needs=(CUE,),
    code="""
share = parameters["reliance"] * xp.minimum(1.0, parameters["capacity"] / trials["set_size"])
held = xp.where(available > 0, 50.0 * at(here, state["held"]), -1e9)
held = xp.exp(held - held.max(axis=-1)[..., None])
p = (1 - share)[..., None] * p + share[..., None] * (held / held.sum(axis=-1)[..., None])
""",
    start=f'state["held"] = 1.0 / trials["available"].shape[-1] + {TABLE}',
    learn="""
even = 1.0 / trials["available"].shape[-1]
held = state["held"] + parameters["decay"][..., None, None] * (even - state["held"])
state["held"] = held + picked * (reward[..., None, None] - held) * paid[..., None, None]
""",
    parameters={
        "reliance": uniform(
            0.0, 1.0, "share", "share of choices from working memory where it holds all cues"
        ),
        "capacity": uniform(0.5, 7.0, "cues", "cues that working memory holds"),
        "decay": uniform(0.0, 1.0, "share", "share of a memory that is lost in a step"),
    },
    wording=Wording(
        clause="follow working memory for the last outcome of each option on {reliance%} of trials with up to about "
        "{capacity} cues, and less often with more, and lose [{decay%}|a part] of this memory in each step",
        parameter="reliance",
        unit=0.2,
        label="working memory",
    ),
    repairs=("set_size", "steps_since_start"),
    breaks=("last_choice", "ignores last_reward", "ignores last_choice"),
    source=f"{COLLINS}; Collins (2018), Journal of Cognitive Neuroscience 30(10), 1422-1432.",
)
