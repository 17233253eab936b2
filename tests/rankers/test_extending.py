"""The ranker of docs/extending.md: one file and one line, an option included."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
USE = """
import numpy as np
from analogyqa.rankers import Encoded, build_ranker
from analogyqa.settings import overrides as ov
from analogyqa.settings.base import laid_over
from analogyqa.settings.systems import System

values = {"title": "N", "encoder": "random", "ranker": "near"}
ov.require_overrides({"power": 1})
changed = laid_over(values, ov.changes((("power", "1"),)))
shift, none = np.array([[3, 4]], dtype="f4"), np.zeros((0, 2), dtype="f4")
for system in map(System.model_validate, (values, changed)):
    pairs = Encoded(np.zeros(1, int), shift, 0 * shift, none, none, *[np.zeros(0, int)] * 2)
    (score,), (best,) = build_ranker(system).scores(pairs)
    print(ov.override_value(system, "power"), score, best)
System.model_validate(values | {"ranker": {"name": "near", "powr": 1}})
"""


def test_a_ranker_with_an_option_is_a_file_and_a_line(tmp_path):
    ((code, line, name),) = re.findall(r'```python\n([^`]*)```\n\n    ("(\w+)": Ranker.*)', PAGE)
    shutil.copytree(ROOT / "workflow_scripts" / "analogyqa", tmp_path / "analogyqa")
    rankers = tmp_path / "analogyqa" / "rankers"
    (rankers / f"{name}.py").write_text(code)
    specs = (rankers / "specs.py").read_text()
    (rankers / "specs.py").write_text(specs.replace("RANKERS = {\n", f"RANKERS = {{\n    {line}\n"))
    done = subprocess.run(
        [sys.executable, "-c", USE],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["2", "-5.0", "-1", "1", "-7.0", "-1"], done.stderr
    assert "no option 'powr'; did you mean power?" in done.stderr
