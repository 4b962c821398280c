"""Files beside a declaration, screens before the response, and a plugin, as a declaration names them.

::

    [attributes.voice]
    kind = "category"
    label = "Voice"
    levels = ["calm", "angry"]
    audio = "voices/{level}.mp3"

    [[screens]]
    text = "+"
    ms = 500

    [[screens]]
    html = "mask.html"
    ms = 100

    [plugin]
    file = "tap.js"
    class = "TapPlugin"
    response = "choice"
    time = "rt"

    [plugin.data.choice]
    type = "option"

    [plugin.data.rt]
    type = "number"
    least = 0
    most = 60000
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import Field, field_validator, model_validator

from lakatos.domains.declared.fragment import fragment
from lakatos.domains.kit.settings import TaskSection
from lakatos.experiments.presentation import (
    FAILURE,
    MOST_RECORDED_CHARACTERS,
    RecordedField,
)
from lakatos.traces.digest import Digest, digest_bytes

FileUse: TypeAlias = Literal["images", "audio", "video", "html"]
"""Keys of an attribute that name a file for each level."""
USES: Final[tuple[FileUse, ...]] = get_args(FileUse)
KINDS: Final[Mapping[str, Mapping[str, str]]] = {
    "images": {
        ".png": "image/png",
        ".jpg": "image/jpeg",
        ".jpeg": "image/jpeg",
        ".gif": "image/gif",
        ".webp": "image/webp",
    },
    "audio": {
        ".mp3": "audio/mpeg",
        ".ogg": "audio/ogg",
        ".opus": "audio/ogg",
        ".wav": "audio/wav",
        ".m4a": "audio/mp4",
        ".webm": "audio/webm",
    },
    "video": {".mp4": "video/mp4", ".webm": "video/webm"},
    "html": {".html": "text/html", ".htm": "text/html"},
    "plugin": {".js": "text/javascript", ".mjs": "text/javascript"},
}
"""Media type by the use and the ending of a file."""
CALLED: Final = {
    "images": "PNG, JPEG, GIF or WebP image",
    "audio": "MP3, Ogg, WAV, M4A or WebM sound",
    "video": "MP4 or WebM film",
    "html": "HTML fragment",
    "plugin": "JavaScript file",
}
"""What a file of each use is, for messages."""
LARGEST: Final = {
    "images": 100 * 1024,
    "audio": 2 * 1024**2,
    "video": 4 * 1024**2,
    "html": 50 * 1024,
    "plugin": 500 * 1024,
}
"""Bytes of one file. A page holds the images and fragments of several trials at once."""
LARGEST_ALL: Final = {
    "images": 1024**2,
    "audio": 8 * 1024**2,
    "video": 8 * 1024**2,
    "html": 1024**2,
}
"""Bytes of all files of a use."""
MOST_SCREENS, LONGEST_SCREEN_MS = 20, 60_000
_OTHER_IMPORT = re.compile(
    r"^[ \t]*import\b(?!\s{0,99}\{[^}]{0,2000}\}\s*from\s*[\"']jspsych[\"'])", re.MULTILINE
)
_TYPES = "|".join(sorted({kind for kinds in KINDS.values() for kind in kinds.values()}))
EmbeddedFile = Annotated[str, Field(pattern=rf"^data:({_TYPES});base64,[A-Za-z0-9+/]*={{0,2}}$")]
"""An address that holds a file whole."""


def address_of(kind: str, data: bytes) -> str:
    """The address that holds a file whole."""
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


@lru_cache(maxsize=256)
def file_in(address: str) -> tuple[str, bytes]:
    """Media type and content of an address that holds a file whole."""
    head, _, content = address.partition(";base64,")
    return head.removeprefix("data:"), base64.b64decode(content)


@lru_cache(maxsize=256)
def digest_in(address: str) -> Digest:
    """SHA-256 of the content of an address that holds a file whole."""
    return digest_bytes(file_in(address)[1])


def check_kind(use: str, name: str, data: bytes) -> str:
    """The media type of a file, by its ending and by its content.

    Raises:
        ValueError: Ending or content are not of the use, or contradict each other.
    """
    suffix = PurePosixPath(name).suffix.lower()
    kind = KINDS[use].get(suffix)
    if kind is None:
        raise ValueError(f"{name} does not end as a {CALLED[use]} does ({', '.join(KINDS[use])})")
    if kind.startswith("text/"):
        check_text(use, name, data)
        return kind
    found = _kind_of(data)
    same = {kind, kind.replace("audio/", "video/")} if suffix in (".webm", ".m4a") else {kind}
    if found not in same:
        what = f"its content is {found}" if found else f"its content is no {CALLED[use]}"
        raise ValueError(f"{name} ends in {suffix}, but {what}")
    return kind


def _kind_of(data: bytes) -> str:
    """Media type by the first bytes; empty if they are of no known type."""
    beginnings = {
        b"\x89PNG\r\n\x1a\n": "image/png",
        b"\xff\xd8\xff": "image/jpeg",
        b"GIF87a": "image/gif",
        b"GIF89a": "image/gif",
        b"OggS": "audio/ogg",
        b"ID3": "audio/mpeg",
        b"\x1a\x45\xdf\xa3": "video/webm",
    }
    found = next((kind for start, kind in beginnings.items() if data.startswith(start)), "")
    if found:
        return found if found != "video/webm" or b"webm" in data[:64] else ""
    if data[:4] == b"RIFF":
        return {b"WAVE": "audio/wav", b"WEBP": "image/webp"}.get(data[8:12], "")
    if data[4:8] == b"ftyp":
        return "video/mp4"
    # a frame of MPEG audio: eleven bits set, then a version and a layer that exist
    if len(data) > 1 and data[0] == 0xFF and data[1] & 0xE0 == 0xE0:
        return "audio/mpeg" if data[1] & 0x18 != 0x08 and data[1] & 0x06 else ""
    return ""


def check_text(use: str, name: str, data: bytes) -> None:
    """Refuse a fragment or a plugin that the page cannot present.

    Raises:
        ValueError: It is no text, or holds what is not allowed; the message names the file and the line.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ValueError(f"{name} is no UTF-8 text") from None
    if use == "html":
        try:
            fragment(text)
        except ValueError as error:
            raise ValueError(f"{name}, {error}") from None
        return
    if refused := re.search(r"</?script|<!--", text, re.IGNORECASE):
        raise ValueError(f"{name} holds {refused[0]!r}; divide it, such as '<' + 'script'")
    if imported := _OTHER_IMPORT.search(text):
        line = text[: imported.start()].count("\n") + 1
        raise ValueError(
            f"{name}, line {line}: only names of jspsych can be imported; put everything else into the one file"
        )


