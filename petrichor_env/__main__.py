"""`python -m petrichor_env`: the command `petrichor`, where no script is on the path."""

from tabletop_cli.petrichor import main

if __name__ == "__main__":
    main()
