"""What brings the libraries that a plain installation leaves out."""


def install_command(extra: str) -> str:
    """The command that installs an extra. The quotes are double, since those of one stroke are none in Windows' shell."""
    return f'pip install "pytest-fcall[{extra}]"'
