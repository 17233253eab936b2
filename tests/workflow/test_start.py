"""Snakemake names every error of a configuration before any job starts."""


def test_every_wrong_key_of_a_configuration_is_named_and_nothing_is_made(project):
    project.configure(trainign={}, training={"dropout": 1.5})
    done = project.run()
    assert done.returncode != 0
    assert "config.yaml: unknown key trainign; did you mean training?" in done.stdout
    assert "config.yaml: training.dropout: 1.5 is not allowed" in done.stdout
    assert "Traceback" not in done.stdout
    assert not project.results.exists()
