"""The variables of frameworks that report to their makers, and the values that keep them from it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

QUIET: Mapping[str, str] = MappingProxyType(
    {
        "CREWAI_DISABLE_TELEMETRY": "true",  # crewai_core.telemetry
        "CREWAI_TRACING_ENABLED": "false",  # crewai.events.listeners.tracing.utils
        "DO_NOT_TRACK": "1",  # huggingface_hub.constants, and others that keep to donottrack.sh
        "HAYSTACK_TELEMETRY_ENABLED": "false",  # haystack.telemetry
        "HF_HUB_DISABLE_TELEMETRY": "1",  # huggingface_hub.constants, for smolagents and transformers
        "LANGCHAIN_TRACING_V2": "false",  # langsmith.utils, for LangChain and LangGraph
        "LANGSMITH_TRACING": "false",
        "LANGSMITH_TRACING_V2": "false",
        "LANGFUSE_TRACING_ENABLED": "false",  # langfuse._client.client
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # litellm fetches a list of prices when it is imported; so does DSPy's
        "MEM0_TELEMETRY": "false",  # mem0.memory.telemetry
        "MISTRAL_SDK_TELEMETRY": "false",  # mistralai.extra.observability.telemetry
        "OPENAI_AGENTS_DISABLE_TRACING": "1",  # agents.tracing.provider
        "TRACELOOP_TRACING_ENABLED": "false",  # traceloop.sdk.config
    }
)
"""Each name is read by the named module of the framework, in the version of November 2026.

`OTEL_SDK_DISABLED` is not among them: it would also take the spans away that tests look at.
"""
