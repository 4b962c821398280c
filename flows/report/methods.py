"""A Methods paragraph for a paper, written from the facts of a run."""

from __future__ import annotations

from lakatos import __version__
from lakatos.experiments.interval import LEAST_UNITS
from lakatos.flows.report.course import kinds_of_trials, stop_in_words
from lakatos.flows.report.experiment_facts import people_facts
from lakatos.flows.report.reader import RunReading
from lakatos.theories.findings.verdicts.conclude import ALL_RESPONSES, RivalComparison
from lakatos.theories.findings.verdicts.record import LEADERBOARD, CampaignConcluded
from lakatos.traces.wording import in_a_list, plural

MANY_OPTIONS = 20
"""Options of a trial from which on they are stated by the first and the last one."""
TIMES = {1: "once", 2: "twice"}


def methods_parts(reading: RunReading) -> list[tuple[str, str]]:
    """Headings and texts of a Methods section, one sentence or two for each fact.

    Every number is read from the journal; what a run does not have (sealed trials, exclusions) is not mentioned.
    """
    parts = {
        "Participants": [_participants(reading), _exclusions(reading), _sample_size(reading)],
        "Materials and procedure": [_trials(reading), _options(reading), _stopping(reading)],
        "Theories": [_theories(reading)],
        "Estimation": [_estimation(reading)],
        "Comparison": [_comparison(reading)],
        "Software": [_software(reading)],
    }
    texts = {head: " ".join(filter(None, own)) for head, own in parts.items()}
    return [(head, text) for head, text in texts.items() if text]


def methods_paragraph(reading: RunReading) -> str:
    """The Methods section without headings."""
    return " ".join(text for _, text in methods_parts(reading))


def _participants(reading: RunReading) -> str:
    collected = [item.record for item in reading.state.experiments.collected.values()]
    if not collected:
        return "No responses have been collected."
    sealed = reading.state.experiments.sealed
    n_sealed = sealed.record.n_responses if sealed else 0
    n_responses = sum(item.n_responses for item in collected)
    if any(item.pooled for item in collected):
        whose = ""
    else:
        sizes = sorted({item.n_people or item.n_participants for item in collected})
        size = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        whose = f" of {size} {reading.answerers}"
    hidden = f", and {n_sealed:,} responses to sealed trials" if n_sealed else ""
    analysed = f"We analysed {plural(n_responses, 'response')}{whose}"
    task = f"({reading.kind_of_task})"
    came = " They had been collected before this study" if reading.is_collected_before else ""
    if reading.is_of_file:
        parts = plural(len(collected), "part")
        return f"{analysed}{hidden} {task}.{came} and were released to the theories in {parts}."
    several = whose and len(collected) > 1
    each = ""
    experiments = plural(len(collected), "experiment")
    new = ""
    if several and not reading.is_collected_before:
        new = " " + who_took_part(
            sum(item.n_people or item.n_participants for item in collected),
            may_return=reading.config.participants.source in ("web", "file")
            and reading.config.exclusions.duplicates == "experiment",
        )
    if several:
        each = f" with {size} {reading.answerers} each"
        analysed = f"We analysed {plural(n_responses, 'response')}"
    return f"{analysed} in {experiments}{each}{hidden} {task}.{came}{'.' if came else ''}{new}"


def who_took_part(n_people: int, *, may_return: bool) -> str:
    """State whether participants of several experiments were different people.

    Args:
        n_people: Participants of all experiments, each counted in every experiment.
        may_return: Whether the study admits somebody to more than one experiment.
    """
    if may_return:
        return f"Participants could take part in more than one experiment ({n_people} participations in all)."
    return f"Each experiment had new participants (N = {n_people} in all)."


def _exclusions(reading: RunReading) -> str:
    facts = [people_facts(reading, name) for name in reading.state.experiments.collected]
    known = [item for item in facts if item is not None]
    n_excluded = sum(item["n_excluded"] for item in known)
    n_withdrawn = sum(item["withdrawn"] for item in known)
    rules = sorted({words for item in known for words in item["rules"]})
    parts = []
    if n_excluded:
        parts.append(
            f"{plural(n_excluded, 'participant')} met an exclusion rule that was recorded before the data "
            f"({'; '.join(rules)})."
        )
    elif known:
        parts.append("No participant was excluded.")
    else:
        parts.append("No exclusion rule was set.")
    if n_withdrawn:
        parts.append(
            f"{plural(n_withdrawn, 'participant')} withdrew, and their responses were erased."
        )
    return " ".join(parts)


