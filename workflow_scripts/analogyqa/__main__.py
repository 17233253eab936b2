"""The entry point of `analogyqa` and of `python -m analogyqa`."""

from analogyqa.streams import prepare_streams


def main() -> None:
    """Run the command line, whatever the terminal."""
    prepare_streams()
    from analogyqa.cli import main as run

    run()


if __name__ == "__main__":
    main()
