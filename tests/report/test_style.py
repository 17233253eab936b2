"""The look of figures."""

import pytest
from matplotlib.figure import Figure

from analogyqa.report.style import (
    COLOURS,
    INK,
    LINE_STYLES,
    line_style,
    line_styles,
    own_style,
    save_figure,
    svg_text,
    system_style,
)
from builders.report import repository_config

ANALOGY, BASELINE, FASTTEXT = "analogy", "similarity", "fasttext-average"


def test_the_first_lines_have_different_styles():
    assert len({tuple(line_style(index).values()) for index in range(LINE_STYLES)}) == LINE_STYLES


def test_a_system_has_one_style_whatever_else_is_run():
    config, paper = repository_config(), "sentence_analogies"
    fewer = {name: system for name, system in config.systems.items() if name != ANALOGY}
    alone = config.model_copy(
        update={"studies": {paper: config.studies[paper]}, "systems": dict(reversed(fewer.items()))}
    )
    for name in (BASELINE, FASTTEXT):
        assert system_style(name, paper, alone) == system_style(name, paper, config)


def test_lines_have_the_styles_of_their_systems_and_different_colours():
    config, paper = repository_config(), "sentence_analogies"
    own = {name: system_style(name, paper, config) for name in (FASTTEXT, ANALOGY, BASELINE)}
    assert own[FASTTEXT]["color"] == own[BASELINE]["color"]  # the later one gives way
    looks = dict(zip(own, line_styles(list(own), paper, config), strict=True))
    assert {name for name in own if looks[name] == own[name]} == {ANALOGY, BASELINE}
    assert looks[FASTTEXT]["color"] not in {own[name]["color"] for name in own}
    many = line_styles(list(config.systems)[: LINE_STYLES + 1], paper, config)
    assert len({tuple(look.values()) for look in many}) == LINE_STYLES
    assert line_styles([BASELINE] * 2, paper, config) == [line_style(0), line_style(1)]


def contrast(colour: str, background: str) -> float:
    """Return the ratio of two luminances, by WCAG 2."""
    luminances = []
    for text in (colour, background):
        channels = [int(text[start : start + 2], 16) / 255 for start in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        luminances.append(sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True)))
    dark, light = sorted(luminances)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("background", ["#ffffff", "#0d1117", "#131416", "#15181c"])
def test_text_and_marks_can_be_seen_on_light_and_dark_pages(background):
    """The last three are those of GitHub, of the documentation and of the report."""
    assert contrast(INK, background) > 3.8
    assert all(contrast(colour, background) > 2.2 for colour in COLOURS)


def test_an_svg_has_no_background():
    with own_style():
        text = svg_text(Figure((1, 1)))
    assert "prefers-color-scheme: dark" in text and "ffffff" not in text.lower()


@pytest.mark.parametrize(("letters", "columns"), [(10, 2), (60, 1)])
def test_a_legend_is_not_wider_than_its_figure(tmp_path, letters, columns):
    figure = Figure((6, 4), layout="constrained")
    axes = figure.subplots()
    for letter in "ab":
        axes.plot([0, 1], label=letter * letters)
    save_figure(figure, "title", {"svg": tmp_path / "figure.svg"})
    (legend,) = figure.legends
    assert legend._ncols == columns
    assert legend.get_window_extent().width <= figure.bbox.width
