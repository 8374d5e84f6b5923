"""`python -m petrichor_env`: the command `petrichor`, if the script is not on the path."""

from tabletop_cli.petrichor import main

if __name__ == "__main__":
    main()
