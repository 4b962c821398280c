import json

import numpy as np
import pytest
from typer.testing import CliRunner

from lakatos.domains.multiattribute.task import MultiattributeDomain
from lakatos.domains.multiattribute.theories import FAMILY
from lakatos.experiments.task import Trials
from lakatos.flows.commands.main import app
from lakatos.theories.engine.checks.check import load_theory
from lakatos.theories.engine.running.behave import behave
from lakatos.theories.engine.running.sequence import follow
from lakatos.theories.engine.sandbox.client import Sandbox
from lakatos.theories.errors import TheoryLintError, TheorySourceError
from lakatos.theories.findings.exchange.autocog import (
    GREEDY,
    chosen_theory,
    import_autocog,
    theories_in,
)
from lakatos.theories.language.theory import TheoryProgram

DOMAIN = MultiattributeDomain()
SPACE = DOMAIN.space({"validities": [0.9, 0.8, 0.6], "levels": [0, 1]})
SAMPLED = (
    "def policy(probabilities):\n    return np.random.choice(len(probabilities), p=probabilities)\n"
)
WEIGHTED = {
    "description": "Weighing: people add ratings weighted by validity, and sometimes press any key.",
    "predict_source": """
def predict(parameters, stimulus, history):
    ratings = np.asarray(stimulus, dtype=float)
    scores = ratings @ np.asarray(parameters["validities"])
    z = np.exp(parameters["beta"] * (scores - scores.max()))
    return (1 - parameters["epsilon"]) * z / z.sum() + parameters["epsilon"] / 2
""",
    "policy_source": SAMPLED,
    "parameters": {"beta": "[0.1, 20.0]", "epsilon": "[0.0, 0.5]", "validities": "validities"},
}
ALTERNATING = {
    "description": "Alternation: people press the other key.",
    "predict_source": """
def predict(parameters, stimulus, history):
    past = history.get("response", [])
    if not past:
        return np.array([0.5, 0.5])
    p = np.full(2, parameters["slip"])
    p[1 - past[-1]] = 1 - parameters["slip"]
    return p
""",
    "policy_source": SAMPLED,
    "parameters": {"slip": "[0.0, 0.3]"},
}


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox() as made:
        yield made


def test_an_imported_theory_is_a_theory_with_its_claim_and_ranges(sandbox):
    theory = load_theory(import_autocog(WEIGHTED, sandbox), DOMAIN, sandbox)
    assert (theory.name, theory.learns) == ("Weighing", False)
    assert theory.claim.startswith("people add ratings")
    assert (theory.priors["beta"].low, theory.priors["beta"].high) == (0.1, 20.0)
    assert set(theory.priors) == {"beta", "epsilon"}


def test_it_predicts_what_the_same_theory_written_here_predicts(sandbox):
    ours = FAMILY.program("weighted_additive").source
    scale = SPACE["rating_max"][0]
    drawn = {"beta": np.array([0.5, 3.0]), "epsilon": np.array([0.0, 0.2])}
    (theirs,) = sandbox.probabilities(
        import_autocog(WEIGHTED, sandbox).source, drawn, [SPACE.arrays]
    )
    own = {"sensitivity": drawn["beta"] * scale, "lapse": drawn["epsilon"]}
    np.testing.assert_allclose(theirs, sandbox.probabilities(ours, own, [SPACE.arrays])[0])


@pytest.mark.slow
def test_a_theory_that_reads_its_history_is_walked_through_sequences(sandbox):
    theory = load_theory(import_autocog(json.dumps(ALTERNATING), sandbox), DOMAIN, sandbox)
    assert theory.learns
    order = np.random.default_rng(0).permuted(np.tile(np.arange(len(SPACE)), (5, 1)), axis=1)
    done = behave(
        theory, DOMAIN, sandbox, {"slip": np.zeros(5)}, SPACE, order, np.random.default_rng(1)
    )
    assert (done.response[:, 1:] != done.response[:, :-1]).all()
    n = order.size
    trials = Trials(
        "x", SPACE, np.repeat(np.arange(5), order.shape[1]), order.ravel(), done.response.ravel(), np.ones(n, int)
    )  # fmt: skip
    with sandbox.open_session(theory.program.source, []) as session:
        found = follow(session, DOMAIN, {"slip": np.array([0.1, 0.3])}, trials).log_likelihood
    steps = order.shape[1] - 1
    np.testing.assert_allclose(
        found, np.log([[0.5], [0.5]]) + steps * np.log([[0.9], [0.7]]) + np.zeros(5)
    )


