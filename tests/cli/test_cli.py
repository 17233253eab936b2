"""The command line."""

import importlib.metadata
import inspect
import json
import shlex
from argparse import Namespace
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
import yaml
from snakemake.cli import get_argument_parser
from typer.testing import CliRunner

from analogyqa import cli
from analogyqa.cli import run
from analogyqa.cli.prepare import describe_gpu, describe_slurm
from analogyqa.errors import AnalogyQAError
from analogyqa.files import read_yaml, write_text
from analogyqa.settings.load import REPOSITORY

COMMANDS = {
    command.name or command.callback.__name__: command for command in cli.app.registered_commands
}


def test_the_version_needs_no_command():
    result = CliRunner().invoke(cli.app, ["--version"])
    assert result.exit_code == 0 and result.output == f"analogyqa {version('analogyqa')}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_has_an_example_that_can_be_parsed(command):
    shown = CliRunner().invoke(cli.app, [command, "-h"], env={"COLUMNS": "50"})
    assert shown.exit_code == 0 and "…" not in shown.output  # nothing is cut
    docstring = inspect.getdoc(COMMANDS[command].callback)
    example = docstring.partition("Example: `")[2].partition("`")[0]
    program, name, *arguments = shlex.split(example)
    assert (program, name) == ("analogyqa", command)
    # The parser accepts the arguments; `--help` then ends the command.
    assert CliRunner().invoke(cli.app, [name, *arguments, "--help"]).exit_code == 0


