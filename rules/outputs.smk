"""The files that a run makes for its reader, and what each shows; no rule."""


def artefact_inputs(paper, name):
    """What a table or figure shows: runs, counts, costs, or the inside of trained systems."""
    if name in PAPERS[paper].views:
        return {"insides": insides_of(cells_of_artefact(CONFIG, PAPERS[paper], name))}
    cells = cells_of_artefact(CONFIG, PAPERS[paper], name)
    counted = {
        number.where.dataset
        for number in PAPERS[paper].artefacts[name].numbers()
        if number.where.count
    }
    corpora = [f"{RESULTS}/corpora/{each}.parquet" for each in CONFIG.datasets if each in counted]
    costs = costs_of(systems_that_cost(CONFIG, PAPERS[paper], name))
    return {
        "metrics": metrics_of(cells),
        "records": records_of(cells),
        "corpora": corpora,
        "costs": costs,
    }


def costs_of(places):
    return [f"{RESULTS}/costs/{dataset}/{subset}.json" for dataset, subset in places]


def ledger_inputs():
    """What all tables and figures show."""
    inputs = [
        artefact_inputs(name, artefact)
        for name, paper in PAPERS.items()
        for artefact in paper.artefacts
    ]
    corpora = [file for each in inputs for file in each["corpora"]]
    return {
        "metrics": metrics_of(CELLS),
        "records": records_of(CELLS),
        "corpora": list(dict.fromkeys(corpora)),
        "costs": costs_of(COSTS),
    }


def claimed_cells():
    return list(
        dict.fromkeys(cell for paper in PAPERS.values() for cell in cells_of_claims(CONFIG, paper))
    )


def claimed_insides():
    """Of the cells whose norms claims compare."""
    own = (cells_inside_claims(CONFIG, paper) for paper in PAPERS.values())
    return insides_of(dict.fromkeys(cell for cells in own for cell in cells))


def claimed_costs():
    own = (costs_of_claims(CONFIG, paper) for paper in PAPERS.values())
    return costs_of(dict.fromkeys(at for places in own for at in places))


def tables_and_figures():
    """Every table and figure of every paper, in each format."""
    formats = {"table": ("csv", "md", "tex"), "figure": ("png", "svg", "csv")}
    return [
        f"{RESULTS}/{kind}s/{name}/{artefact}.{format}"
        for name, paper in PAPERS.items()
        for artefact in paper.shown
        for kind in formats
        if artefact.startswith(kind)
        for format in formats[kind]
    ]


def crossfit_files():
    pairs = [name for name in CROSSFIT_CELLS if CONFIG.studies[name].crossfit.pairs]
    return [
        *(f"{RESULTS}/tables/{name}/crossfit.csv" for name in CROSSFIT_CELLS),
        *(f"{RESULTS}/tables/{name}/pairs.csv" for name in pairs),
    ]


def crossfitted(kind, wildcards):
    """The tables of a kind of the data sets, as they are, that a paper cross-fits."""
    datasets = dict.fromkeys(cell.dataset for cell in CROSSFIT_CELLS[wildcards.paper])
    return [f"{RESULTS}/{kind}/{name}.parquet" for name in datasets]


def folds_of_paper(wildcards):
    """The corpora that a paper's folds are, and those of its data sets as they are."""
    corpora = {cell.corpus: cell.dataset for cell in CROSSFIT_CELLS[wildcards.paper]}
    return [
        f"{RESULTS}/corpora/{name}.parquet" for name in [*dict.fromkeys(corpora.values()), *corpora]
    ]


def sensitivity_files():
    return [f"{RESULTS}/tables/{name}/sensitivity.csv" for name in SENSITIVITY_CELLS]