def _sample_size(reading: RunReading) -> str:
    """The planned power of the numbers of participants and trials, by simulation; empty where none was planned."""
    known = reading.state.experiments
    pairs = [
        pair
        for name, item in known.designs.items()
        if name in known.collected
        for pair in item.record.powers
    ]
    if not pairs or reading.is_collected_before:
        return ""
    n_enough = sum(pair.separable for pair in pairs)
    return (
        "The sample size was set in advance; by simulation, with one theory of a pair true, planned power was at least "
        f"{reading.config.design.power:g} for {n_enough} of {plural(len(pairs), 'pair')} of theories."
    )


def _options(reading: RunReading) -> str:
    """The options of a response where these are many and have no letters of their own, such as intervals of time."""
    options = reading.domain.options
    if len(options) < MANY_OPTIONS:
        return ""
    return f"Each response was coded as one of {len(options)} options, from “{options[0]}” to “{options[-1]}”."


def _trials(reading: RunReading) -> str:
    known = reading.state.experiments
    designs = [item.record for name, item in known.designs.items() if name in known.collected]
    if not designs:
        return ""
    n_trials = sum(item.n_trials for item in designs)
    used = "used responses to" if reading.is_collected_before else "presented"
    distinct = {key for item in designs for key in reading.design(item).stimuli.keys}
    few = f" ({len(distinct)} distinct)" if len(distinct) < n_trials else ""
    chosen = f"We {used} {plural(n_trials, 'trial')}{few}"
    if reading.is_all_used:
        chosen += ", all that were not sealed"
    elif sum(item.n_random for item in designs) == n_trials:
        chosen += ", all drawn at random"
    else:
        chosen += f", of which {kinds_of_trials(designs)}"
    sealed = known.sealed.record.n_trials if known.sealed else 0
    kept = (
        f" A further {plural(sealed, 'trial')} remained sealed until the final comparison."
        if sealed
        else ""
    )
    names = reading.config.conditions
    within = (
        f" Each was presented in each of {len(names)} conditions ({', '.join(names)}), within participants; the order "
        "of the blocks was counterbalanced by a Latin square (Williams, 1949)."
        if names
        else ""
    )
    return f"{chosen}.{within}{_responses_each(reading)}{kept}"


def _responses_each(reading: RunReading) -> str:
    """State how often each participant responded to each trial, where that is one number."""
    known = reading.state.experiments
    each = set()
    for name, item in known.collected.items():
        n_pairs = known.designs[name].record.n_trials * (
            item.record.n_people or item.record.n_participants
        )
        each.add(item.record.n_responses / max(n_pairs, 1))
    (n_each,) = each if len(each) == 1 else (0.0,)
    if reading.is_collected_before or n_each < 1 or not n_each.is_integer():
        return ""
    times = TIMES.get(int(n_each), f"{n_each:.0f} times")
    of_one = " of one experiment" if len(known.collected) > 1 else ""
    return f" Each participant responded {times} to each trial{of_one}."


def _stopping(reading: RunReading) -> str:
    """The rule by which data collection ended, and when it did."""
    state = reading.state.campaign
    if not state.cycles or reading.concluded is None:
        return ""
    rule = reading.config.stop.words(is_archive=reading.is_collected_before)
    n_cycles = plural(len(state.cycles), "cycle")
    planned = f"the study ends after {n_cycles}"
    if rule == planned:
        return f"The study was planned to end, and ended, after {n_cycles}."
    why = stop_in_words(reading).partition(";")[0]
    return f"Stopping rule: {rule}. The study ended after {n_cycles}{': ' if why else ''}{why}."


