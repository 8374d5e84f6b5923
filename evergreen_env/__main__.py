"""`python -m evergreen_env`: the command `evergreen`, if the script is not on the path."""

from tabletop_cli.evergreen import main

if __name__ == "__main__":
    main()
