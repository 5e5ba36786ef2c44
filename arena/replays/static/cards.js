// Cards: their names and their pictures, which are plain shapes drawn here as SVG.
"use strict";
window.Arena = window.Arena || {};

(() => {
  const CHARS = "5678234xyzC";
  const VALUES = [0, 0, 0, 0, 2, 3, 4, -1, -2, -3, 0];
  const WORDS = {
    english: ["Support", "Alliance", "Betrayal", "City"],
    german: ["Bande", "Bündnis", "Verrat", "Gebäude"],
  };
  const SUITS = { 5: ["♣", 7], 6: ["♥", 8], 7: ["♠", 9], 8: ["♦", 10] };
  const SUIT_NAMES = { "♣": "clubs", "♥": "hearts", "♠": "spades", "♦": "diamonds" };
  const RANK_NAMES = { A: "ace", J: "jack", Q: "queen", K: "king" };
  const COURT = {
    2: "J♣ J♥ J♠ J♦", 3: "Q♥ Q♦", 4: "Jk", x: "A♣ A♥ A♠", y: "2♣ 2♥ 2♠ 2♦", z: "Q♣ Q♠",
    C: "K♠ K♥ K♦",
  };
  const SVG = "http://www.w3.org/2000/svg";

  const kindOf = (char) => CHARS.indexOf(char);
  const valueOf = (char) => VALUES[kindOf(char)];
  const signed = (value) => (value < 0 ? `−${-value}` : `+${value}`);

  // What sort of card it is: 0 support, 1 alliance, 2 betrayal, 3 city.
  function sortOf(char) {
    if (char === "C") return 3;
    const value = valueOf(char);
    return value > 0 ? 1 : value < 0 ? 2 : 0;
  }

  // The names of the copies of a kind in a standard deck; those past the end share the last one.
  function deckNames(char) {
    if (char in SUITS) {
      const [suit, last] = SUITS[char];
      return Array.from({ length: last - 2 }, (_, index) => `${index + 3}${suit}`);
    }
    return COURT[char].split(" ");
  }

  // The name of a card as it is written: "Support 7", or in a standard deck "9♠".
  function cardName(char, copy, names) {
    if (names === "deck") {
      const all = deckNames(char);
      return all[Math.min(copy, all.length - 1)];
    }
    const word = WORDS[names][sortOf(char)];
    if (char === "C") return word;
    return `${word} ${valueOf(char) ? signed(valueOf(char)) : char}`;
  }

  // The name of a kind: in a standard deck "♠ (7)", "A (−1)".
  function kindName(char, names) {
    if (names !== "deck") return cardName(char, 0, names);
    if (char in SUITS) return `${SUIT_NAMES[SUITS[char][0]]} (${char})`;
    const name = { 2: "J", 3: "Q♥♦", 4: "Joker", x: "A", y: "2", z: "Q♣♠", C: "K" }[char];
    return char === "C" ? `${name} (City)` : `${name} (${signed(valueOf(char))})`;
  }

  // The name of a card as it is spoken: "9 of spades, 7".
  function spokenName(char, copy, names) {
    if (names !== "deck") return cardName(char, copy, names).replace("−", "minus ");
    const value = char === "C" ? "City" : valueOf(char) ? signed(valueOf(char)) : `Support ${char}`;
    const meaning = value.replace("−", "minus ").replace("+", "plus ");
    const written = cardName(char, copy, names);
    if (written === "Jk") return `joker, ${meaning}`;
    const rank = written.slice(0, -1);
    return `${RANK_NAMES[rank] || rank} of ${SUIT_NAMES[written.slice(-1)]}, ${meaning}`;
  }

  function shape(tag, attributes, text) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // The sign of each kind, in a box of 24 by 24 around (0, 0).
  const SIGNS = {
    5: () => [shape("path", { d: "M0-10.5 11 8.5H-11Z" })],
    6: () => [shape("rect", { x: -9, y: -9, width: 18, height: 18, rx: 1.5 })],
    7: () => [shape("circle", { r: 10 })],
    8: () => [shape("path", { d: "M-5-11.5H5L11.5-5V5L5 11.5H-5L-11.5 5V-5Z" })],
    alliance: () => [
      shape("circle", { cx: -5, r: 7.5, class: "ring" }),
      shape("circle", { cx: 5, r: 7.5, class: "ring" }),
    ],
    betrayal: () => [shape("path", { d: "M3.5-12-8 2H-1L-4 12 8-3H1Z" })],
    C: () => [
      shape("path", { d: "M-12 11V-2H-5V-11H4V-5H12V11Z" }),
      shape("path", {
        d: "M-9.5 2h2M-9.5 6h2M-2.5-7h1.5M-2.5-3h1.5M-2.5 1h1.5M-2.5 5h1.5M1-7h1M1-3h1M1 1h1M1 5h1M7-1h2M7 3h2M7 7h2",
        class: "windows",
      }),
    ],
    "♣": () => [
      shape("circle", { cy: -6, r: 5 }), shape("circle", { cx: -5.6, cy: 2, r: 5 }),
      shape("circle", { cx: 5.6, cy: 2, r: 5 }), shape("path", { d: "M-1.5-2H1.5L4 11H-4Z" }),
    ],
    "♥": () => [shape("path", { d: "M0 11C-15-1-10-11-5-11-2-11 0-9 0-6 0-9 2-11 5-11 10-11 15-1 0 11Z" })],
    "♠": () => [
      shape("path", { d: "M0-12C2-6 11-3 11 3 11 8 4 9 1 5L4 11H-4L-1 5C-4 9-11 8-11 3-11-3-2-6 0-12Z" }),
    ],
    "♦": () => [shape("path", { d: "M0-12 9 0 0 12-9 0Z" })],
    Jk: () => [shape("path", { d: "M0-12 3.2-4 12-3.5 5.2 2 7.6 10.5 0 5.8-7.6 10.5-5.2 2-12-3.5-3.2-4Z" })],
  };

  function addSign(svg, sign, x, y, scale) {
    const group = shape("g", { transform: `translate(${x} ${y}) scale(${scale})`, class: "sign" });
    group.append(...SIGNS[sign]());
    svg.append(group);
  }

  function frameOf(classes) {
    const svg = shape("svg", { viewBox: "0 0 60 84", class: `card ${classes}`, "aria-hidden": "true" });
    svg.append(shape("rect", { x: 1, y: 1, width: 58, height: 82, rx: 6, class: "sheet" }));
    return svg;
  }

  const signOf = (char) => ["", "alliance", "betrayal", ""][sortOf(char)] || char;

  // A card's face: its value in two corners, its sign in the middle, its word at the foot.
  function drawFace(char, names) {
    const sort = sortOf(char);
    const svg = frameOf(`sort-${sort} kind-${char}`);
    const value = char === "C" ? "" : valueOf(char) ? signed(valueOf(char)) : char;
    svg.append(shape("text", { x: 7, y: 22, class: "value" }, value));
    addSign(svg, signOf(char), 30, 43, 1.25);
    svg.append(shape("text", { x: 30, y: 75, class: "word" }, WORDS[names][sort]));
    return svg;
  }

  // A card of a standard deck: its rank, its suit, and at the foot what it is worth here.
  function drawDeckFace(char, copy) {
    const written = cardName(char, copy, "deck");
    const joker = written === "Jk";
    const suit = joker ? "Jk" : written.slice(-1);
    const red = suit === "♥" || suit === "♦";
    const svg = frameOf(`deck ${red ? "red" : "black"}`);
    svg.append(shape("text", { x: 7, y: 22, class: "value" }, joker ? "★" : written.slice(0, -1)));
    addSign(svg, suit, 30, 43, 1.25);
    const worth = char === "C" ? "City" : valueOf(char) ? signed(valueOf(char)) : `= ${char}`;
    svg.append(shape("text", { x: 30, y: 76, class: "worth" }, worth));
    return svg;
  }

  function drawCard(char, copy, names) {
    return names === "deck" ? drawDeckFace(char, copy) : drawFace(char, names);
  }

  // The back of a card that is not known.
  function drawBack() {
    const svg = frameOf("back");
    svg.append(shape("rect", { x: 7, y: 7, width: 46, height: 70, rx: 3, class: "inner" }));
    for (let y = 14; y < 77; y += 14) {
      svg.append(shape("path", { d: `M9 ${y}l14-7 14 7 14-7`, class: "wave" }));
    }
    return svg;
  }

  // The sign of a kind alone, for tables and lists; courts of a standard deck have none.
  function drawSign(char, names) {
    const sort = sortOf(char);
    const deck = names === "deck";
    if (deck && !(char in SUITS)) return "";
    const classes = deck ? `deck ${char === "6" || char === "8" ? "red" : "black"}` : `sort-${sort} kind-${char}`;
    const svg = shape("svg", { viewBox: "-14 -14 28 28", class: `small-sign ${classes}`, "aria-hidden": "true" });
    addSign(svg, deck ? SUITS[char][0] : signOf(char), 0, 0, 1);
    return svg;
  }

  Object.assign(window.Arena, {
    CHARS, cardName, drawBack, drawCard, drawSign, kindName, kindOf, shape, signed, sortOf,
    spokenName, valueOf,
  });
})();