REPEATING = ALTERNATING | {
    "description": "Repetition: people choose again what they chose before from the same ratings.",
    "predict_source": """
def predict(parameters, stimulus, history):
    for a, b, chosen in zip(history["option_a_ratings"], history["option_b_ratings"], history["response"]):
        if list(stimulus[0]) == list(a) and list(stimulus[1]) == list(b):
            p = np.full(2, parameters["slip"])
            p[chosen] = 1 - parameters["slip"]
            return p
    return np.array([0.5, 0.5])
""",
}


@pytest.mark.slow
def test_a_history_has_the_ratings_of_both_options_as_in_autocog(sandbox):
    source = import_autocog(REPEATING, sandbox).source
    order, chosen = [0, 1, 0, 1, 0], [1, 0, 0, 1, 1]
    theory = load_theory(TheoryProgram(source, "a"), DOMAIN, sandbox)
    trials = Trials(
        "x", SPACE, np.zeros(5, int), np.array(order), np.array(chosen), np.ones(5, int)
    )
    with sandbox.open_session(theory.program.source, []) as session:
        found = follow(session, DOMAIN, {"slip": np.array([0.1])}, trials).log_likelihood
    # two first choices, then one that repeats the first of its pair in each of three trials or not
    np.testing.assert_allclose(found, 2 * np.log(0.5) + np.log(0.1) + np.log(0.1) + np.log(0.9))


@pytest.mark.parametrize("given", [WEIGHTED, ALTERNATING], ids=["alone", "with history"])
def test_a_policy_that_takes_the_likelier_option_is_noted_and_probabilities_are_scored(
    sandbox, given
):
    greedy = given | {
        "policy_source": "def policy(probabilities):\n    return int(np.argmax(probabilities))\n"
    }
    sampled, noted = (import_autocog(item, sandbox).source for item in (given, greedy))
    assert GREEDY in noted
    assert noted.replace(f"{GREEDY}\n", "") == sampled
    if given is WEIGHTED:
        drawn = {"beta": np.ones(1), "epsilon": np.full(1, 0.2)}
        (p,) = sandbox.probabilities(noted, drawn, [SPACE.arrays])
        assert ((p > 0) & (p < 1)).all()
    assert load_theory(TheoryProgram(noted, "a"), DOMAIN, sandbox).name


@pytest.mark.parametrize("n_cues", [0, 9])
def test_weights_of_cues_that_nobody_counted_are_refused(sandbox, n_cues):
    with pytest.raises(
        TheorySourceError, match=r"'weights' has a value for each cue.*--responses FILE"
    ):
        import_autocog(IN_YAML, sandbox, n_cues=n_cues)


def test_the_command_counts_the_cues_of_the_answers(tmp_path):
    (tmp_path / "theory.yaml").write_text(IN_YAML)
    (tmp_path / "greedy.json").write_text(
        json.dumps(WEIGHTED | {"policy_source": "def policy(p):\n    return int(np.argmax(p))\n"})
    )
    head = "person,choice,left_e1,left_e2,left_e3,right_e1,right_e2,right_e3,validity1,validity2,validity3\n"
    rows = [f"p{n % 2},{n % 2},{n % 3},1,0,0,{n % 2},1,0.9,0.8,0.6\n" for n in range(12)]
    answers = tmp_path / "answers.csv"
    answers.write_text(head + "".join(rows))
    done = CliRunner().invoke(
        app, ["theory", "import", str(tmp_path / "theory.yaml"), "--responses", str(answers)]
    )
    assert done.exit_code == 0, done.exception
    assert "weights_3" in done.stdout
    assert "weights_4" not in done.stdout
    refused = CliRunner().invoke(app, ["theory", "import", str(tmp_path / "theory.yaml")])
    assert "the number of cues is unknown" in str(refused.exception)
    done = CliRunner().invoke(app, ["theory", "import", str(tmp_path / "greedy.json")])
    assert "takes the likelier option; what is scored are the probabilities" in done.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"policy_source": "def policy(p):\n    return np.random.choice(2)\n"},
            "neither draws choices",
        ),
        ({"policy_source": "def policy(p):\n    return 1 / 0\n"}, "the policy does not run"),
        ({"parameters": {"beta": "positive"}}, "the range of the parameter 'beta' is 'positive'"),
        ({"parameters": {"beta": "[2, 1]"}}, "give two numbers"),
        ({"parameters": None}, "no parameters"),
        (
            {
                "predict_source": "def guess(parameters, stimulus, history):\n    return [0.5, 0.5]\n"
            },
            "defines no function",
        ),
        ({"predict_source": ""}, "no predict .in JSON predict_source"),
        ({"description": 3}, "no theory .in JSON description"),
    ],
)
def test_what_is_not_of_the_form_is_refused(sandbox, change, words):
    with pytest.raises(TheorySourceError, match=words):
        import_autocog(WEIGHTED | change, sandbox)