@pytest.mark.parametrize("arguments", [["why", "table4"], ["verify"]])
def test_a_missing_folder_is_an_error_of_one_line(tmp_path, monkeypatch, capsys, arguments):
    folder = ["--results", "none"] if arguments[0] == "why" else ["none"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["analogyqa", *arguments, *folder])
    with pytest.raises(SystemExit) as error:
        cli.main()
    out, err = capsys.readouterr()
    assert (error.value.code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith("error: none: there is no such folder")


@pytest.fixture
def read_by_snakemake(monkeypatch):
    """Return what Snakemake reads of the command that one of ours starts."""
    commands = []
    popen = lambda command: commands.append(command) or SimpleNamespace(wait=lambda: 1)  # noqa: E731
    monkeypatch.setattr(run, "subprocess", SimpleNamespace(Popen=popen))
    monkeypatch.chdir(REPOSITORY)

    def read(*arguments: str) -> Namespace:
        assert CliRunner().invoke(cli.app, arguments).exit_code == 2
        return get_argument_parser().parse_args(commands.pop()[3:])

    return read


PAPER = ("paper", "--papers", "x", "--")


@pytest.mark.parametrize(
    ("arguments", "config", "targets"),
    [
        (PAPER, ["papers=x"], []),
        ((*PAPER, "a.csv"), ["papers=x"], ["a.csv"]),
        ((*PAPER, "-n", "--", "a.csv"), ["papers=x"], ["a.csv"]),
        ((*PAPER, "--config", "seeds=3", "-n"), ["papers=x", "seeds=3"], []),
        ((*PAPER, "-n", "-C", "seeds=3", "--", "a.csv"), ["papers=x", "seeds=3"], ["a.csv"]),
        ((*PAPER, "-Cseeds=3"), ["papers=x", "seeds=3"], []),
        ((*PAPER, "--config=seeds=3", "a.csv"), ["papers=x", "seeds=3"], ["a.csv"]),
        ((*PAPER, "-Cseeds=3", "-n", "--", "a.csv"), ["papers=x", "seeds=3"], ["a.csv"]),
        (("paper", "--", "--config=seeds=3", "a.csv"), ["seeds=3"], ["a.csv"]),
        (("demo", "results/demo/ledger.csv"), [], ["results/demo/ledger.csv"]),
    ],
)
def test_papers_are_added_to_the_options_and_targets_of_the_user(
    read_by_snakemake, arguments, config, targets
):
    read = read_by_snakemake(*arguments)
    assert ([*(read.config or [])], [*read.targets]) == (config, targets)
    assert [path.name for path in read.configfile or []] == ["config.yaml"] * ("demo" in arguments)


@pytest.mark.parametrize(("terminal", "options"), [(True, ()), (True, ("--plain",)), (False, ())])
def test_a_terminal_has_a_display(read_by_snakemake, monkeypatch, terminal, options):
    stderr = SimpleNamespace(isatty=lambda: terminal)
    monkeypatch.setattr(run, "sys", SimpleNamespace(executable="python", stderr=stderr))
    loggers = read_by_snakemake("demo", *options).logger
    assert loggers == (["analogyqa"] if terminal and not options else [])


RANK = ["rank", "--run", "a/b/c", "--question", "q", "--results", "r", "--candidates", "-"]


@pytest.mark.parametrize("data", [b"caf\xe9", "a\nb\n".encode("utf-16"), b"PAR1"])
def test_candidates_that_are_no_text_are_refused(data):
    result = CliRunner().invoke(cli.app, RANK, input=data)
    assert isinstance(result.exception, AnalogyQAError)
    assert "the standard input" in str(result.exception)


def test_only_line_ends_separate_candidates(monkeypatch):
    ranked = []
    model = SimpleNamespace(rank=lambda _, texts: ranked.extend(texts) or pd.DataFrame())
    monkeypatch.setattr("analogyqa.model.Model.load", lambda *_: model)
    texts = ["Ada\u2028wrote it.", "It\x0cwas\x85long."]
    data = ("\ufeff" + "\r\n\n".join(texts)).encode()
    result = CliRunner().invoke(cli.app, RANK, input=data, catch_exceptions=False)
    assert result.exit_code == 0 and ranked == texts


@pytest.fixture
def write_config(tmp_path, monkeypatch):
    """Write the configuration of the sample with changes, and new folders; return its path."""
    monkeypatch.chdir(REPOSITORY)
    config = read_yaml(REPOSITORY / "sample" / "config.yaml")

    def write(name: str, **changes) -> str:
        folders = {"output_dir": str(tmp_path / "results"), "resources_dir": str(tmp_path / "here")}
        (tmp_path / name).write_text(yaml.safe_dump(config | folders | changes), encoding="utf-8")
        return str(tmp_path / name)

    return write


def test_a_printed_command_can_be_pasted(write_config):
    path = write_config("my config.yaml")
    result = CliRunner().invoke(cli.app, ["report", "--config", path])
    words = shlex.split(str(result.exception).partition("first: ")[2])
    assert words == ["snakemake", "--cores", "all", "--configfile", path]


def test_verify_finds_every_damaged_archive_of_a_folder(tmp_path):
    for name in ("first.tar.xz", "second.tar.xz"):
        (tmp_path / name).write_text("damaged")
    result = CliRunner().invoke(cli.app, ["verify", str(tmp_path), "--json"])
    assert result.exit_code == 1
    files = [row["file"] for row in json.loads(result.stdout)]
    assert files == [str(tmp_path / name) for name in ("first.tar.xz", "second.tar.xz")]


@pytest.mark.parametrize(
    ("scontrol", "words"),
    [
        ("echo 'Slurmctld(primary) at head is UP'", "the controller answers"),
        ("echo 'fatal: Could not establish a configuration source' >&2; exit 1", "'fatal: Could"),
        ("echo 'Slurmctld(primary) at head is DOWN'; exit 1", "at head is DOWN"),
        (None, "No such file"),
        ("while :; do :; done", "no answer in 1 seconds"),
    ],
)
def test_doctor_asks_slurm_whether_it_works(tmp_path, monkeypatch, scontrol, words):
    for name, script in (("sbatch", ""), ("scontrol", scontrol)):
        if script is not None:
            (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
            (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = describe_slurm(seconds=1)
    assert words in answer
    assert ("cannot be used" in answer) == ("controller answers" not in answer)


def test_doctor_says_that_a_gpu_cannot_be_used(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("CUDA error: device is busy or unavailable\nmore")

    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.zeros", fail)
    assert "cannot use it (CUDA error: device is busy or unavailable)" in describe_gpu()


def test_doctor_names_left_out_tables_and_a_package_of_a_wrong_version(write_config, monkeypatch):
    datasets = read_yaml(REPOSITORY / "sample" / "config.yaml")["datasets"]
    datasets["trecqa"]["test"] = "trecqa-train-all-rebuilt"  # which has no URL
    monkeypatch.delenv("ANALOGYQA_MIRROR", raising=False)
    version = importlib.metadata.version
    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: "1.0" if name == "pandas" else version(name)
    )
    path = write_config("config.yaml", datasets=datasets)
    result = CliRunner().invoke(cli.app, ["doctor", "--config", path])
    assert result.exit_code == 1
    assert "pandas 1.0; needed: <4,>=3" in result.output
    reason, tables = result.output.partition("Left out:\n")[2].splitlines()[:2]
    assert "TRAIN-ALL.rebuilt.xml" in reason
    assert "sample: table2, table5" in tables


SCORES = "system,item,seed,value\n" + "".join(
    f"{system},{item},{seed},{value + seed / 1000}\n"
    for system, value in {"good": 0.9, "bad": 0.1}.items()
    for item in range(20)
    for seed in range(3)
)


@pytest.fixture
def trec_files(tmp_path, monkeypatch):
    """Run files of a system with all answers right, and of one with all wrong, and their qrels."""
    monkeypatch.chdir(tmp_path)
    for name, scores in {"right": (1, 0), "wrong": (0, 1)}.items():
        lines = [f"q{q} Q0 {a} 1 {scores[a]} x\n" for q in range(20) for a in (0, 1)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    (tmp_path / "a.qrels").write_text("".join(f"q{q} 0 0 1\n" for q in range(20)))
    (tmp_path / "scores.csv").write_text(SCORES)


@pytest.mark.parametrize(
    ("arguments", "means"),
    [
        (["scores.csv"], {"good": 0.901, "bad": 0.101}),
        (["wrong.run", "right.run", "--qrels", "a.qrels"], {"right": 1, "wrong": 0.5}),
    ],
)
def test_a_leaderboard_of_files_has_the_means_and_groups_of_their_systems(
    trec_files, arguments, means
):
    done = CliRunner().invoke(cli.app, ["leaderboard", *arguments, "--json"])
    places = json.loads(done.stdout)
    assert {place["system"]: place["mean"] for place in places} == pytest.approx(means)
    assert [place["group"] for place in places] == [1, 2]
    rows = CliRunner().invoke(cli.app, ["leaderboard", *arguments]).stdout.splitlines()
    assert [row.split()[:2] for row in rows[2:4]] == [
        [name, str(at)] for at, name in enumerate(means, 1)
    ]


def test_two_runs_are_compared_by_a_paired_test(trec_files):
    arguments = ["compare", "wrong.run", "right.run", "--qrels", "a.qrels", "--measure", "mrr"]
    done = CliRunner().invoke(cli.app, [*arguments, "--json"])
    values = json.loads(done.stdout)
    assert (values["first"], values["second"], values["difference"]) == (0.5, 1, 0.5)
    assert values["p_value"] < 0.001 and values["questions"] == 20
    done = CliRunner().invoke(cli.app, arguments)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == "mrr: wrong 0.500, right 1.000"


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["compare", "right.run", "wrong.run"], "--qrels"),
        (["leaderboard", "right.run", "wrong.run"], "--qrels"),
        (["leaderboard", "none.csv"], "no such file"),
        (["leaderboard", "right.run"], "--qrels"),
    ],
)
def test_files_without_what_they_need_are_refused(trec_files, arguments, cause):
    error = CliRunner().invoke(cli.app, arguments).exception
    assert isinstance(error, AnalogyQAError) and cause in str(error)


def test_names_that_begin_alike_are_whole_in_fifty_columns(trec_files, monkeypatch):
    names = {
        "good": "a-system-of-two-with-long-names-1",
        "bad": "a-system-of-two-with-long-names-2",
    }
    Path("scores.csv").write_text(
        SCORES.replace("good", names["good"]).replace("bad", names["bad"])
    )
    monkeypatch.setenv("COLUMNS", "50")
    printed = CliRunner().invoke(cli.app, ["leaderboard", "scores.csv"]).stdout
    rows = printed.partition("In 80 columns")[0].splitlines()
    assert max(map(len, rows)) <= 50
    assert "".join(row.split()[0] for row in rows[2:]) == "".join(names.values())


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (["rank", "--run", "b"], ["bm25/wikiqa/all/default", "bm25/wikiqa/who/default"]),
        (["leaderboard", ""], ["wikiqa"]),
        (["leaderboard", "wikiqa", "--subset", "w"], ["who"]),
        (["leaderboard", "wikiqa", "--measure", "mr"], ["mrr", "mrr_official"]),
        (["why", "table4", "bm"], []),  # the configuration of this folder is damaged
    ],
)
def test_words_are_completed_from_the_output_folder(tmp_path, monkeypatch, words, completed):
    for subset in ("all", "who"):
        write_text(tmp_path / f"my/runs/bm25/wikiqa/{subset}/default/run.json", "")
    write_text(tmp_path / "my/configuration.json", "")
    command, *others = words
    line = ["analogyqa", command, "--results", str(tmp_path / "my"), *others]
    monkeypatch.setenv("_ANALOGYQA_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", " ".join(line))
    monkeypatch.setenv("COMP_CWORD", str(len(line) - 1))
    assert CliRunner().invoke(cli.app, [], prog_name="analogyqa").stdout.split() == completed
