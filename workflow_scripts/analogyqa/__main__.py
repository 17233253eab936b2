"""`python -m analogyqa`."""

from analogyqa.cli import main

if __name__ == "__main__":
    main()
