"""Count of numbers that a theory's source could hide: a table of responses is no rule, in whatever form it is written.

A number of two digits is the unit. Counted are digits and texts, and what stands for numbers without being one: truth
values, entries of long rows and of all rows together, long chains, statements that are alike or long, digits in names,
and declarations (clauses, units) that the functions read. The limit (`exam.MOST_NUMBERS`) leaves room for what
honest theories hold.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from lakatos.theories.language.parsing import parse
from lakatos.theories.language.theory import TheoryProgram, read_program

DECLARED = ("PARAMETERS", "COMPOSITION", "PREDICTIONS", "CLAUSES")
"""Declarations, which count only where functions read them as data."""
LONGEST_ROW = 8
"""Entries of a row (a list, arguments, a chain) from which on each counts, even one of a single digit."""
LONGEST_ROWS = 16
"""Entries of rows within rows, constants of a statement, and links of a chain, from which on each counts."""
MOST_ALIKE = 24
"""Statements of one shape, in whatever block, from which on each counts."""
MOST_ALIKE_BARE = 12
"""The same for statements without any constant."""
MOST_STATEMENTS = 220
"""Statements of a source, beyond which each counts."""
MOST_WORDS = 32
"""Names and constants of one statement, beyond which each counts."""
MOST_FUNCTIONS = 40
"""Functions of a source, those without a name among them, beyond which each counts."""
LONGEST_WORD = 40
"""Characters of a text that names an entry, beyond which it counts as more than a name."""
FREE_LETTERS = 60
"""Letters of keys that stand where nothing is looked up by them, in written dictionaries and elsewhere: published
theories have up to 50."""
FREE_KEYS = 300
"""Letters of all that is looked up by a text; published theories need up to 169."""
MOST_ENTRIES = 300
"""Entries of all brackets, arguments of calls of four or more, operands of chains of seven or more, and parts of texts
with places, beyond which each counts, however short its row is; published and composed theories hold up to 283."""
MOST_PARAMETER_LETTERS = 240
"""Letters of all names of parameters, beyond which they count; published theories have up to 231."""
MOST_FREE_OPERANDS = 6
"""Operands of a chain that are not counted among the entries of a source."""
MOST_FREE_ARGUMENTS = 3
"""Arguments of a call that are not counted among them."""
MOST_ZEROS = 9
"""Places of an exponent, or zeros at the end of a number, beyond which their number counts as digits."""
WIDE = 6
"""Letters as which a character outside ASCII counts: there are a million of them, as of three numbers."""
READS_NAMES = frozenset((
    "ascii", "dir", "fields", "getdoc", "getmembers", "getsource", "globals", "inspect", "locals", "repr", "signature",
    "vars",
))  # fmt: skip
"""Functions and modules by which a source can read its own names and comments as text."""
READS_LETTERS = frozenset((
    "bytearray", "bytes", "chr", "encode", "find", "frombuffer", "fromstring", "hash", "index", "ord", "rfind",
    "translate",
))  # fmt: skip
"""Functions that make numbers of letters."""

DISPLAYS = (ast.List, ast.Tuple, ast.Set, ast.Dict)
Row = list[ast.AST]


def table_size(source: str) -> int:
    """Count the numbers of two digits that could be hidden in a source outside its declarations."""
    nodes = _nodes_that_count(source)
    looked_up = _looked_up(nodes)
    free = {id(item) for item in looked_up}
    comments = {id(item.value) for item in nodes if isinstance(item, ast.Expr)}
    keys = {item.value for item in looked_up if isinstance(item.value, str)}
    priors = set(read_program(TheoryProgram(source, "")).priors)
    keys |= priors
    keys = {name for name in keys if len(name) <= LONGEST_WORD}
    names = {name for node in nodes for name in _names_of(node)}

    constants = [item for item in nodes if isinstance(item, ast.Constant)]
    size = sum(_in_constant(item, keys, comments) for item in constants)
    # What stands in a long row counts once at least.
    listed = _listed(nodes).values()
    size += sum(_in_constant(item, keys, comments) == 0 for item in listed)
    size += _chained(nodes)
    size += _nameless(nodes) + _long_statements(nodes)
    size += sum(map(_digits, names | keys)) // 2
    apart = [item.value for item in constants if id(item) not in free and item.value in keys]
    written = sum(map(_n_letters, [*(_written_keys(nodes) & keys), *apart]))
    named = sum(map(_n_letters, priors)) - MOST_PARAMETER_LETTERS
    size += (
        2 * (max(written - FREE_LETTERS, 0) + max(named, 0)) // 3
    )  # a letter holds two thirds of two digits
    size += max(_entries(nodes) - MOST_ENTRIES, 0) + _in_ranges(source)
    size += max(sum(map(_n_letters, keys - priors)) - FREE_KEYS, 0) // 2
    return size + _letters(nodes, names, keys, comments)


def _written_keys(nodes: Sequence[ast.AST]) -> set[str]:
    """Texts that are keys of dictionaries as they are written: a loop over one reads them letter by letter."""
    keys = [key for item in nodes if isinstance(item, ast.Dict) for key in item.keys]
    values = (key.value for key in keys if isinstance(key, ast.Constant))
    return {value for value in values if isinstance(value, str)}


def _letters(nodes: Sequence[ast.AST], names: set[str], keys: set[str], comments: set[int]) -> int:
    """Count what letters of names and comments could hide, where something makes numbers, or texts, of them."""
    reads_names = _reads_names(nodes, names)
    read: list[str] = []
    with_base = any(_name_called(item) == "int" and len(_row(item)) > 1 for item in nodes)
    if reads_names or names & READS_LETTERS or with_base:
        arguments = (item.arg for item in nodes if isinstance(item, ast.keyword))
        read += {*keys, *filter(None, arguments)}
    if reads_names:
        texts = (item for item in nodes if isinstance(item, ast.Constant) and id(item) in comments)
        read += [*names, *(str(item.value) for item in texts)]
    return sum(map(_n_letters, read)) // 2


def _n_letters(text: str | bytes) -> int:
    """Letters of a text; one outside ASCII holds as much as several."""
    return len(text) if isinstance(text, bytes) else sum(1 if c.isascii() else WIDE for c in text)


def _name_called(node: ast.AST) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _entries(nodes: Sequence[ast.AST]) -> int:
    """Entries of all rows and chains of a source, where each bracket within brackets is an entry, too."""
    inner = {id(item) for node in nodes for item in _operands(node)}
    chains = [node for node in nodes if id(node) not in inner]
    operands = sum(n for n in map(_length_of_chain, chains) if n > MOST_FREE_OPERANDS)
    texts = sum(len(node.values) for node in nodes if isinstance(node, ast.JoinedStr))
    calls = [len(_row(node)) for node in nodes if isinstance(node, ast.Call)]
    size = operands + texts + sum(n for n in calls if n > MOST_FREE_ARGUMENTS)
    stored = {id(item) for item in nodes if isinstance(getattr(item, "ctx", None), ast.Store)}
    rows = [_row(item) for item in nodes if isinstance(item, DISPLAYS) and id(item) not in stored]
    return size + sum(not _is_axis(item) for row in rows for item in row)


def _is_axis(node: ast.AST) -> bool:
    """Whether an entry of a subscript only says which axis is meant."""
    return isinstance(node, ast.Slice) or (
        isinstance(node, ast.Constant) and node.value in (None, ...)
    )


def _in_ranges(source: str) -> int:
    """Count what the digits of ranges of parameters could hide beyond the two that a range needs."""
    declared = (node for node in parse(source).body if _declared(node) == "PARAMETERS")
    numbers = (
        item for node in declared for item in ast.walk(node) if isinstance(item, ast.Constant)
    )
    digits = (
        len(significant_digits(item.value))
        for item in numbers
        if not isinstance(item.value, str | bool)
    )
    return sum(max(0, n - 2) for n in digits) // 2


def _nodes_that_count(source: str) -> list[ast.AST]:
    """Everything outside declarations, and the declarations that something outside reads."""
    body = parse(source).body
    declared = {name: node for node in body if (name := _declared(node))}
    own = [node for node in body if not _declared(node)]
    nodes = [item for node in own for item in ast.walk(node)]
    read = {item.id for item in nodes if isinstance(item, ast.Name)}
    return [
        *nodes,
        *(item for name, node in declared.items() if name in read for item in ast.walk(node)),
    ]


def _declared(node: ast.stmt) -> str:
    """The declaration that a statement makes; empty where it makes none, or gives it a second name."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return ""
    target = node.targets[0]
    return target.id if isinstance(target, ast.Name) and target.id in DECLARED else ""


