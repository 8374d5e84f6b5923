"""A language model behind any server that speaks the chat-completions protocol, as an agent."""

import os

import httpx

from tabletop_text import ModelAgent, Reply

client = httpx.Client(
    base_url=os.environ.get("MODEL_URL", "http://127.0.0.1:8000/v1"),
    headers={"Authorization": f"Bearer {os.environ['MODEL_KEY']}"} if "MODEL_KEY" in os.environ else {},
    timeout=300,
)


def ask(messages):
    """The model's reply to a conversation."""
    request = {"model": os.environ.get("MODEL_NAME", "my-model"), "messages": messages, "max_tokens": 8000}
    answer = client.post("/chat/completions", json=request)
    answer.raise_for_status()
    content = answer.json()
    choice, usage = content["choices"][0], content.get("usage") or {}
    return Reply(
        choice["message"]["content"] or "",
        usage.get("prompt_tokens"),
        usage.get("completion_tokens"),
        truncated=choice.get("finish_reason") == "length",
    )


agent = ModelAgent(ask, memory="none", parallel=8, log="runs/calls.jsonl")
