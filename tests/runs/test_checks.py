"""What is checked before the first job, and what is run on data sets of the user's own."""

import re
from types import SimpleNamespace

import pytest

from analogyqa.cells.plan import load_plan
from analogyqa.cells.targets import require_target
from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_yaml
from analogyqa.runs.checks import check_jobs, left_out_here, require_targets
from analogyqa.settings.base import merge
from analogyqa.settings.run import NOT_SELECTED
from builders.projects import REPOSITORY

QUESTIONS = 24
TABLE = "question,answer,label\n" + "".join(
    f"{'who' if number % 2 else 'why'} is it {number}?,it is {number},1\n"
    f"{'who' if number % 2 else 'why'} is it {number}?,no {number},0\n"
    for number in range(QUESTIONS)
)
TYPES = {"question_types": {"why": ["why"]}, "subsets": {"who": ["who"], "why": ["why"]}}


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Return the plan of a table of questions without papers, with changes."""
    monkeypatch.chdir(REPOSITORY)
    path = tmp_path / "mine.csv"
    path.write_text(TABLE)
    base = merge(
        read_yaml(REPOSITORY / "config.yaml"), read_yaml(REPOSITORY / "sample/config.yaml")
    )
    mine = {"title": "Mine", "reader": "table", "train": str(path), "fold": "1of3"}
    run = {"papers": [], "output_dir": str(tmp_path / "results"), "cross_validation": None,
           "sensitivity": None, "selection": None, "extra_rows": None}  # fmt: skip

    def load(**changes):
        values = merge({**base, **run}, {"datasets": {"mine": mine}, "prototypes": {"p": 5}})
        return load_plan(merge(values, changes), environ={})

    return load


def job(rule: str, **wildcards: str) -> SimpleNamespace:
    names = SimpleNamespace(**wildcards)
    names.items = wildcards.items
    return SimpleNamespace(rule=SimpleNamespace(name=rule), wildcards=names)


def test_the_encoders_of_the_jobs_are_checked(own, monkeypatch):
    checked: list[str] = []
    monkeypatch.setattr("analogyqa.runs.checks.check_encoder", checked.append)
    systems = ({"system": "analogy"}, {"system": "bm25"}, {"system": "fasttext"}, {})
    check_jobs([job("run", **wildcards) for wildcards in systems], own())
    assert checked == ["bigru", "mean"]


def test_few_test_questions_are_warned_about(own, caplog):
    check_jobs([job("build_corpus", corpus="mine")], own(only=["bm25"]))
    assert "only 8 test questions" in caplog.text


def test_question_types_are_not_checked_before_all_files_are_here(own):
    plan = own(only=["analogy"], question_types={"how": ["how"]}, subsets={"how": ["how"]})
    jobs = [job("build_corpus", corpus="mine")]
    with pytest.raises(AnalogyQAError, match="of type how"):
        check_jobs(jobs, plan)
    plan.available.splits["mine"]["train"] = ["not_downloaded.csv"]
    check_jobs(jobs, plan)


def cell(path: str) -> SimpleNamespace:
    names = ("system", "dataset", "subset", "overrides")
    return job("train_encoder", **dict(zip(names, path.split("/"), strict=True)))


def test_without_papers_only_the_own_data_set_is_run(own):
    """Its subsets have columns also under the name of a paper's subset."""
    paths = [cell.path for cell in own(only=["bm25"], **TYPES).cells]
    assert paths == [f"bm25/mine/{subset}/default" for subset in ("who", "why", "all")]
    with pytest.raises(AnalogyQAError, match="no data set of your own"):
        own(datasets={"mine": None})


def test_only_keeps_the_parts_of_a_fused_system_and_leaves_out_all_others(own):
    both = {"title": "Both", "ranker": {"name": "fused", "parts": ["analogy", "similarity"]}}
    config = own(systems={"both": both}, only=["both"]).config
    assert {*config.systems} == {"both", "analogy", "similarity"}
    assert config.left_out["bm25"] == NOT_SELECTED
    with pytest.raises(AnalogyQAError, match="only: 'analgy' is not configured; did you mean"):
        own(only=["analgy"])


def test_a_system_that_cannot_run_on_own_data_is_left_out_by_name(own):
    plan = own(only=["bm25", "tam"], **TYPES)
    assert {cell.system for cell in plan.cells} == {"bm25"}
    assert {*left_out_here(plan.config)} == {"tam mine"}
    target = f"{plan.config.output_dir}/runs/tam/mine/who/default/run.json"
    with pytest.raises(AnalogyQAError, match="no entities are known for type why"):
        require_target(target, plan.config, plan.papers)
    with pytest.raises(AnalogyQAError, match=r"mine: no system can run on it. tam: it rewrites"):
        own(only=["tam"], **TYPES)


def test_everything_that_would_stop_a_job_is_reported_at_once(own):
    plan = own(only=["analogy", "similarity"], prototypes={"p": 9}, **TYPES)
    cells = [f"{system}/mine/{subset}/default" for system in ("analogy", "similarity")
             for subset in ("who", "why", "all")]  # fmt: skip
    with pytest.raises(AnalogyQAError) as error:
        check_jobs([job("build_corpus", corpus="mine"), *map(cell, cells)], plan)
    # Of 12 questions of a type, the fold tests 4 and takes 1 or 2 for dev.
    counts = re.findall(r"only (\d) (\w+) prototypes, but p is 9", str(error.value))
    assert [name for _, name in counts] == ["who", "why"]
    assert {count for count, _ in counts} <= {"6", "7"}


def test_a_file_that_cannot_be_read_stops_before_the_first_job(own, tmp_path, caplog):
    plan, jobs = own(only=["bm25"]), [job("build_corpus", corpus="mine")]
    check_jobs(jobs, plan)
    assert "only 8 test questions" in caplog.text  # a warning
    (tmp_path / "mine.csv").write_text("question,reply,label\nwho?,it,1\n")
    with pytest.raises(AnalogyQAError, match=r"no column for the candidate.*'reply'"):
        check_jobs(jobs, plan)


def test_targets_of_the_own_table_are_known(own):
    plan = own(only=["bm25"])
    tables = f"{plan.config.output_dir}/tables"
    require_targets(["--cores", "2", "wrong", f"{tables}/own/table1.md"], plan)
    with pytest.raises(AnalogyQAError, match="did you mean table1"):
        require_targets([f"{tables}/own/table99.csv"], plan)
