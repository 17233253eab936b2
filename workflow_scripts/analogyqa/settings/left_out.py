"""Leave out of the configuration what cannot run here."""

from collections.abc import Collection

from analogyqa.errors import AnalogyQAError
from analogyqa.settings.run import Config

NOT_SELECTED = "it is not among the systems of `only`"


def not_selected(config: Config) -> dict[str, str]:
    """Return the systems that `only` does not name, nor needs as parts, with the reason."""
    selected = config.only or list(config.systems)
    kept = {part for name in selected for part in (name, *config.systems[name].parts)}
    return {name: NOT_SELECTED for name in config.systems if name not in kept}


def leave_out(config: Config, reasons: dict[str, str]) -> Config:
    """Return the configuration without the systems and data sets that cannot run here.

    Args:
        config: The configuration as loaded.
        reasons: Why a system or data set cannot run, by its name. Tables show the reasons, which
            become the key `left_out`. Other keys, such as a system with overrides, are only shown.

    Raises AnalogyQAError when no system is left.
    """
    systems = {name: system for name, system in config.systems.items() if name not in reasons}
    if not systems:
        raise AnalogyQAError("\n".join(dict.fromkeys(reasons.values())))
    studies = {}
    for paper, study in config.studies.items():
        sections = {}
        for key in ("selection", "sensitivity", "cross_validation"):
            if section := getattr(study, key):
                kept = {"systems": _kept(section.systems, systems)}
                if key != "selection":
                    kept["datasets"] = [n for n in section.datasets if n not in reasons]
                if key == "cross_validation":
                    pairs = section.pairs.items()
                    kept["pairs"] = {n: pair for n, pair in pairs if set(pair) <= set(systems)}
                sections[key] = section.model_copy(update=kept)
        studies[paper] = study.model_copy(update=sections)
    datasets = {name: data for name, data in config.datasets.items() if name not in reasons}
    left_out = config.left_out | reasons
    changed = {"systems": systems, "datasets": datasets, "studies": studies, "left_out": left_out}
    return config.model_copy(update=changed)


def _kept(names: dict | list, systems: Collection[str]) -> dict | list:
    if isinstance(names, dict):
        return {name: value for name, value in names.items() if name in systems}
    return [name for name in names if name in systems]