class TaskScreen(TaskSection):
    """What is shown for a while before the options: a text, a file, or an attribute of the trial."""

    text: str = Field("", max_length=500)
    html: str = Field("", max_length=200)
    """File with an HTML fragment."""
    image: str = Field("", max_length=200)
    audio: str = Field("", max_length=200)
    video: str = Field("", max_length=200)
    attribute: str = ""
    """Attribute whose values are shown; it is not shown again with the options."""
    ms: float = Field(0, ge=0, le=LONGEST_SCREEN_MS)
    """Duration; may be omitted for sounds and films, which are then played to their end."""
    alt: str = Field("", max_length=200)
    """Words for participants who do not see or hear the file; by default its name."""

    @model_validator(mode="after")
    def _shows_one_thing(self) -> TaskScreen:
        given = [
            name
            for name in ("text", "html", "image", "audio", "video", "attribute")
            if getattr(self, name)
        ]
        if len(given) != 1:
            raise ValueError(
                "give one of text, html, image, audio, video and attribute"
                + (f", not {' and '.join(given)}" if given else "")
            )
        if not self.ms and given[0] in ("text", "html", "image"):
            raise ValueError("give ms, for how many milliseconds it is shown")
        return self

    @property
    def file(self) -> tuple[FileUse, str] | None:
        """Use and name of the file that is shown; None for a text or an attribute."""
        uses: dict[FileUse, str] = {
            "images": self.image,
            "audio": self.audio,
            "video": self.video,
            "html": self.html,
        }
        return next(((use, name) for use, name in uses.items() if name), None)

    @property
    def what(self) -> str:
        """What is shown, for the preregistration."""
        named = self.file[1] if self.file else f"the attribute {self.attribute}"
        return f"“{self.text}”" if self.text else named

    @property
    def words(self) -> str:
        """Words for participants who do not see or hear the file."""
        return self.alt or PurePosixPath(self.image or self.audio or self.video).stem


