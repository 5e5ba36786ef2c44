/* A careful bot in C99: keeps cities from the opponent, and waits for a good take.
 *
 *     cc -O2 -std=c99 -Wall -Wextra -o careful docs/examples/careful.c
 *     arena play 'cmd:./careful' uniform
 *
 * It has no JSON library. The arena sends valid JSON, and this bot needs a few values of it: it
 * walks over the keys of the message and skips what it does not know. It keeps nothing between
 * two answers and uses no luck, so it has no use for the seed. */
#define _POSIX_C_SOURCE 200809L /* getline */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAKE_SIZE = 5, GOOD_ENOUGH = 4 };

/* A part of the line, from its first character to the one before `end`. */
typedef struct { const char *begin, *end; } Text;

/* Return where the key or value at p ends: at the next : , } or ] that is not inside it. */
static const char *skip(const char *p) {
    for (int depth = 0, quoted = 0; *p; p++) {
        if (*p == '"') quoted = !quoted;
        else if (quoted) p += *p == '\\' && p[1]; /* an escaped quote ends no text */
        else if (depth == 0 && strchr(":,}]", *p)) break;
        else if (*p == '{' || *p == '[') depth++;
        else if (*p == '}' || *p == ']') depth--;
    }
    return p;
}

/* Return the value or key from p to its end, without blanks and quotes around it. */
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

/* Return the value of a key of the message, whatever the order; empty if it is not there. */
static Text get(const char *line, const char *key) {
    const char *p = strchr(line, '{');
    while (p && (*p == '{' || *p == ',')) {
        Text found = trimmed(p + 1);
        if (*(p = skip(p + 1)) != ':') break;
        if (equal(found, key)) return trimmed(p + 1);
        p = skip(p + 1);
    }
    return (Text){"", ""};
}

/* Return what one card is worth to the one who takes it; a city, most of all to deny it. */
static int worth(char card) {
    static const int worths[] = {-3, -2, -1, 1, 1, 1, 1, 2, 3, 4, 6, 0};
    static const char cards[] = "zyx5678234C";
    return worths[strcspn(cards, (char[]){card, 0})];
}

/* Return the action: the take if it is good, else the card that does the least harm. */
static char choose(const char *line) {
    Text legal = get(line, "legal"), row = get(line, "row");
    char best = 'T'; /* what remains when the hand is empty */
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
        fflush(stdout); /* or the answer stays in the buffer, and the arena waits */
    }
    free(line);
    return 0;
}
