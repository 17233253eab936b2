"""What a cell is made of, and the files of its run; no rule."""


def corpus_read_by(system, corpus):
    """The table of a corpus as a system reads it."""
    if system.vectors and CONFIG.vectors[system.vectors].lemmas:
        return f"{RESULTS}/lemmas/{corpus}/content.parquet"
    if system.rewriting:
        return f"{RESULTS}/rewritten/{corpus}/{system.rewriting}.parquet"
    return f"{RESULTS}/corpora/{corpus}.parquet"


def vectors_read_by(system, corpus):
    """The vectors that a system has of the words or of the sentences of a corpus."""
    inputs = {}
    if system.vectors:
        dataset, _ = split_corpus(corpus)
        inputs["vectors"] = f"{RESULTS}/vectors/{dataset}/{system.word_vectors}.npy"
    if system.sentence_vectors:
        stored = AVAILABLE.first_of(system.sentence_vectors)
        inputs["sentence_vectors"] = f"{RESULTS}/sentence_vectors/{corpus}/{stored}.npy"
    return inputs


def types_of(wildcards):
    return CONFIG.types_of(wildcards.subset)


def typed_only(wildcards):
    """Whether no cell with these sentence vectors ranks questions without a type."""
    dataset, _ = split_corpus(wildcards.corpus)
    untyped = [cell for cell in ALL_CELLS if cell.dataset == dataset and cell.subset == ALL]
    read = [CONFIG.system_at(cell.system, cell.axes).sentence_vectors or () for cell in untyped]
    return all(wildcards.sentence_vectors not in names for names in read)


def types_of_corpus(wildcards):
    return QUESTION_TYPES[split_corpus(wildcards.corpus)[0]]


@cache
def cell_at(path):
    """The cell of a run's folder."""
    checked(require_target, f"{RESULTS}/runs/{path}/run.json", CONFIG, PAPERS)
    return Cell.from_path(Path(path))


def cell_of(wildcards):
    return cell_at(f"{wildcards.system}/{wildcards.dataset}/{wildcards.subset}/{wildcards.axes}")


def system_of(wildcards):
    return CONFIG.system_at(wildcards.system, cell_of(wildcards).axes)


def lowercase_of(wildcards):
    return lowercase_of_system(system_of(wildcards))


def lowercase_of_system(system):
    """Whether the words of a system are lower-cased: as its vectors are."""
    return lowercase_of_vectors(system.vectors) if system.vectors else CONFIG.lowercase


def relation_files_of(dataset):
    """Category to its file, of those that a data set has and that can be made here."""
    own = CONFIG.datasets[dataset]
    if own.test:
        return {path.stem: str(path) for path in relation_files(Path(own.test[0]))}
    had = [name for name in own.categories if of_category(name) not in CONFIG.left_out]
    return {name: f"{RESULTS}/analogies/{name}.parquet" for name in had}


def sources_of_relations(dataset):
    """What relations were made of, for the records of runs."""
    if CONFIG.datasets[dataset].test:
        return {"test": str(CONFIG.datasets[dataset].test[0])}
    kinds = [AVAILABLE.categories[name] for name in relation_files_of(dataset)]
    files = dict.fromkeys(file for own in kinds for each in own.values() for file in each)
    return {"test": f"induced-here, {', '.join(map(named, files))}"}


def solving_axes(wildcards):
    """The axes of a job that solves, which has every solver."""
    return next(iter(solving_cells(wildcards).values())).axes


def solving_system(wildcards):
    return CONFIG.system_at(wildcards.system, solving_axes(wildcards))


def solving_section(wildcards):
    system = solving_system(wildcards)
    return system.model_dump(exclude={"title"} if system.trained else {"title", "training"})


def solving_training(wildcards):
    """The cell that trained the encoder of a job that solves, None where nothing did."""
    cell = Cell(wildcards.system, wildcards.dataset, ALL, solving_axes(wildcards))
    return training_of(CONFIG, cell)


def solving_seeds(wildcards):
    training = solving_training(wildcards)
    return CONFIG.seeds_at(training.subset, training.axes) if training else CONFIG.seeds


def solving_cells(wildcards):
    """The cells of a job that solves, by solver."""
    folder = f"{wildcards.system}/{wildcards.dataset}/{ALL}"
    return {
        solver: cell_at(f"{folder}/{wildcards.before}solver={solver}{wildcards.after}")
        for solver in SOLVERS
    }


def configurations_of_solvers(wildcards):
    cells = solving_cells(wildcards).items()
    return {solver: configured_cell(CONFIG, cell) for solver, cell in cells}


def solving_inputs(wildcards):
    """The sentences of a data set, the vectors of their words or of them, and what was trained."""
    for cell in solving_cells(wildcards).values():
        require_current_run(cell)
    inputs = {"corpus": f"{RESULTS}/corpora/{wildcards.dataset}.parquet"}
    if training := solving_training(wildcards):
        inputs["weights"] = f"{RESULTS}/runs/{training.path}/weights.pt"
    return inputs | vectors_read_by(solving_system(wildcards), wildcards.dataset)


def sources_of_solving(wildcards):
    """What relations were made of, and what an encoder was trained on, for the records of runs."""
    training = solving_training(wildcards)
    files = split_files(training.dataset) if training else {}
    trained_on = {split: named(files[split]) for split in ("train", "dev") if split in files}
    return trained_on | sources_of_relations(wildcards.dataset)


