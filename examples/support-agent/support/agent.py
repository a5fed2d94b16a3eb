"""The agent: a compiled graph of LangGraph, which the tests name as it is."""

from __future__ import annotations

from langchain.agents import create_agent

from support.tools import TOOLS

MODEL = "openai:smollm2-135m-instruct"
"""What the recorded replies are of. With a key of OpenAI write a model of theirs here, such as openai:gpt-5.2."""

PROMPT = "You help the customers of a small shop. Answer in one sentence."

agent = create_agent(MODEL, tools=TOOLS, system_prompt=PROMPT)
