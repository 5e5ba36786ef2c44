// A greedy bot for Node: weighs what a take brings now, and gives the opponent the least.
//
//     arena play 'cmd:node docs/examples/greedy.js' uniform
//
// It stores nothing about a game between two answers: each message has all that it needs. So it
// can play many games at once, and says so with "games".
"use strict";

const VALUES = { 2: 2, 3: 3, 4: 4, x: -1, y: -2, z: -3 };
const CITY_WIN = 100;
let rules = {}; // from `hello`: a run may change the numbers of the rules
let patience = 9.5; // points more that a take must bring for every card still in the hand

const count = (cards, card) => cards.split(card).length - 1;

// The points of one pile minus those of the other: majorities, sets, alliances and betrayals.
function lead(mine, theirs) {
  let points = alone(mine) - alone(theirs);
  for (const [i, support] of [..."5678"].entries()) {
    const more = count(mine, support) - count(theirs, support);
    points += Math.sign(more) * rules.majority_values[i];
  }
  return points;
}

// The points of a pile that do not depend on the other one.
function alone(pile) {
  const sets = Math.min(...[..."5678"].map((support) => count(pile, support)));
  return [...pile].reduce((sum, card) => sum + (VALUES[card] || 0), sets * rules.set_bonus);
}

// How much a take from the end of this row helps the owner of the pile `mine`.
function gain(mine, theirs, row) {
  const more = mine + row.slice(-rules.take_size);
  if (count(more, "C") >= rules.cities_needed) return CITY_WIN;
  return lead(more, theirs) - lead(mine, theirs);
}

// The points that an action brings, minus those that it gives the opponent.
function worth({ seat, hand, row, piles, taken }, action) {
  const [mine, theirs] = [piles[seat], piles[1 - seat]];
  if (action === "T") return gain(mine, theirs, row) - patience * hand.length;
  if (!taken[1 - seat]) return Math.min(0, -gain(theirs, mine, row + action));
  return taken[seat] ? 0 : gain(mine, theirs, row + action);
}

// The action of the highest worth, the first among equals: no random numbers, so no seed.
function choose(view) {
  const worths = [...view.legal].map((action) => worth(view, action));
  return view.legal[worths.indexOf(Math.max(...worths))];
}

// The answer without its id: empty for `new`, `end` and messages of later versions.
function reply(message) {
  if (message.type === "choose") return { action: choose(message) };
  if (message.type !== "hello") return {};
  rules = message.rules;
  patience = message.params?.patience ?? patience;
  return { ready: true, games: 16 };
}

// One line in, one line out, always: an error costs one game, no answer is a timeout.
function answer(line) {
  let id = null;
  try {
    const message = JSON.parse(line);
    id = message.id ?? null;
    return { id, ...reply(message) };
  } catch (error) {
    return { id, error: String(error), traceback: error.stack };
  }
}

// A chunk of input may end in the middle of a line: the next chunk has the rest.
let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) process.stdout.write(JSON.stringify(answer(line)) + "\n");
});