def _theories(reading: RunReading) -> str:
    names = [reading.label(digest).name for digest in reading.state.seeds]
    if not names:
        return ""
    initial = in_a_list(names)
    n_tried = sum(item.record.n_attempts for item in reading.state.theories.searches)
    n_pool = len(reading.board.standings)
    advocates = reading.config.theories.advocates
    induced = ", and rules induced from the responses" if "induction" in advocates else ""
    search = (
        f" A search evaluated {plural(n_tried, 'further combination')} of mechanisms{induced}; "
        f"{plural(n_pool, 'theory was', 'theories were')} compared in the end."
        if n_tried
        else ""
    )
    return f"The initial theories were {initial}.{search}"


def _estimation(reading: RunReading) -> str:
    if len(reading.state.experiments.collected) == 1:
        held_out = "participants or responses"
    else:
        held_out = "parts of the data" if reading.is_of_file else "experiments"
    return (
        "Population distributions of parameters (independent truncated normal distributions; of the logarithm for "
        "parameters with a logarithmic prior) were estimated by maximising the marginal likelihood over "
        f"{reading.config.theories.draws} quasi-random draws. Theories were scored by the mean log predictive "
        f"probability of the responses, with parameters estimated from other {held_out}."
    )


def _comparison(reading: RunReading) -> str:
    pooled = any(item.record.pooled for item in reading.state.experiments.collected.values())
    units = "problems" if pooled else "participants"
    concluded = reading.concluded
    n_compared = concluded.n_compared if concluded else 1
    chosen = (
        f"; that of the verdict is Bonferroni-corrected for {n_compared} theories"
        if concluded and concluded.interval is not None and n_compared > 1
        else _other_correction(reading)
    )
    n_units = concluded.n_units if concluded else None
    few = (
        f" With fewer than {LEAST_UNITS} {units} no difference is claimed."
        if n_units is not None and n_units < LEAST_UNITS
        else ""
    )
    kinds = ["frozen predictions", "all responses"]
    if reading.state.experiments.sealed:
        kinds.insert(0, "sealed trials")
    return (
        f"Differences in score have 95% confidence intervals (Student's t, {units} as units{chosen}).{few} "
        "The leading theory was the simplest one within one paired standard error of the best on the strictest data "
        f"({', else '.join(kinds)}), or a published one near the best that predicted at least as well.{_basis(reading)}"
    )


def _basis(reading: RunReading) -> str:
    """The data on which the verdict rests, which may be stricter than the scores of the leaderboard."""
    concluded = reading.concluded
    if concluded is None or concluded.rival is None:
        return ""
    rival = reading.label(concluded.rival).name
    other = "other " if concluded.leader in reading.state.seeds else ""
    bases = [
        concluded.basis,
        *(item.basis for item in _comparisons(reading, concluded)),
    ]
    strictest_first = sorted(dict.fromkeys(bases), key=lambda basis: basis == LEADERBOARD)
    data = in_a_list([basis.replace(LEADERBOARD, ALL_RESPONSES) for basis in strictest_first])
    return f" It was compared with {rival}, the closest {other}initial theory, on {data}."


def _comparisons(reading: RunReading, concluded: CampaignConcluded) -> list[RivalComparison]:
    """The leading theory beside the rival of the verdict, on all data that the verdict states."""
    found = reading.compared_with_initial(concluded.leader).comparisons
    same = [item for item in found if item.rival == concluded.rival]
    return [item for item in same if not concluded.holds or item.basis == concluded.basis]


def _other_correction(reading: RunReading) -> str:
    """The correction of comparisons that the verdict states beside the one that decides."""
    concluded = reading.concluded
    if concluded is None or concluded.interval is None:
        return ""
    compared = _comparisons(reading, concluded)
    others = [item for item in compared if item.basis != concluded.basis]
    corrected = {item.basis: item.n_compared for item in others if item.n_compared > 1}
    return "".join(
        f"; the interval of the difference on {basis} is Bonferroni-corrected for {n} theories"
        for basis, n in corrected.items()
    )


def _software(reading: RunReading) -> str:
    _, head = reading.trace.journal.head
    return f"Analyses used Lakatos {__version__} (seed {reading.config.seed}; journal {head[:16]})."