def _names_of(node: ast.AST) -> Iterator[str]:
    """Yield the names of variables, functions, attributes and arguments in a node."""
    for field in ("id", "name", "attr", "arg", "asname"):
        value = getattr(node, field, None)
        if isinstance(value, str):
            yield value


def _looked_up(nodes: Sequence[ast.AST]) -> list[ast.Constant]:
    """Constants that only look something up: subscripts, new axes in them, and keys of short dictionaries."""
    found = [item.slice for item in nodes if isinstance(item, ast.Subscript)]
    tables = [item for item in nodes if isinstance(item, ast.Dict)]
    keys = [key for item in tables if len(item.keys) <= LONGEST_ROW for key in item.keys if key]
    axes = [
        part
        for item in found
        for part in ast.walk(item)
        if isinstance(part, ast.Constant) and (part.value is None or part.value is ...)
    ]
    return [*axes, *(item for item in (*found, *keys) if isinstance(item, ast.Constant))]


def _in_constant(node: ast.AST, keys: set[str], comments: set[int]) -> int:
    """Count the numbers of two digits that a constant could hide by itself; 0 for anything else.

    Digits of keys are counted with those of other names; of comments, which nothing reads, digits alone count.
    """
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, bool) or value in (None, ...) or value in keys:
        return 0
    if isinstance(value, int | float | complex):
        return len(significant_digits(value)) // 2
    if isinstance(value, str) and id(node) in comments:
        return _digits(value) // 2
    return _n_letters(value) // 2 if isinstance(value, str | bytes) else 0


