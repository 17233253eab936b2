"""Given damaged files and absurd values, each reader gives a result or an AnalogyQAError.

Most inputs are valid files with a few bytes changed at random; others are configurations and
registries with changed values. A failure shows the input, its number and the seed.
"""

import random
from collections.abc import Iterator
from copy import deepcopy
from datetime import date
from pathlib import Path

import pytest
import yaml

from analogyqa.cells.availability import Availability
from analogyqa.errors import AnalogyQAError
from analogyqa.settings.load import load_config
from analogyqa.sources.registry import load_registry
from builders.damaged import REGISTRY, ROOT, TARGETS, Target

SEED = 2019
TOKENS = [
    *(b"\0", b"\t", b"\n", b"\r\n", b" ", b"  ", b'"', b"'", b"\xff\xfe", b"\xef\xbb\xbf"),
    *(b"-1", b"0", b"1", b"nan", b"inf", b"1e999", b"1_0", b"9" * 20, b"9" * 5000, b"3.4e38"),
    *(b"\xf4\x8f\xbf\xbf", b"\xed\xa0\x80", b'"\\ud800"', b'"\\0"', b"\xc2\xa0", b"\x0c", b"\x1c"),
    *(b"\xff\xff\xff\x7f", b"\xff" * 8, b"\xff" * 7 + b"\x7f", b"\0" * 8, b"\0" * 7 + b"\x80"),
    *(b"<QApairs id='1'>\n", b"</QApairs>\n", b"<question>\n", b"</question>\n", b"<positive>\n"),
    *(b"{", b"}", b"[", b"]", b"{}", b"[]", b"null", b"true", b"~", b": ", b"- ", b", ", b"#"),
    *(b"[" * 300, b'{"a":' * 1500, b"&x ", b"*x", b"<<: ", b"!!int ", b"!!bool x", b"!!float x"),
    *(b"!!timestamp x", b"!!binary x", b"2001-99-99", b"0x" + b"f" * 5000, b"|", b">", b"? "),
    *(b"%YAML 9\n---\n", b".inf", b"../", b"/", b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"),
]
NONSENSE = [
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 10**30, 0.0, -0.5, 1.5, 1e308),
    *(float("nan"), float("inf"), "", " ", "a", "a/b", "../a", "/", "x" * 300, "a/" + "x" * 300),
    *("\0", "a/\0", "\ud800", "é", "None", "paper", "comb", "who", "analogy", "wikiqa", "unknown"),
    *("0" * 64, "http://a/b", "a+b", "a.b", "C:/a", [], [[]], [None], [1, 1], ["a", "a"], {}),
    *({"a": None}, {"a": {}}, {1: 2}, {None: 1}, {"": ""}, {True: "a"}, [{"url": "http://a"}]),
    *(date(2019, 11, 3), b"\xff", {"loss": "lwda"}, {"dropout": 2}, {"model": {"training": 1}}),
]


def changed_bytes(valid: list[bytes], draw: random.Random) -> bytes:
    """Return one of the valid files with one to nine changes at random."""
    data = bytearray(draw.choice(valid))
    for _ in range(draw.choice((1, 1, 2, 3, 5, 9))):
        start = draw.randrange(len(data) + 1)
        end = min(len(data), start + draw.choice((0, 1, 1, 2, 4, 8, 40)))
        change = draw.randrange(7)
        if change == 0:
            data[start:end] = b""
        elif change == 1:
            data[start:end] = draw.randbytes(end - start)
        elif change == 2 and start < len(data):
            data[start] ^= 1 << draw.randrange(8)
        elif change == 3:
            data[start:start] = data[start:end] * draw.choice((1, 2, 8))
        elif change == 4:
            data[start:end] = draw.choice(TOKENS)
        elif change == 5:
            other, position = draw.choice(valid), draw.randrange(1 + len(data))
            data[start:end] = other[position : position + draw.choice((4, 16, 64))]
        elif draw.random() < 0.3:
            del data[start:]
    return bytes(data)


