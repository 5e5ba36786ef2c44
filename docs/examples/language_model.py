"""Asks a language model for each decision, at any endpoint that speaks as OpenAI's does.

    MODEL_URL=http://127.0.0.1:8080/v1 MODEL_NAME=qwen MODEL_KEY=... arena play \
        docs/examples/language_model.py greedy --lane inproc --pairs 5 \
        --limits '{"backstop": 120, "idle": 36000}'

Only the lane inproc has these variables. Elsewhere, as in `arena serve-bot`, parameters say whom to
ask, and which file has the key, which is itself in no parameter, so in no file of a run:

    arena serve-bot 'qwen=docs/examples/language_model.py(url="http://127.0.0.1:8080/v1",
        model="qwen", key_file="/home/me/model.key")'

An answer is JSON with a legal action and the chance to win. A wrong one is told to the model once;
a second one is an exception, which forfeits the game: no other move is played in the model's place.
With MODEL_KEPT, the full path of a file, answers are kept, and none is asked for twice.
"""

import hashlib
import json
import os
import time
import urllib.request
from http.client import HTTPException
from pathlib import Path

from engine import Thought, rules_text
from engine.words import NAMES

MOST_BYTES = 1 << 20
FORM = '{"action": "NAME", "chance": 0.5}'
TASK = f"""You play this game. Answer with one line of JSON and nothing else: {FORM}
NAME is one of the legal actions, and chance is your chance to win, from 0 to 1."""


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: it could lead the key to another host."""

    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(NoRedirect)


def ask(url, model, seconds, key, messages):
    """Return the text of the model's answer, and the number of tokens."""
    headers = {"Content-Type": "application/json"}
    headers |= {"Authorization": f"Bearer {key}"} if key else {}
    body = json.dumps({"model": model, "messages": messages, "temperature": 0}).encode()
    request = urllib.request.Request(f"{url.rstrip('/')}/chat/completions", body, headers)
    with OPENER.open(request, timeout=seconds) as response:
        answer = json.loads(response.read(MOST_BYTES))
    tokens = (answer.get("usage") or {}).get("total_tokens", 0)
    return answer["choices"][0]["message"]["content"], tokens


def ask_once(url, model, seconds, key, messages):
    """Return the text, tokens and seconds of an answer, which the file MODEL_KEPT may have."""
    asked = hashlib.sha256(json.dumps([url, model, messages]).encode()).hexdigest()
    with open(os.environ.get("MODEL_KEPT", os.devnull), "a+", encoding="utf-8") as file:
        file.seek(0)
        for line in file:
            if line.startswith(f'["{asked}"') and line.endswith("]\n"):
                return json.loads(line)[1:]
        began = time.monotonic()
        found = [*ask(url, model, seconds, key, messages), time.monotonic() - began]
        file.write(f"{json.dumps([asked, *found])}\n")
        return found


def parse(text, legal):
    """Return the action and the chance of an answer; raises ValueError for any other text."""
    said = json.loads(text)
    if not isinstance(said, dict) or said.keys() != {"action", "chance"}:
        raise ValueError(f"an answer is {FORM}")
    if said["action"] not in (names := [NAMES[action] for action in legal]):
        raise ValueError(f"the legal actions are {', '.join(names)}")
    if type(said["chance"]) not in (int, float) or not 0 <= said["chance"] <= 1:
        raise ValueError("chance is a number from 0 to 1")
    return NAMES.index(said["action"]), said["chance"]


class LanguageModel:
    """Asks at most twice for a decision."""

    def __init__(self, setup, how):
        self.how, self.last = how, []
        self.task = {"role": "system", "content": f"{rules_text(setup.rules)}\n\n{TASK}"}

    def choose(self, view, /):
        messages = [self.task, {"role": "user", "content": view.describe()}]
        tokens, seconds = 0, 0.0
        for is_last in (False, True):
            text = ""
            try:
                text, spent, took = ask_once(*self.how, messages)
                tokens, seconds = tokens + spent, seconds + took
                action, chance = parse(text, view.legal)
                break
            except (OSError, HTTPException, ValueError, LookupError, TypeError) as error:
                if is_last:
                    raise
                if text:
                    wrong = {"role": "user", "content": f"That was wrong: {error}. {TASK}"}
                    messages += [{"role": "assistant", "content": text}, wrong]
        self.last = [Thought(action, chance, note=f"{tokens} tokens, {seconds:.1f} s")]
        return action

    def thoughts(self):
        return self.last


def bot(setup, url: str = "", model: str = "", seconds: float = 60.0, key_file: str = ""):
    """Return the strategy for one game; without parameters, the variables say what to ask."""
    key = Path(key_file).read_text().strip() if key_file else os.environ.get("MODEL_KEY")
    url, model = url or os.environ.get("MODEL_URL"), model or os.environ.get("MODEL_NAME")
    if not (url and model):
        raise ValueError("nobody to ask: MODEL_URL and MODEL_NAME, or the parameters url and model")
    return LanguageModel(setup, (url, model, seconds, key))
