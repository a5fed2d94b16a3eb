# Installs pytest-fcall where the job has none, with what pages of reports need.
set -euo pipefail

if [ -n "$FCALL_VERSION" ]; then
    wanted="pytest-fcall[report]==$FCALL_VERSION"
elif python -P -c 'import jinja2, pytest_fcall' 2>/dev/null; then
    exit 0
elif python -P -c 'import pytest_fcall' 2>/dev/null; then
    wanted="pytest-fcall[report]" # pip keeps the version that is there
else
    wanted="${GITHUB_ACTION_PATH}[report]"
fi
python -m pip install --quiet --disable-pip-version-check "$wanted"
