/* A careful bot in C99: keeps cities from the opponent, and waits for a good take.
 *
 *     arena play docs/examples/careful/ uniform
 *
 * It uses no JSON library. The arena sends valid JSON, and this bot needs only a few values: it
 * walks over the keys of the message and skips those that it does not know. It stores nothing
 * between two answers and uses no random numbers, so it does not need the seed. */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAKE_SIZE = 5, GOOD_ENOUGH = 4 };

/* A part of the line, from `begin` to the character before `end`. */
typedef struct { const char *begin, *end; } Text;

/* Return where the key or value at p ends: at the next : , } or ] that is not inside it. */
static const char *skip(const char *p) {
    for (int depth = 0, quoted = 0; *p; p++) {
        if (*p == '"') quoted = !quoted;
        else if (quoted) p += *p == '\\' && p[1]; /* an escaped quote ends no string */
        else if (depth == 0 && strchr(":,}]", *p)) break;
        else if (*p == '{' || *p == '[') depth++;
        else if (*p == '}' || *p == ']') depth--;
    }
    return p;
}

/* Return the key or value at p without the blanks and quotes around it. */
static Text trimmed(const char *p) {
    Text text = {p, skip(p)};
    while (text.begin < text.end && strchr(" \t\r\n\"", *text.begin)) text.begin++;
    while (text.begin < text.end && strchr(" \t\r\n\"", text.end[-1])) text.end--;
    return text;
}

static int equal(Text text, const char *word) {
    size_t length = (size_t)(text.end - text.begin);
    return length == strlen(word) && memcmp(text.begin, word, length) == 0;
}

/* Return the value of a key of the message, in any order; empty if the key is missing. */
static Text get(const char *line, const char *key) {
    const char *p = strchr(line, '{');
    while (p && (*p == '{' || *p == ',')) {
        Text name = trimmed(p + 1);
        if (*(p = skip(p + 1)) != ':') break;
        if (equal(name, key)) return trimmed(p + 1);
        p = skip(p + 1);
    }
    return (Text){"", ""};
}

/* Return the worth of one card in a take; a city has the highest, to deny it. */
static int worth(char card) {
    static const int worths[] = {-3, -2, -1, 1, 1, 1, 1, 2, 3, 4, 6, 0};
    static const char cards[] = "zyx5678234C";
    return worths[strcspn(cards, (char[]){card, 0})];
}

/* Return the action: the take if it is good, else the card worth least. */
static char choose(const char *line) {
    Text legal = get(line, "legal"), row = get(line, "row");
    char best = 'T'; /* the only action when the hand is empty */
    int brings = 0, may_take = 0;
    for (const char *p = row.end; p > row.begin && row.end - p < TAKE_SIZE;) brings += worth(*--p);
    for (const char *p = legal.begin; p < legal.end; p++) {
        if (*p == 'T') may_take = 1;
        else if (best == 'T' || worth(*p) < worth(best)) best = *p;
    }
    return may_take && brings >= GOOD_ENOUGH ? 'T' : best;
}

int main(void) {
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) { /* getline makes room for any length */
        Text id = get(line, "id"), type = get(line, "type");
        if (id.begin == id.end) printf("{\"id\": null, \"error\": \"no id\"");
        else printf("{\"id\": %.*s", (int)(id.end - id.begin), id.begin);
        if (equal(type, "hello")) printf(", \"ready\": true");
        if (equal(type, "choose")) printf(", \"action\": \"%c\"", choose(line));
        printf("}\n");
        fflush(stdout); /* otherwise the answer stays in the buffer, and the arena waits */
    }
    free(line);
    return 0;
}
