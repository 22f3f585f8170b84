"""`python -m workbench film`: the recording that is kept, and the picture that is drawn of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest

from workbench import ROOT
from workbench.film import command

CAST, FILM = ROOT / "docs" / "film.cast", ROOT / "docs" / "film.svg"
MOST_BYTES = 300_000
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def film() -> ModuleType:
    return command


@pytest.fixture(scope="module")
def events() -> list[list[Any]]:
    header, *events = map(json.loads, CAST.read_text(encoding="utf-8").splitlines())
    assert header["version"] == 2
    return events


def seen(picture: str) -> list[str]:
    """Return the lines of a picture, which must be well-formed."""
    root = ElementTree.fromstring(picture)
    return ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]


def test_the_picture_is_drawn_of_the_recording(film: ModuleType) -> None:
    picture = FILM.read_text(encoding="utf-8")
    assert picture == film.drawing.draw(CAST, film.TITLE), "run `python -m workbench film`"
    assert len(picture.encode()) < MOST_BYTES


def test_it_shows_all_that_was_recorded_and_nothing_else(events) -> None:
    recorded = "".join(text for _, _, text in events)
    shown = "".join(seen(FILM.read_text(encoding="utf-8")))
    assert shown.split() == "".join(recorded.splitlines()).split()


def test_the_recording_has_the_commands_and_outputs_of_the_film(film: ModuleType, events) -> None:
    recorded = "".join(text for _, _, text in events)
    (wheel,) = re.findall(r"patchkit\S*\.whl", recorded)
    outputs = recorded.split(film.recording.PROMPT)[1:-1]
    for scene, output in zip(film.recording.scenes(wheel), outputs, strict=True):
        assert output.startswith(f"{scene.command}\n")
        assert scene.shows in output.removeprefix(scene.command)


def test_there_is_no_folder_of_a_machine(film: ModuleType) -> None:
    for file in (CAST, FILM):
        text = re.sub(r"(?s)<style>.*?</style>|http://www.w3.org/2000/svg", "", file.read_text())
        assert not film.recording.PATH_OF_A_MACHINE.search(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("File /home/someone/train.py", True),
        ('File "/opt/venv/lib/python3.11/x.py"', True),
        ("~/train/train.py:3", False),
        ("1/2, and/or", False),
    ],
)
def test_a_folder_of_a_machine(film: ModuleType, text: str, found: bool) -> None:
    assert bool(film.recording.PATH_OF_A_MACHINE.search(text)) is found
    if found:
        with pytest.raises(film.recording.FilmError, match="folder of this machine"):
            film.recording.check_paths(text)


def test_without_animation_the_last_frame_is_seen() -> None:
    """What hides a line is in keyframes only, which `prefers-reduced-motion` turns off."""
    picture = FILM.read_text(encoding="utf-8")
    assert re.search(r"prefers-reduced-motion: reduce\) \{ \* \{ animation: none", picture)
    plain = re.sub(r"@keyframes \w+ \{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", picture)
    assert plain.count("@keyframes") == 0
    assert "opacity" not in plain
    covers = ElementTree.fromstring(picture).iter(f"{SVG}rect")
    assert [cover.get("width") for cover in covers][1:] == ["0"] * picture.count('<rect class="c')


def test_pauses_are_shortened_and_commands_typed(film: ModuleType, tmp_path: Path) -> None:
    prompt = film.recording.PROMPT
    events = [[0.0, "o", f"{prompt}ls\n"], [100.0, "o", "a & <b>\n"], [900.0, "o", prompt]]
    cast = tmp_path / "film.cast"
    lines = [{"version": 2, "width": 5, "height": 9}, *events]
    cast.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    picture = film.drawing.draw(cast, 'a "title"')
    assert seen(picture) == [f"{prompt}ls", "a & <", "b>", prompt]
    (length,) = set(re.findall(r"animation: \w+ ([\d.]+)s", picture))
    assert 5 < float(length) < 12