def locations(values: object) -> Iterator[tuple]:
    """Yield the container and the key of every value in nested dictionaries and lists."""
    for key, value in values.items() if isinstance(values, dict) else enumerate(values):
        yield values, key
        if isinstance(value, dict | list):
            yield from locations(value)


def changed_values(valid: list[dict], draw: random.Random) -> dict:
    """Return a copy of nested values, some of them replaced, removed, renamed or added."""
    values = deepcopy(draw.choice(valid))
    for _ in range(draw.choice((1, 1, 2, 4))):
        nonsense = deepcopy(draw.choice(NONSENSE))
        inner, key = draw.choice([*locations(values)] or [(values, "a")])
        change = draw.randrange(5)
        if change == 0 and isinstance(inner, dict):
            inner.pop(key, None)
        elif change == 1 and isinstance(inner, dict):
            inner[draw.choice(["a", f"{key}x", 1, None, "\ud800", 2.5])] = inner.pop(key, None)
        elif change == 2 and isinstance(inner, dict):
            inner[draw.choice(["a", 1, None, "title", "loss", "\0"])] = nonsense
        elif change == 3 and values:
            other, position = draw.choice([*locations(values)])
            inner[key] = deepcopy(other[position])
        else:
            inner[key] = nonsense
    return values


def configure(values: dict, path: Path) -> None:
    config = load_config(values, str(path))
    try:
        Availability(config, load_registry(ROOT / "sources.yaml"), str(path.parent), [])
    except AnalogyQAError as error:  # it may be about the registry, and names no file
        raise AnalogyQAError(f"{path}: {error}") from error


def register(values: dict, path: Path) -> None:
    path.write_text(yaml.safe_dump(values), encoding="utf-8", errors="surrogatepass")
    load_registry(path)


CONFIG, PAPER_CONFIG = (
    yaml.safe_load((ROOT / file).read_text(encoding="utf-8"))
    for file in ("config.yaml", "papers/diallo2019/config.yaml")
)
VALUES = {
    "values of the configuration": Target(configure, [PAPER_CONFIG | CONFIG], ".yaml", 8_000),
    "values of the registry": Target(register, [yaml.safe_load(REGISTRY)], ".yaml", 2_000),
}
INPUTS = {name: target.inputs for name, target in (TARGETS | VALUES).items()}


def survives(name: str, folder: Path, inputs: int) -> int:
    """Give a reader damaged inputs; return how many it reads. It must refuse all others."""
    target, changed = (TARGETS | VALUES)[name], changed_values if name in VALUES else changed_bytes
    path = folder / f"it{target.suffix}"

    def read(content: bytes | dict) -> None:
        if name in VALUES:
            target.read(content, path)
        else:
            path.write_bytes(content)
            target.read(path)

    for content in target.valid:
        read(content)
    draw, refused = random.Random(f"{name} {SEED}"), 0
    for number in range(inputs):
        content = changed(target.valid, draw)
        try:
            read(content)
        except AnalogyQAError as error:
            # The file of a paper may need what a configuration removes.
            assert str(folder / "it") in str(error) or str(error).startswith("papers/")
            refused += 1
        except Exception as error:
            raise AssertionError(f"{name}, input {number} of seed {SEED}: {content!r}") from error
    return inputs - refused


MANY = [pytest.mark.slow, pytest.mark.timeout(3600)]  # 8,000 configurations take long


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("divisor", [1000, pytest.param(1, marks=MANY)])
def test_a_reader_survives_damaged_inputs(tmp_path, report_count, name, divisor):
    inputs = max(5, INPUTS[name] // divisor)
    read = survives(name, tmp_path, inputs)
    if divisor == 1:
        assert 0 < read < inputs  # some are refused, but not all
        report_count(f"fuzz: {inputs:,} inputs of {name}, {read:,} read, the others refused")