def _listed(nodes: Sequence[ast.AST]) -> dict[int, ast.AST]:
    """Constants, names and empty brackets that stand in long rows or in statements with many constants, by id."""
    found: dict[int, ast.AST] = {}
    for node in nodes:
        row = _row(node)
        entries = [leaf for entry in row for leaf in _leaves(entry)]
        if len(row) > LONGEST_ROW or len(entries) > LONGEST_ROWS:
            found |= {
                id(item): item
                for item in entries
                if isinstance(item, ast.Constant | ast.Name) or _is_empty(item)
            }
        if len(row) > LONGEST_ROW and isinstance(node, (*DISPLAYS, ast.FunctionDef)):
            found |= {
                id(item): item
                for entry in row
                for item in ast.walk(entry)
                if isinstance(item, ast.Constant)
            }
    return found


def _row(node: ast.AST) -> Row:
    """Return what stands side by side in a node."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return list(node.elts)
    if isinstance(node, ast.Dict):
        return [item for pair in zip(node.keys, node.values, strict=True) for item in pair if item]
    if isinstance(node, ast.Call):
        return [*node.args, *(item.value for item in node.keywords)]
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return list[ast.AST](node.decorator_list)
    if isinstance(node, ast.arguments):
        return [*node.defaults, *(item for item in node.kw_defaults if item)]
    return []


def _leaves(node: ast.AST) -> Iterator[ast.AST]:
    """Entries of rows within rows."""
    row = _row(node) if isinstance(node, DISPLAYS) else []
    if not row:
        yield node
    for item in row:
        yield from _leaves(item)


def _is_empty(node: ast.AST) -> bool:
    return isinstance(node, DISPLAYS) and not _row(node)


def _chained(nodes: Sequence[ast.AST]) -> int:
    """Links of long chains: comparisons, signs, calls of calls, cases, and statements that are all of one shape."""
    size = sum(
        len(item.ops)
        for item in nodes
        if isinstance(item, ast.Compare) and len(item.ops) > LONGEST_ROW
    )
    inner = {id(link) for node in nodes if (link := _next_link(node)) is not None}
    lengths = (_length(node) for node in nodes if id(node) not in inner)
    return size + sum(length for length in lengths if length > LONGEST_ROWS)


def _nameless(nodes: Sequence[ast.AST]) -> int:
    """Count what could stand for numbers without a constant: operands, entries of rows, statements that are alike."""
    size = 0
    for node in nodes:
        row = _row(node)
        made = [item for item in row if not isinstance(item, (ast.Constant, ast.Name, *DISPLAYS))]
        without = [
            item
            for item in made
            if not any(isinstance(part, ast.Constant) for part in ast.walk(item))
        ]
        size += len(without) if len(row) > LONGEST_ROW else 0
        loops = getattr(node, "generators", ())
        size += len(loops) if len(loops) > LONGEST_ROW else 0
    statements = _statements(nodes)
    bare = {id(item) for item in statements
            if not any(isinstance(part, ast.Constant) for part in ast.walk(item))}  # fmt: skip
    alike = Counter((_shape(item), id(item) in bare) for item in statements)
    size += sum(
        number
        for (_, is_bare), number in alike.items()
        if number > (MOST_ALIKE_BARE if is_bare else MOST_ALIKE)
    )
    size += max(0, len(statements) - MOST_STATEMENTS)
    functions = sum(isinstance(item, ast.FunctionDef | ast.Lambda) for item in nodes)
    return size + max(0, functions - MOST_FUNCTIONS)


def _operands(node: ast.AST) -> list[ast.AST]:
    """Return what a chain of operators combines, or the parts of a text with places; empty for other nodes."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.BoolOp | ast.JoinedStr):
        return list(node.values)
    return []


