"""What really answers the calls of a conversation, kind by kind.

`opening` chooses by what a case says; whatever cannot be made is a WorldFailed, and whatever goes wrong with a call
is its result.
"""

from pytest_fcall.conversation.environments.ground import EnvironmentGround
from pytest_fcall.conversation.environments.kept import Kept, NotRecorded
from pytest_fcall.conversation.environments.opening import open_environment
from pytest_fcall.conversation.environments.recall import Recall
from pytest_fcall.conversation.execution.worker import WorldFailed, WorldLacking

__all__ = ["EnvironmentGround", "Kept", "NotRecorded", "Recall", "WorldFailed", "WorldLacking", "open_environment"]
