"""In portable arithmetic, a job has the same bytes on other processors, which QEMU emulates."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from analogyqa.arithmetic import PORTABLE_VARIABLES
from analogyqa.evaluation.summary import read_csv
from analogyqa.report.verify import EXPECTED, EXPECTED_COLUMNS, scores_hash
from analogyqa.schemas import SCORES, read_table
from analogyqa.surroundings import MALLOC_OPTIONS
from builders.projects import clean_environment

QEMU = shutil.which("qemu-x86_64")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not QEMU, reason="needs qemu-x86_64, of Debian's package qemu-user"),
]

# With all variables set, a script does not start again, which would end the emulation.
VARIABLES = PORTABLE_VARIABLES | MALLOC_OPTIONS | {"OPENBLAS_NUM_THREADS": "1"}


def test_every_operation_has_the_same_bytes_on_other_processors():
    command = [sys.executable, str(Path(__file__).with_name("operations.py"))]
    native, *emulated = (
        json.loads(
            subprocess.run(
                [*emulator, *command],
                env=clean_environment() | VARIABLES,
                check=True,
                stdout=subprocess.PIPE,
            ).stdout
        )
        for emulator in ([], [QEMU, "-cpu", "Haswell"], [QEMU, "-cpu", "EPYC"])
    )
    assert len(native) > 30
    for hashes in emulated:
        assert [name for name in native if hashes[name] != native[name]] == []


@pytest.mark.parametrize(
    ("processor", "system"),
    [
        pytest.param("Haswell", "analogy", marks=pytest.mark.draw),
        ("EPYC", "analogy"),
        ("Haswell", "hyperqa"),
        ("EPYC", "hyperqa"),
    ],
)
def test_a_job_on_another_processor_has_the_same_bytes(demo, tmp_path, processor, system):
    run = demo / "results" / "demo" / "runs" / system / "wikiqa" / "comb" / "default"
    config = tmp_path / "config.yaml"
    config.write_text(f"output_dir: {tmp_path}\nseeds: 1\n")  # a second one takes as long again
    for name in ("corpora", "vectors", "prototypes", "quadruples"):
        (tmp_path / name).symlink_to(demo / "results" / "demo" / name)
    command = [QEMU, "-cpu", processor, sys.executable, "workflow_scripts/run_script.py"]
    command += ["train_encoder", f"system={system}", "dataset=wikiqa", "subset=comb"]
    command += ["overrides=default", "--configfile", "sample/config.yaml"]
    done = subprocess.run(
        [*command, "--configfile", str(config)],
        cwd=demo,
        env=clean_environment(demo) | VARIABLES,
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stderr
    assert done.stderr.count("is extended by additional config") == 1
    emulated = tmp_path / run.relative_to(demo / "results" / "demo") / "scores.parquet"
    expected = read_csv(EXPECTED, EXPECTED_COLUMNS).set_index([*EXPECTED_COLUMNS][:4])["scores"]
    cell = (system, "wikiqa", "comb", "default")
    assert scores_hash(run / "scores.parquet") == expected[cell]
    scores = read_table(run / "scores.parquet", SCORES)
    pd.testing.assert_frame_equal(
        read_table(emulated, SCORES), scores[scores["seed"] == 0], check_exact=True
    )
