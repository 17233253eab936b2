"""Train InferSent on natural language inference."""

from pathlib import Path

import torch

from analogyqa.job import job
from analogyqa.runs.depends_on import STORAGE, code_hash, content_hash, sha256
from analogyqa.schemas import CORPUS, read_table
from analogyqa.training.data import ranked_sentences
from analogyqa.training.devices import device_for
from analogyqa.training.infersent import train

with job(snakemake) as settings:
    torch.set_num_threads(snakemake.threads)
    files, config = snakemake.input, snakemake.config
    lowercase, lstm_dim, seed = (settings[key] for key in ("lowercase", "lstm_dim", "seed"))
    corpora = [read_table(path, CORPUS) for path in files.disjoint_from]
    texts = [text for corpus in corpora for text in ranked_sentences(corpus, typed_only=False)]
    code = code_hash("analogyqa.training.infersent", without=STORAGE)
    paths = (*files.train, *files.dev, *files.disjoint_from, *files.vectors)
    depends_on = [
        [sha256(path) for path in paths],
        [lowercase, lstm_dim, seed],
        [torch.__version__.partition("+")[0], code],
    ]
    checkpoint = f"infersent-{content_hash(depends_on)[:32]}.pt"
    train(
        files.train,
        files.dev,
        files.vectors[0],
        lowercase,
        lstm_dim,
        seed,
        device_for(config["device"]),
        Path(config["output_dir"], "checkpoints", checkpoint),
        Path(snakemake.output.weights),
        disjoint_from=texts,
    )
