"""Games through TRL's own GRPOTrainer: prints the conversations and rewards, as JSON.

Everything is TRL's: rows are repeated, environments made and reset, tools called, rewards asked for, and a step is
trained. Only what the model writes is scripted, because its untrained weights would call no tool; the model is tiny and
random, and the tokenizer is made here, so nothing is downloaded.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", TRL_EXPERIMENTAL_SILENCE="1", WANDB_DISABLED="true", CUDA_VISIBLE_DEVICES="")

import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_chat_template

from tabletop_text.trl_environment import OVER, GameTool

FORM = {"rules": False, "board": "none"}
"""Short messages: the trained step reads them all at once, on a CPU."""
MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
WORDS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]
PLAYERS = ("first", "last", "illegal", "quits")
"""Who plays a row, as its system prompt names them: the first or the last answer, none, or one answer and no more."""


def tokenizer_of(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    """A tokenizer for these texts and all others, with the marks and the chat template of Qwen 3."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    letters = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=2000, special_tokens=MARKS, initial_alphabet=letters, show_progress=False)
    )
    made.add_tokens(WORDS)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|endoftext|>", clean_up_tokenization_spaces=False
    )
    tokenizer.chat_template = qwen3_chat_template
    return tokenizer


def tiny_model(tokenizer: PreTrainedTokenizerFast) -> Any:
    torch.manual_seed(0)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=1,
            head_dim=8,
            max_position_embeddings=200_000,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def written(conversation: str) -> str:
    """What the scripted player writes after a conversation."""
    system = conversation.split("<|im_start|>system\n")[1].split("<|im_end|>")[0]
    player = next(one for one in PLAYERS if system.startswith(f"Player: {one}"))
    turns = conversation.split("<|im_start|>user\n")
    last = turns[-1]
    if OVER in last or (player == "quits" and len(turns) > 2):
        return "That was it."
    listed = [line.split(".")[0] for line in last.splitlines() if line.split(".")[0].isdecimal()]
    text = {"first": "1", "last": listed[-1] if listed else "1", "illegal": "nothing", "quits": "1"}[player]
    call = json.dumps({"name": "answer", "arguments": {"text": text}})
    return f"<tool_call>\n{call}\n</tool_call>"


class ScriptedTrainer(GRPOTrainer):  # type: ignore[misc] # its type is unknown where TRL is not installed
    """A trainer whose model's replies are scripted."""

    def _generate_single_turn(self, prompt_ids: list[list[int]], *args: Any, **kwargs: Any) -> tuple[Any, None]:
        said = [written(self.processing_class.decode(ids)) + "<|im_end|>" for ids in prompt_ids]
        return [self.processing_class.encode(one, add_special_tokens=False) for one in said], None


def main(home: str, players: str, seed: str) -> None:
    factory = partial(GameTool, home, {"players": int(players)}, FORM)
    sample = factory()
    texts = [sample.reset(seed=int(seed)), *(sample.answer("1") for _ in range(30))]
    tokenizer = tokenizer_of(texts)
    rows = [
        {
            "prompt": [{"role": "system", "content": f"Player: {player}"}, {"role": "user", "content": "A game.\n\n"}],
            "seed": int(seed),
        }
        for player in PLAYERS
    ]
    seen: list[dict[str, Any]] = []

    def watched(prompts: Any, completions: Any, environments: Any, **kwargs: Any) -> list[float]:
        for prompt, completion, environment, one in zip(
            prompts, completions, environments, kwargs["seed"], strict=True
        ):
            seen.append(
                {
                    "player": prompt[0]["content"].removeprefix("Player: ").split("\n")[0],
                    "seed": one,
                    "first": prompt[-1]["content"],
                    "replies": [message["content"] for message in completion if message["role"] == "tool"],
                    "reward": environment.get_reward(),
                }
            )
        return [0.0] * len(prompts)

    with tempfile.TemporaryDirectory() as folder:
        trainer = ScriptedTrainer(
            model=tiny_model(tokenizer),
            processing_class=tokenizer,
            reward_funcs=watched,
            train_dataset=Dataset.from_list(rows),
            environment_factory=factory,
            args=GRPOConfig(
                output_dir=folder,
                per_device_train_batch_size=2,
                gradient_accumulation_steps=len(rows),
                num_generations=2,
                max_completion_length=100_000,
                max_steps=1,
                logging_steps=1,
                report_to=[],
                save_strategy="no",
                use_cpu=True,
                bf16=False,
            ),
        )
        trainer.train()
    logged = {name: value for log in trainer.state.log_history for name, value in log.items()}
    schema = get_json_schema(trainer.tools[0])["function"]
    print(json.dumps({"games": seen, "logged": logged, "tools": len(trainer.tools), "schema": schema}))


if __name__ == "__main__":
    main(*sys.argv[1:])
