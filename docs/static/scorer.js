// Ranks what a search has found: the title of a page before a heading, and a heading before text.
// Of two titles one that begins with it comes first, then one with fewer other words; of two texts
// a guide does.
var Scorer = (() => {
  const rooms = [
    [/^(CHANGELOG|CODE_OF_CONDUCT|CONTRIBUTING|bench\/)/, -7],
    [/^(index|how-to|reference|explanation)$/, -6],
    [/^(changes|architecture|testing|words|stability|performance)$/, -5],
    [/^gallery\//, -4],
    [/^reference\/arena-/, -10],
    [/^reference\//, -6],
  ];
  let query; // in small letters; what follows is found once for it
  let wanted; // its words, stemmed
  let headings; // by page: each heading with its anchor

  const stems = (text) => {
    const stemmer = new Stemmer();
    const words = splitQuery(text.toLowerCase()).filter((word) => !stopwords.has(word));
    return words.map((word) => stemmer.stemWord(word));
  };
  const read = () => {
    query = (new URLSearchParams(window.location.search).get("q") || "").toLowerCase().trim();
    wanted = stems(query);
    headings = new Map();
    for (const [heading, places] of Object.entries(Search._index.alltitles))
      for (const [page, anchor] of places) {
        const name = Search._index.docnames[page];
        if (!headings.has(name)) headings.set(name, []);
        headings.get(name).push([heading, anchor ? `#${anchor}` : ""]);
      }
  };
  // 1 where a title is what was searched for, 0 where it has no word of it
  const fit = (title) => {
    const words = stems(title);
    const found = wanted.filter((word) => words.some((one) => one.startsWith(word))).length;
    if (!found) return 0;
    const first = wanted.some((word) => words[0].startsWith(word)) ? 0.1 : 0;
    const share = Math.min(found / words.length, 1);
    return (found / wanted.length) ** 2 * (0.6 + first + 0.3 * share);
  };
  const scoreObject = (name) => {
    const words = name.toLowerCase();
    if (words === query || words.split(".").pop().replace(/^-+/, "") === query) return 25;
    return words.includes(query) ? 8 : 5;
  };
  const score = (result) => {
    if (query === undefined) read();
    const [page, title, anchor, , , , kind] = result;
    const room = rooms.find(([names]) => names.test(page));
    const rank = room ? room[1] : 0;
    if (kind === SearchResultKind.object) return scoreObject(title) + rank;
    const index = Search._index.docnames.indexOf(page);
    const ofPage = Search._index.titles[index];
    let best = 10 + 80 * fit(ofPage);
    for (const [heading, place] of headings.get(page) || []) {
      const points = 10 + 50 * fit(heading);
      if (points > best && (!anchor || anchor === place)) {
        best = points;
        if (place) [result[1], result[2]] = [`${ofPage} > ${heading}`, place];
      }
    }
    return Math.round(best + rank - (anchor ? 1 : 0));
  };
  return {
    score,
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: { 0: 15, 1: 5, 2: -5 },
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
  };
})();
