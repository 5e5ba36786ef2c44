// A greedy bot for Node: weighs what a take brings now, and gives the opponent the least.
//
//     arena play 'cmd:node docs/examples/greedy.js' uniform
//
// It keeps nothing between two answers: all that counts is in the message. So it can be asked
// about many games at once, and says so with "games".
"use strict";

const VALUES = { 2: 2, 3: 3, 4: 4, x: -1, y: -2, z: -3 };
const CITY_WIN = 100;
let rules = {}; // from `hello`: a run may change the numbers of the rules
let patience = 3; // a take must bring so many points more for every card still in the hand

const count = (cards, card) => cards.split(card).length - 1;

// The points of one pile less those of the other: majorities, sets, alliances and betrayals.
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

// The points an action brings, less those it lets the opponent have.
function worth({ seat, hand, row, piles, taken }, action) {
  const [mine, theirs] = [piles[seat], piles[1 - seat]];
  if (action === "T") return gain(mine, theirs, row) - patience * hand.length;
  if (!taken[1 - seat]) return Math.min(0, -gain(theirs, mine, row + action));
  return taken[seat] ? 0 : gain(mine, theirs, row + action);
}

// The action of the highest worth, the first among equals: no luck, so no use for the seed.
function choose(view) {
  const worths = [...view.legal].map((action) => worth(view, action));
  return view.legal[worths.indexOf(Math.max(...worths))];
}

// What to answer besides the id. `new`, `end` and what later versions may send: nothing.
function reply(message) {
  if (message.type === "choose") return { action: choose(message) };
  if (message.type !== "hello") return {};
  rules = message.rules;
  patience = message.params?.patience ?? patience;
  return { ready: true, games: 16 };
}

// One line in, one line out, whatever happens: an error costs one game, silence a timeout.
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

// A chunk of input may end in the middle of a line: the rest of it comes with the next one.
let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  for (const line of lines) process.stdout.write(JSON.stringify(answer(line)) + "\n");
});
