# Comments on the pull request. A comment that is missing makes the job fail only where it is required.
set -uo pipefail

options=(--github --name "$FCALL_NAME" --link "$FCALL_LINK")
if [ "$FCALL_COMMENT" = required ]; then
    options+=(--required)
fi
status=0
url=$(python -P -m pytest_fcall.cli comment "$FCALL_REPORT" "${options[@]}") || status=$?
echo "comment-url=$url" >>"$GITHUB_OUTPUT"
if [ "$status" -ne 0 ] && [ "$FCALL_COMMENT" != required ]; then
    echo "::warning title=pytest-fcall::The comment on the pull request is not what it should be: this step says why."
    status=0
fi
exit "$status"