IN_YAML = """
name: "Weighted sum: one weight for each cue (a variant)"
theory: |
  People add the ratings of a product. Like this: each has a weight, "importance", and nothing else counts.
  There is no lapse.
predict: |
  def predict(parameters, stimulus, history):
      ratings = np.asarray(stimulus, dtype=float)
      w = np.asarray(parameters["weights"], dtype=float)
      if w.shape[0] != ratings.shape[1]:
          raise ValueError("as many weights as cues")
      z = parameters["temperature"] * (ratings[1] @ w - ratings[0] @ w)
      p_b = 1.0 / (1.0 + np.exp(-z))
      return np.array([1.0 - p_b, p_b])
policy: |
  def policy(probabilities):
      return int(np.random.choice(len(probabilities), p=probabilities))
parameters:
  # a comment
  temperature: "[0.0, 20.0]"
  weights: "[(0.0, 1.0)] * n_features"
"""


def test_yaml_keeps_every_word_of_name_and_claim_and_a_weight_for_each_cue(sandbox):
    theory = load_theory(import_autocog(IN_YAML, sandbox, n_cues=3), DOMAIN, sandbox)
    assert theory.name == "Weighted sum - one weight for each cue (a variant)"
    assert theory.claim.startswith("People add the ratings of a product. Like this: each has a")
    assert theory.claim.endswith("There is no lapse.")
    assert set(theory.priors) == {"temperature", "weights_1", "weights_2", "weights_3"}
    drawn = {"temperature": np.array([2.0])}
    drawn |= {
        f"weights_{cue}": np.array([weight]) for cue, weight in ((1, 0.9), (2, 0.5), (3, 0.1))
    }
    (p,) = sandbox.probabilities(theory.program.source, drawn, [SPACE.arrays])
    value = SPACE["ratings"] @ np.array([0.9, 0.5, 0.1])
    expected = 1 / (1 + np.exp(-2 * (value[:, 1] - value[:, 0])))
    np.testing.assert_allclose(p[0, :, 1], expected)


def test_without_a_name_nothing_of_the_claim_is_lost(sandbox):
    long = "People who are asked again and again in quick succession add all ratings up at once"
    source = import_autocog(WEIGHTED | {"description": f"{long}. Mind: no lapse."}, sandbox)
    theory = load_theory(source, DOMAIN, sandbox)
    assert theory.name == long
    assert theory.claim == f"{long}. Mind: no lapse."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("name: [", "neither JSON nor YAML"),
        ("!!python/object/apply:os.system ['true']", "neither JSON nor YAML"),
        ("just words", "no YAML with keys"),
        (
            IN_YAML.replace('"[0.0, 20.0]"', "[&a [1, 2], *a]"),
            "range of the parameter 'temperature'",
        ),
        (IN_YAML.replace("temperature:", '"t; x":'), "is no name of a parameter"),
    ],
)
def test_yaml_that_says_more_than_a_theory_is_refused(sandbox, text, words):
    with pytest.raises(TheorySourceError, match=words):
        import_autocog(text, sandbox)


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000])
def test_what_is_no_object_is_refused(sandbox, text):
    with pytest.raises(TheorySourceError, match="no JSON"):
        import_autocog(text, sandbox)


def test_code_that_no_theory_needs_is_refused(sandbox):
    with pytest.raises(TheoryLintError, match="imports 'os'"):
        import_autocog(
            WEIGHTED | {"predict_source": "import os\n" + WEIGHTED["predict_source"]}, sandbox
        )


def test_a_description_cannot_end_the_docstring(sandbox):
    sly = WEIGHTED | {"description": 'Sly: """\nimport os\n"""'}
    theory = load_theory(import_autocog(sly, sandbox), DOMAIN, sandbox)
    assert "import os" in theory.claim


ROUND = {
    "round_idx": 0,
    "starting_theories": [
        {"slot": 1, "label": "pi_1", "theory": WEIGHTED},
        {"slot": 2, "label": "pi_2", "theory": ALTERNATING},
    ],
    "replacement": {"label": "pi_1", "theory": WEIGHTED},
}
STATE = {
    "rounds": [
        {"next_theory": WEIGHTED, "observations": [{"proposer_theory": WEIGHTED}]},
        {"next_theory": ALTERNATING},
    ]
}


