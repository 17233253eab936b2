"""The entry point of `analogyqa` and of `python -m analogyqa`."""

from analogyqa.surroundings import leave_surroundings, prepare_streams


def main() -> None:
    """Run the command line, whatever the terminal, and without what was set for other programs."""
    prepare_streams()
    leave_surroundings()
    from analogyqa.cli import main as run  # imports NumPy

    run()


if __name__ == "__main__":
    main()
