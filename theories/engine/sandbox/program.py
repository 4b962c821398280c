"""The sandbox profile in which a program runs once: ``run(arguments)`` takes plain values and gives a plain value."""

from __future__ import annotations

import os
import sys
import types
from typing import NoReturn

from lakatos.theories.engine.sandbox import layers, serving, wire, zygote


def main() -> NoReturn:
    """Serve the control socket until it closes."""
    namespaces = layers.enter_namespaces()
    zygote.command(namespaces, zygote.prepare(), serve)


def serve(sent: memoryview, room: memoryview) -> None:
    """Run the program of the first request once."""
    header, _ = serving.read_request(sent)
    try:
        module = types.ModuleType("program")
        sys.modules["program"] = module
        exec(
            compile(header["source"], wire.SOURCE_NAME, "exec", dont_inherit=True), module.__dict__
        )
        serving.write_answer({"returned": module.run(header["arguments"])})
    except BaseException as error:
        serving.write_answer(serving.failure(error), status=wire.FAILED)
    os._exit(0)


if __name__ == "__main__":
    main()