def sources_of(wildcards):
    """What a run was made of, for its record."""
    sources = {split: named(file) for split, file in split_files(wildcards.dataset).items()}
    if system_of(wildcards).rewriting:
        sources["entities"] = Path(AVAILABLE.entities).name
    return sources


def trainings_of(wildcards):
    """Setting to the section of the system: one, or all those that the chosen may turn out to be."""
    choices = CONFIG.choices_of(wildcards.system, cell_of(wildcards).axes)
    return {name: CONFIG.system_at(wildcards.system, axes) for name, axes in choices.items()}


def settings_of(wildcards):
    return {
        name: system.model_dump(exclude={"title"})
        for name, system in trainings_of(wildcards).items()
    }


def prototype_files(corpus, subset, seeds=CONFIG.all_seeds):
    folder = f"{RESULTS}/prototypes/{corpus}/{subset}"
    return [f"{folder}/seed{seed}.parquet" for seed in seeds]


def seeds_of(wildcards):
    cell = cell_of(wildcards)
    return CONFIG.seeds_at(cell.subset, cell.axes)


def quadruples_of(wildcards):
    """The quadruples of a cell: what makes them, with which wildcards besides those of the cell, and stems of files."""
    for each in trainings_of(wildcards).values():
        if each.learns_from_quadruples:
            drawn = each.training.negatives
            more = {"number": str(drawn.count), "per": drawn.per}
            yield "build_training_quadruples", more, [drawn.file_stem]
    if system_of(wildcards).compares:
        yield "build_evaluation_quadruples", {}, ["dev", "test"]


def configuration_of_cell(wildcards):
    return configured_cell(CONFIG, cell_of(wildcards))


def require_current_run(cell):
    require_current(f"{RESULTS}/runs/{cell.path}/run.json", configured_cell(CONFIG, cell))


def checked_inputs(wildcards):
    """The tables of a cell, whose run is not one of another configuration."""
    require_current_run(cell_of(wildcards))
    return cell_inputs(wildcards)


def cell_inputs(wildcards):
    """The tables that a cell is made of; a list has one file for each seed."""
    cell, system, seeds = cell_of(wildcards), system_of(wildcards), seeds_of(wildcards)
    inputs = {"corpus": corpus_read_by(system, cell.corpus)}
    inputs |= vectors_read_by(system, cell.corpus)
    folder = f"{RESULTS}/quadruples/{cell.corpus}/{cell.subset}/p{system.p}"
    if system.needs_prototypes:
        inputs["prototypes"] = prototype_files(cell.corpus, cell.subset, seeds)
    for _, _, stems in quadruples_of(wildcards):
        for stem in stems:
            inputs[stem] = [f"{folder}/seed{seed}/{stem}.parquet" for seed in seeds]
    if first := waits_for(CONFIG, cell):
        # Else two jobs might train it at once.
        inputs["start"] = f"{RESULTS}/runs/{first.path}/run.json"
    if (SETTING, CHOSEN) in cell.axes:
        inputs["selection"] = f"{RESULTS}/selection/{cell.system}/{cell.dataset}.json"
    return inputs


def parts_of_cell(wildcards):
    return parts_of_fused(CONFIG, cell_of(wildcards))


def fused_inputs(wildcards):
    """The corpus of a cell, and the scores and records of its parts."""
    require_current_run(cell_of(wildcards))
    parts = parts_of_cell(wildcards).values()
    return {
        "corpus": f"{RESULTS}/corpora/{cell_of(wildcards).corpus}.parquet",
        "scores": [f"{RESULTS}/runs/{part.path}/scores.parquet" for part in parts],
        "records": [f"{RESULTS}/runs/{part.path}/run.json" for part in parts],
    }


def systems_of_cost(wildcards):
    return {name: CONFIG.systems[name] for name in COSTS[wildcards.dataset, wildcards.subset]}


def cost_inputs(wildcards):
    """The corpus, and the vectors of the systems whose costs are measured on it."""
    vectors = {system.vectors for system in systems_of_cost(wildcards).values()}
    folder = f"{RESULTS}/vectors/{wildcards.dataset}"
    corpus = {"corpus": f"{RESULTS}/corpora/{wildcards.dataset}.parquet"}
    return corpus | {name: f"{folder}/{name}.npy" for name in sorted(vectors)}


def histories_of_settings(wildcards):
    cells = selection_cells(CONFIG, wildcards.system, wildcards.dataset)
    return {name: f"{RESULTS}/runs/{cell.path}/history.parquet" for name, cell in cells.items()}


def runs_of(cells):
    """The folders of the runs that hold cells, once each."""
    return list(dict.fromkeys(f"{RESULTS}/runs/{run_of(CONFIG, cell).path}" for cell in cells))


def metrics_of(cells):
    return [f"{run}/metrics.parquet" for run in runs_of(cells)]


def histories_of(cells):
    """The histories of those cells that are trained."""
    return [
        f"{RESULTS}/runs/{cell.path}/history.parquet"
        for cell in cells
        if CONFIG.systems[cell.system].trained and not CONFIG.datasets[cell.dataset].solved
    ]


def records_of(cells):
    return [f"{run}/run.json" for run in runs_of(cells)]


def insides_of(cells):
    return [f"{RESULTS}/runs/{cell.path}/inside.parquet" for cell in cells]