class PluginField(TaskSection):
    """A value in the data with which a plugin finishes a trial."""

    type: Literal["number", "integer", "text", "boolean", "option"]
    least: float = -1e12
    most: float = 1e12
    longest: int = Field(200, ge=1, le=MOST_RECORDED_CHARACTERS)
    """Characters of a text."""
    values: tuple[str, ...] = ()
    """Possible texts; any text if there are none."""
    optional: bool = False
    meaning: str = Field("", max_length=200)
    """What it is, for the codebook."""

    @model_validator(mode="after")
    def _fits_its_type(self) -> PluginField:
        of = {"least": "number", "most": "number", "longest": "text", "values": "text"}
        for name in self.model_fields_set & set(of):
            kinds = ("number", "integer") if of[name] == "number" else ("text",)
            if self.type not in kinds:
                raise ValueError(f"{name} belongs to the type {of[name]!r}")
        if self.least > self.most:
            raise ValueError(f"least = {self.least:g} is above most = {self.most:g}")
        return self

    @property
    def rule(self) -> RecordedField:
        """What the server takes of it."""
        return RecordedField(
            kind=self.type,
            meaning=self.meaning or "value of the plugin",
            least=self.least,
            most=self.most,
            longest=self.longest,
            values=self.values,
            optional=self.optional,
        )


class TaskPlugin(TaskSection):
    """A jsPsych plugin of the researcher's own that presents trials in place of the page."""

    file: str = Field(min_length=1, max_length=200)
    """One JavaScript file beside the declaration."""
    class_: str = Field(alias="class", pattern=r"^[A-Za-z_$][A-Za-z0-9_$]*$")
    """Name in the file of the class with ``static info`` and ``trial(display_element, trial)``."""
    response: str
    """Field of the data with the option chosen."""
    time: str
    """Field of the data with the response time in milliseconds."""
    data: dict[str, PluginField] = Field(min_length=2, max_length=50)
    """All fields with which it finishes a trial."""
    parameters: dict[str, str | bool | int | float | tuple[str | bool | int | float, ...]] = Field(
        default_factory=dict
    )
    """Parameters that are the same in all trials."""

    @field_validator("data")
    @classmethod
    def _names_are_plain(cls, value: dict[str, PluginField]) -> dict[str, PluginField]:
        for name in value:
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,39}", name):
                raise ValueError(
                    f"{name!r} is no name of a field; take letters, digits and underscores"
                )
            if name == FAILURE:
                raise ValueError(f"{name!r} is recorded by the page itself; take another name")
        return value

    @model_validator(mode="after")
    def _response_and_time(self) -> TaskPlugin:
        for key, name, kind in (
            ("response", self.response, "option"),
            ("time", self.time, "number"),
        ):
            if name not in self.data:
                raise ValueError(
                    f"{key} = {name!r} is no field of data; there are {', '.join(self.data)}"
                )
            if self.data[name].type != kind or self.data[name].optional:
                raise ValueError(f"data.{name} is the {key}; its type is {kind!r}, not optional")
        for name, item in self.data.items():
            if item.type == "option" and name != self.response:
                raise ValueError(f"data.{name}: only the response is of the type 'option'")
        if not (self.data[self.time].least >= 0 and self.data[self.time].most <= 1e9):
            raise ValueError(f"data.{self.time} is a response time; give least = 0 and most")
        texts = sum(item.longest for item in self.data.values() if item.type == "text")
        if texts > MOST_RECORDED_CHARACTERS:
            raise ValueError(
                f"data: texts have up to {texts} characters together, more than {MOST_RECORDED_CHARACTERS}; "
                "give longest for each"
            )
        return self


def line_of(text: str, place: list[str]) -> int:
    """The line of a TOML text, from 1, on which a key stands, or the section that would hold it; 0 if there is none.

    Args:
        text: As the researcher wrote it.
        place: Names and, for lists of sections, numbers from 0, such as ``["screens", "1", "html"]``.
    """
    best, best_length, section = 0, 0, list[str]()
    numbers: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if head := re.match(r"\s*(\[\[?)([^\[\]]+)\]", line):
            section = _parts(head[2])
            if head[1] == "[[":
                name = ".".join(section)
                numbers[name] = numbers.get(name, -1) + 1
                section = [*section, str(numbers[name])]
            found = section
        elif key := re.match(r"\s*([\w.\"'-]+)\s*=", line):
            found = [*section, *_parts(key[1])]
        else:
            continue
        length = min(len(found), len(place))
        if length > best_length and found[:length] == place[:length]:
            best, best_length = number, length
    return best


def _parts(key: str) -> list[str]:
    return [part.strip().strip("\"'") for part in key.split(".")]


def fields_of(plugin: TaskPlugin) -> dict[str, RecordedField]:
    """The schema of a plugin's data."""
    return {name: item.rule for name, item in plugin.data.items()}


def plain(value: Any) -> Any:
    """Parameters as JSON has them."""
    return list(value) if isinstance(value, tuple) else value
