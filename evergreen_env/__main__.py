"""`python -m evergreen_env`: the command `evergreen`, where no script is on the path."""

from tabletop_cli.evergreen import main

if __name__ == "__main__":
    main()
