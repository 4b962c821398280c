"""The sandbox profile in which a program runs that asks the laboratory for what it cannot do itself.

The program defines ``run(arguments, call)``: plain values in, a plain value out. ``call(name, arguments)`` is written
to the laboratory, which answers with a result or with the reason why there is none; nothing else reaches the outside.
What the laboratory refuses is raised as `RefusedError`, which the program may catch or let pass.
"""

from __future__ import annotations

import os
import sys
import types
from typing import Any, NoReturn

from lakatos.theories.sandbox import layers, wire, zygote


class RefusedError(Exception):
    """The laboratory did not do what was asked."""


def main() -> NoReturn:
    """Serve the control socket until it closes."""
    namespaces = layers.enter_namespaces()
    zygote.command(namespaces, zygote.prepare(), serve)


def serve(sent: memoryview, room: memoryview) -> None:
    """Run the program of the first request once."""
    header, _ = zygote.read_request(sent)
    refused: RefusedError | None = None

    def call(name: str, arguments: dict[str, Any] | None = None, /, **named: Any) -> Any:
        nonlocal refused
        zygote.write_answer({"call": str(name), "arguments": {**(arguments or {}), **named}})
        answer, _ = zygote.read_request(sent)
        if "refused" in answer:
            refused = RefusedError(str(answer["refused"]))
            raise refused
        return answer["result"]

    try:
        module = types.ModuleType("program")
        sys.modules["program"] = module
        exec(
            compile(header["source"], wire.SOURCE_NAME, "exec", dont_inherit=True), module.__dict__
        )
        if not callable(getattr(module, "run", None)):
            raise zygote.ShapeError("the source defines no function `run(arguments, call)`")
        if header.get("compile_only"):
            zygote.write_answer({"returned": None})
        else:
            zygote.write_answer({"returned": module.run(header["arguments"], call)})
    except BaseException as error:
        failure = zygote.failure(error)
        zygote.write_answer({**failure, "refused": error is refused}, status=wire.FAILED)
    os._exit(0)


if __name__ == "__main__":
    main()
