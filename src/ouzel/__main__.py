"""`python -m ouzel` is the `ouzel` command."""

from ouzel.cli.main import main

if __name__ == "__main__":
    main()