def test_a_file_of_several_theories_lists_each_once_and_gives_the_named_one():
    text = json.dumps(ROUND)
    assert [item.label for item in theories_in(text)] == ["pi_1", "pi_2"]
    assert [item.label for item in theories_in(json.dumps(STATE))] == [
        "rounds.1.next_theory",
        "rounds.2.next_theory",
    ]
    assert chosen_theory(text, "pi_2") == ALTERNATING
    assert chosen_theory(json.dumps({"theory": WEIGHTED})) == WEIGHTED


def test_different_theories_of_one_label_are_told_apart():
    two = {**ROUND, "replacement": {"label": "pi_1", "theory": ALTERNATING | {"rationale": "new"}}}
    assert [item.label for item in theories_in(json.dumps(two))] == ["pi_1.1", "pi_2", "pi_1.3"]


@pytest.mark.parametrize(
    ("which", "words"), [("", "the file holds several: pi_1, pi_2"), ("pi_9", "is called 'pi_9'")]
)
def test_a_file_of_several_theories_is_refused_with_their_labels(which, words):
    with pytest.raises(TheorySourceError, match=words):
        chosen_theory(json.dumps(ROUND), which)


def test_a_file_without_a_theory_is_refused():
    with pytest.raises(TheorySourceError, match="no JSON that holds a theory"):
        theories_in(json.dumps({"rounds": [{"verdict": "new_theory"}]}))


def test_the_command_lists_theories_and_imports_the_named_one(tmp_path):
    file = tmp_path / "theories.json"
    file.write_text(json.dumps(ROUND))
    listed = CliRunner().invoke(app, ["theory", "import", str(file), "--list"])
    assert listed.exit_code == 0, listed.output
    assert "pi_2: Alternation" in listed.output
    one = CliRunner().invoke(app, ["theory", "import", str(file), "--which", "pi_2"])
    assert "Alternation: people press the other key." in one.output
    several = CliRunner().invoke(app, ["theory", "import", str(file)])
    assert several.exit_code == 1
    assert "pi_1, pi_2" in str(several.exception)


def test_one_of_listed_values_is_chosen_by_the_whole_part_of_a_number(sandbox):
    source = """
def predict(parameters, stimulus, history):
    p = {"low": 0.25, "high": 0.75}[parameters["kind"]] + parameters["more"]
    return np.array([1 - p, p])
"""
    given = {
        **WEIGHTED, "predict_source": source,
        "parameters": {"kind": '{"low", "high"}', "more": "{0.125}", "validities": "validities"},
    }  # fmt: skip
    program = import_autocog(given, sandbox)
    theory = load_theory(program, DOMAIN, sandbox)
    assert {name: (item.low, item.high) for name, item in theory.priors.items()} == {
        "kind": (0.0, 2.0)
    }
    values = {"kind": np.array([0.0, 0.99, 1.0, 2.0])}
    (answer,) = sandbox.probabilities(program.source, values, [SPACE.arrays])
    assert answer[:, 0, 1].tolist() == [0.375, 0.375, 0.875, 0.875]


def test_ranks_of_scipy_are_written_out(sandbox):
    predict = """
from scipy.stats import rankdata

def predict(parameters, stimulus, history):
    p = rankdata([parameters["slip"], 2.0, 2.0])[1] / 10
    return np.array([1 - p, p])
"""
    theory = import_autocog(ALTERNATING | {"predict_source": predict}, sandbox)
    (p,) = sandbox.probabilities(theory.source, {"slip": np.zeros(1)}, [SPACE.arrays])
    np.testing.assert_allclose(p[..., 1], 0.25)
    with pytest.raises(TheoryLintError, match=r"scipy\.stats"):
        import_autocog(
            ALTERNATING
            | {"predict_source": predict.replace("import rankdata", "import rankdata, beta")},
            sandbox,
        )


def test_a_theory_without_free_parameters_comes_in(sandbox):
    source = """
def predict(parameters, stimulus, history):
    return np.array([0.25, 0.75]) if parameters["bias"] < 0 else np.array([0.5, 0.5])
"""
    given = {**WEIGHTED, "predict_source": source, "parameters": {"bias": "-1"}}
    theory = load_theory(import_autocog(given, sandbox), DOMAIN, sandbox)
    assert not theory.priors
    (answer,) = sandbox.probabilities(theory.program.source, {}, [SPACE.arrays])
    assert np.allclose(answer[..., 1], 0.75)
