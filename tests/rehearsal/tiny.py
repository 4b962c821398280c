"""A tiny language model with random weights, written on the spot.

It knows nothing, on purpose: what it says is noise of the right form, so that everything around a model can be tried
without a download and without a GPU. Tokens are bytes, hence any text can be asked and any grammar enforced. Needs
NumPy only; the files are those that vLLM and Hugging Face transformers read.

    python -m tests.rehearsal.tiny FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

N_BYTES = 256
BEGIN, END = "<|im_start|>", "<|im_end|>"
PRINTABLE = range(ord(" "), ord("~") + 1)
SPECIAL = (BEGIN, END, "<tool_call>", "</tool_call>")
TEMPLATE = (
    "{% if tools %}<|im_start|>system\nTools:\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}<|im_end|>\n"
    "{% endif %}{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content or '' }}"
    "{% for call in message.tool_calls or [] %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""Conversations in the form of ChatML, tools first."""

PROFILE = """description = "A tiny model with random weights, on the processor."
runtime = "cpu"
model = "./model"
served_name = "tiny"
dtype = "float32"
context = 8192
max_requests = 64
tool_parser = "hermes"
eager = true
port = {port}
memory = {{ cache_gib = 1 }}
"""


def write_tiny_model(
    folder: Path,
    *,
    seed: int = 0,
    n_layers: int = 2,
    width: int = 64,
    n_heads: int = 2,
    max_length: int = 8192,
    p_end: float = 0.02,
) -> Path:
    """Write a Llama of about 130,000 random weights and its tokenizer of bytes.

    Args:
        folder: Made where it is not there.
        seed: Of the weights; the same seed writes the same bytes.
        n_layers: Of the transformer.
        width: Of the hidden state; heads of ``width / n_heads`` must be 32 or wider for vLLM on CPUs.
        n_heads: Of attention.
        max_length: Tokens, that is bytes, of prompt and answer together.
        p_end: Rough probability, above 0, that an answer ends at a token where nothing constrains it.

    Returns:
        The folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    n_tokens = N_BYTES + len(SPECIAL)
    tokens = {letter: number for number, letter in enumerate(_byte_letters())}
    special = {text: N_BYTES + number for number, text in enumerate(SPECIAL)}
    weights = _weights(np.random.default_rng(seed), n_tokens, n_layers, width, p_end, special[END])
    (folder / "model.safetensors").write_bytes(safetensors_bytes(weights))
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": n_tokens,
        "hidden_size": width,
        "intermediate_size": 2 * width,
        "num_hidden_layers": n_layers,
        "num_attention_heads": n_heads,
        "num_key_value_heads": n_heads,
        "attention_bias": True,
        "hidden_act": "silu",
        "max_position_embeddings": max_length,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "tie_word_embeddings": False,
        "bos_token_id": special[BEGIN],
        "eos_token_id": special[END],
        "torch_dtype": "float32",
    }
    byte_level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    tokenizer: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": number, "content": text, "special": text in (BEGIN, END)}
            | dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
            for text, number in special.items()
        ],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            **dict.fromkeys(
                ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix"), None
            ),
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": tokens,
            "merges": [],
        },
    }
    about_tokenizer = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BEGIN,
        "eos_token": END,
        "pad_token": END,
        "model_max_length": max_length,
        "clean_up_tokenization_spaces": False,
        "chat_template": TEMPLATE,
    }
    for name, content in (
        ("config.json", config),
        ("tokenizer.json", tokenizer),
        ("tokenizer_config.json", about_tokenizer),
    ):
        (folder / name).write_text(
            json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    return folder


def write_tiny_profile(folder: Path, *, port: int = 8000, seed: int = 0) -> Path:
    """Write the model into ``folder / "model"`` and a profile that serves it without a GPU.

    Returns:
        The profile's file.
    """
    write_tiny_model(folder / "model", seed=seed)
    path = folder / "tiny.toml"
    path.write_text(PROFILE.format(port=port), encoding="utf-8")
    return path


def safetensors_bytes(weights: dict[str, np.ndarray[Any, np.dtype[np.float32]]]) -> bytes:
    """A safetensors file: length of the header, header in JSON, then the arrays as they lie in memory."""
    header: dict[str, Any] = {}
    begin = 0
    for name, array in weights.items():
        header[name] = {
            "dtype": "F32",
            "shape": list(array.shape),
            "data_offsets": [begin, begin + array.nbytes],
        }
        begin += array.nbytes
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    text += b" " * (-len(text) % 8)
    return b"".join(
        [len(text).to_bytes(8, "little"), text, *(array.tobytes() for array in weights.values())]
    )


def _weights(
    rng: np.random.Generator, n_tokens: int, n_layers: int, width: int, p_end: float, end: int
) -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
    """Random weights; ends, printable bytes and quotation marks are likelier than the rest."""

    def random(*shape: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        return np.asarray(rng.standard_normal(shape) / np.sqrt(shape[-1]), np.float32)

    def constant(value: float, n: int = width) -> np.ndarray[Any, np.dtype[np.float32]]:
        return np.full(n, value, np.float32)

    weights = {"model.embed_tokens.weight": random(n_tokens, width) * np.sqrt(np.float32(width))}
    for layer in range(n_layers):
        name = f"model.layers.{layer}."
        for part in "qkvo":
            weights[f"{name}self_attn.{part}_proj.weight"] = random(width, width)
            weights[f"{name}self_attn.{part}_proj.bias"] = constant(0.0)
        weights[f"{name}mlp.gate_proj.weight"] = random(2 * width, width)
        weights[f"{name}mlp.up_proj.weight"] = random(2 * width, width)
        weights[f"{name}mlp.down_proj.weight"] = random(width, 2 * width)
        weights[f"{name}input_layernorm.weight"] = constant(1.0)
        weights[f"{name}post_attention_layernorm.weight"] = constant(1.0)
    weights["model.norm.weight"] = constant(1.0)
    # Llama's head has no bias. The last layer's attention adds a large constant to the first coordinate of every state
    # instead, which the norm then brings close to sqrt(width); the others shrink, so the head's noise is enlarged.
    weights[f"model.layers.{n_layers - 1}.self_attn.o_proj.bias"][0] = 10 * np.sqrt(width)
    head = 8 * random(n_tokens, width)
    log_frequency = np.full(n_tokens, -4.0)
    log_frequency[PRINTABLE] = 0
    log_frequency[ord('"')] = 2  # or texts inside JSON hardly ever end
    head[end] = 0
    log_frequency[end] = np.log(p_end * len(PRINTABLE)) + 1
    head[:, 0] = log_frequency / np.sqrt(width)
    weights["lm_head.weight"] = head
    return weights


def _byte_letters() -> list[str]:
    """The letter that stands for each byte in a byte-level vocabulary; printable bytes stand for themselves.

    References:
        Radford, Wu, Child, Luan, Amodei & Sutskever (2019), Language models are unsupervised multitask learners.
    """
    printable = {
        *range(ord("!"), ord("~") + 1),
        *range(ord("¡"), ord("¬") + 1),
        *range(ord("®"), ord("ÿ") + 1),
    }
    others = iter(range(N_BYTES, 2 * N_BYTES))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(N_BYTES)]


if __name__ == "__main__":
    print(write_tiny_profile(Path(sys.argv[1])))
