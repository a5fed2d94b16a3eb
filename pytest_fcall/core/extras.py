"""What brings the libraries that a plain installation leaves out."""


def install_command(extra: str) -> str:
    """The command that installs an extra. Its quotes are double: single ones are no quotes in the shell of Windows."""
    return f'pip install "pytest-fcall[{extra}]"'
