"""Jobs too small to be worth a process, several in one: see `cells_per_job` in config.yaml. On a cluster a job is a cell.

needs: what the rules of quadruples.smk and runs.smk need, whose jobs they are
makes: what those make
"""


def as_job(name, wildcards, inputs=None):
    """What the script of a rule is given by Snakemake; `inputs` where a function finds them."""
    proxy, place = getattr(rules, name), SimpleNamespace(**wildcards)

    def filled(files):
        if isinstance(files, str):
            return files.format(**wildcards)
        return [file.format(**wildcards) for file in files]

    def section(files):
        named = dict(files.items())
        return {key: filled(file) for key, file in named.items()} if named else filled(files)

    return {
        "rule": name,
        "script": Path(proxy.rule.script).name,
        "wildcards": wildcards,
        "input": inputs or section(proxy.input),
        "output": section(proxy.output),
        "log": filled(proxy.log[0]),
        "params": {
            key: value(place) if callable(value) else value for key, value in proxy.params.items()
        },
    }


def wildcards_of(cell):
    return dict(zip(("system", "dataset", "subset", "axes"), cell.path.split("/")))


def job_of_cell(cell):
    wildcards, trained = wildcards_of(cell), CONFIG.systems[cell.system].trained
    inputs = cell_inputs(SimpleNamespace(**wildcards))
    return as_job("train_encoder" if trained else "score_candidates", wildcards, inputs)


def jobs_of_examples(cells):
    """The jobs that make the prototypes and quadruples of cells, each after what it needs."""
    prototypes, quadruples = {}, {}
    for cell in cells:
        system = CONFIG.system_at(cell.system, cell.axes)
        place = {"corpus": cell.corpus, "subset": cell.subset}
        if system.needs_prototypes:
            prototypes.setdefault(tuple(place.values()), as_job("choose_prototypes", place))
        for name, more, _ in quadruples_of(SimpleNamespace(**wildcards_of(cell))):
            wildcards = {**place, "p": str(system.p), **more}
            quadruples.setdefault((name, *wildcards.values()), as_job(name, wildcards))
    return [*prototypes.values(), *quadruples.values()]


def jobs_together(cells, per_job):
    """Lists of the jobs that share a process: the examples of a data set, then `per_job` of its cells.

    None where a job is a cell. Those first that a choice waits for; what is chosen waits for it, and what starts from
    another system for that.
    """
    groups = {}
    for cell in cells if per_job > 1 else []:
        if not (CONFIG.systems[cell.system].parts or CONFIG.datasets[cell.dataset].solved):
            chosen = (SETTING, CHOSEN) in cell.axes
            groups.setdefault(cell.dataset, ([], []))[chosen].append(cell)
    for dataset, (own, chosen) in groups.items():
        yield jobs_of_examples([*own, *chosen])
        systems = {cell.system for cell in chosen}
        waited_for = {
            cell for name in systems for cell in selection_cells(CONFIG, name, dataset).values()
        }
        own.sort(key=lambda cell: (cell not in waited_for, waits_for(CONFIG, cell) is not None))
        for group in (own, chosen):
            for start in range(0, len(group), per_job):
                yield [job_of_cell(cell) for cell in group[start : start + per_job]]


def files_of(jobs, section):
    """The inputs or outputs of jobs, once each."""
    parts = [job[section] for job in jobs]
    files = [file for part in parts for file in (part.values() if isinstance(part, dict) else part)]
    lists = [[file] if isinstance(file, str) else file for file in files]
    return list(dict.fromkeys(file for files in lists for file in files))


def inputs_of_jobs(jobs):
    """A function that returns the inputs of jobs, of which none has a run of another configuration."""

    def inputs(wildcards):
        for job in jobs:
            if "system" in job["wildcards"]:
                require_current_run(cell_of(SimpleNamespace(**job["wildcards"])))
        made = files_of(jobs, "output")
        return [file for file in files_of(jobs, "input") if file not in made]

    return inputs


# Snakemake prefers a rule without wildcards, so that these go before the rules of the single jobs.
for number, jobs in enumerate(jobs_together(CELLS, CONFIG.cells_per_job)):

    rule:
        name:
            f"run_together_{number}"
        input:
            inputs_of_jobs(jobs),
        output:
            files_of(jobs, "output"),
        log:
            [job["log"] for job in jobs],
        benchmark:
            f"{RESULTS}/benchmarks/run_together/{number}.jsonl"
        priority: -number
        conda:
            "../envs/gpu.yaml"
        resources:
            mem_mb=growing(4000),
            runtime=growing(120),
            gpu=GPUS,
        params:
            jobs=jobs,
        script:
            "../workflow_scripts/run_together.py"
