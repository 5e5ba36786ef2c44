"""A program that breaks the protocol: `python says.py HOW`, with HOW a name below.

Unless HOW is in AT_ONCE, it keeps the protocol until its first decision.
"""

import json
import os
import sys
import time

params = {}


def say(text):
    data = text if isinstance(text, bytes) else text.encode()
    while data:
        data = data[os.write(1, data) :]


def answer(message, **more):
    say(json.dumps({"id": message["id"], **more}) + "\n")


def wait():
    time.sleep(10**6)


def megabytes(descriptor):
    """Write 100 MB, or the parameter's number, without the end of a line."""
    for _ in range(params.get("megabytes", 100)):
        data = b"x" * 1_000_000
        while data:
            data = data[os.write(descriptor, data) :]


def talk():
    for number in range(10_000):
        say(f'{{"id":{number},"ready":true,"action":"T"}}\n')
    wait()


def ends(_message):
    os.close(1)
    wait()


def loud(message):
    """Write 100 MB to standard error once a game, and then play."""
    if len(message["history"]) < 2:
        megabytes(2)
    answer(message, action=message["legal"][0])


def later(message):
    """Play the last legal action instead of the first from the third game on."""
    params["games"] = params.get("games", 0) + (len(message["history"]) < 2)
    answer(message, action=message["legal"][-1 if params["games"] >= 3 else 0])


def silent(message, begin=""):
    """Write the beginning of a line, and wait; the first decision has the limit of a start."""
    if len(message["history"]) < 2:
        answer(message, action=message["legal"][0])
    else:
        say(begin)
        wait()


def half(message):
    silent(message, f'{{"id":{message["id"]},"acti')


def twice(message):
    answer(message, action=message["legal"][0])
    answer(message, action=message["legal"][0])


AT_ONCE = {
    "exits_at_once": lambda: sys.exit(0),
    "nothing_at_all": wait,
    "rubbish_at_once": lambda: (say("Welcome to my bot!\n"), wait()),
    "not_ready": lambda: (say('{"id":0}\n'), wait()),
    "error_at_once": lambda: (say('{"id":0,"error":"no \\u001b[2J memory","kind":"memory"}\n'),),
    "never_reads": lambda: (say('{"id":0,"ready":true}\n'), wait()),
    "talks_without_reading": talk,
}
IN_A_GAME = {
    "rubbish": lambda _: say("I play a five!\n"),
    "not_utf8": lambda message: say(b'{"id":%d,"action":"\xff\xfe"}\n' % message["id"]),
    "a_list": lambda message: say(f"[{message['id']}]\n"),
    "deep": lambda _: say("[" * 60_000 + "\n"),
    "half_a_line": half,
    "100_mb": lambda _: megabytes(1),
    "nothing": silent,
    "twice": twice,
    "wrong_id": lambda message: say(f'{{"id":{message["id"] + 1},"action":"T"}}\n'),
    "no_action": answer,
    "illegal": lambda message: answer(message, action="Q"),
    "long_action": lambda message: answer(message, action="\x1b[2J" * 1000),
    "error": lambda message: answer(message, error="\x1b[2Jwhy" * 1000, traceback="z" * 9000),
    "memory": lambda message: answer(message, error="no memory", kind="memory"),
    "exits": lambda _: sys.exit(7),
    "closes_stdout": ends,
    "100_mb_of_errors": loud,
    "other_moves_later": later,
}


def main():
    """Answer line by line until the end of the input."""
    how = sys.argv[1]
    if how in AT_ONCE:
        AT_ONCE[how]()
        return
    for line in sys.stdin:
        message = json.loads(line)
        if message["type"] == "choose":
            IN_A_GAME[how](message)
        else:
            params.update(message.get("params", {}))
            answer(message, ready=True)


if __name__ == "__main__":
    main()
