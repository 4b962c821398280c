"""A small model, trained from scratch on simulated campaigns, that reads answers and writes theories in the contract.

    .trained/bin/python -m benchmarks.models.trained.train ...       # see `train`
    .trained/bin/python -m benchmarks.models.trained.measure ...     # see `measure`

`worlds` draws truths and simulates people, `snippets` turns sources into tokens, `network` is the transformer, `serve`
answers requests of the OpenAI protocol with it. ``requirements.txt`` says how to make the environment; torch is no
dependency of the project.
"""