def _length_of_chain(node: ast.AST) -> int:
    """Operands of a chain of operators, those of its operands included."""
    length, rest = 0, _operands(node)
    while rest:
        inner = _operands(rest.pop())
        rest += inner
        length += not inner
    return length


def _long_statements(nodes: Sequence[ast.AST]) -> int:
    """Names and constants of statements beyond those that a readable statement holds."""
    return sum(max(0, _words(item) - MOST_WORDS) for item in _statements(nodes))


def _statements(nodes: Sequence[ast.AST]) -> list[ast.stmt]:
    """All statements but definitions of functions and classes, in whatever block."""
    defined = (ast.FunctionDef, ast.ClassDef)
    return [item for item in nodes if isinstance(item, ast.stmt) and not isinstance(item, defined)]


def _words(node: ast.stmt) -> int:
    """Names and constants of a statement, without those of statements inside it."""
    inside = [
        item
        for item in ast.iter_child_nodes(node)
        if not isinstance(item, ast.stmt | ast.match_case | ast.ExceptHandler)
    ]
    parts = (item for part in inside for item in ast.walk(part))
    return sum(isinstance(item, ast.Name | ast.Constant) for item in parts)


def _shape(node: ast.AST) -> str:
    """Describe the form of a statement without its names and numbers; statements inside it are omitted."""
    found, rest = list[str](), [node]
    while rest:
        item = rest.pop()
        inside = [part for part in ast.iter_child_nodes(item) if not isinstance(part, ast.stmt)]
        found.append(f"{type(item).__name__}{len(inside)}")
        rest += inside
    return " ".join(found)


def _next_link(node: ast.AST) -> ast.AST | None:
    """The next link of a chain: what a sign, an attribute, a call or ``elif`` follows upon."""
    if isinstance(node, ast.UnaryOp):
        return node.operand
    if isinstance(node, ast.Attribute | ast.Subscript):
        return node.value
    if isinstance(node, ast.Call):
        return (
            node.func
            if isinstance(node.func, ast.Attribute | ast.Call) or not node.args
            else node.args[-1]
        )
    if isinstance(node, ast.IfExp):
        return node.orelse
    if isinstance(node, ast.If) and len(node.orelse) == 1:
        return node.orelse[0]
    return None


def _length(node: ast.AST) -> int:
    length, link = 0, _next_link(node)
    while link is not None:
        length, link = length + 1, _next_link(link)
    return length


def _reads_names(nodes: Iterable[ast.AST], called: set[str]) -> bool:
    """Whether a source can read its own names: by functions, from exceptions, classes, or in texts with places."""
    return bool(called & READS_NAMES) or any(
        (isinstance(item, ast.ClassDef) and bool(item.bases or item.decorator_list))
        or (isinstance(item, ast.ExceptHandler) and item.name is not None)
        or (isinstance(item, ast.FormattedValue) and item.conversion != -1)
        for item in nodes
    )


def _digits(text: str) -> int:
    return sum(character.isdigit() for character in text)


def significant_digits(number: object) -> str:
    """The digits of a number that carry something: of 0.0250 and of 2500000 "25"; and those of a long exponent."""
    text, _, power = repr(number).partition("e")
    if isinstance(number, int):
        text = hex(number).removeprefix("0x")
        power = str(len(text) - len(text.rstrip("0")))
    digits = "".join(character for character in text if character.isalnum()).strip("0")
    exponent = power.lstrip("-+0")
    return digits + exponent[:2] if exponent.isdigit() and int(exponent) > MOST_ZEROS else digits
