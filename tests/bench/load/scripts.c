/* The moves that were drawn beforehand: as whole matches, and as a tree for bots that are told all moves so far.

   A match is a line: of each move how a bot is told of it, and how a bot says it, all with tabs between. */

#include "load.h"

#include <stdlib.h>
#include <string.h>

struct node start;

static struct script *scripts;
static unsigned script_count;

static struct node *grown(struct node *node, const struct move *move)
{
    node->options = realloc(node->options, (node->option_count + 1) * sizeof *node->options);
    if (node->options == NULL)
        fail("out of memory");
    node->options[node->option_count++] = move;
    struct node *found = after(node, move->told, move->told_length);
    if (found == NULL) {
        found = room(sizeof *found);
        found->told = move->told;
        found->told_length = move->told_length;
        found->sibling = node->child;
        node->child = found;
    }
    return found;
}

void read_script(const char *line)
{
    char *text = strdup(line);
    unsigned fields = 1;
    for (const char *at = text; *at != '\0'; at++)
        fields += *at == '\t';
    scripts = realloc(scripts, (script_count + 1) * sizeof *scripts);
    if (text == NULL || scripts == NULL)
        fail("out of memory");
    struct script *script = &scripts[script_count++];
    script->plies = fields / 2;
    script->moves = room(script->plies * sizeof *script->moves);
    struct node *node = &start;
    for (unsigned ply = 0; ply < script->plies; ply++) {
        struct move *move = &script->moves[ply];
        move->told = strsep(&text, "\t");
        move->said = strsep(&text, "\t");
        move->told_length = strlen(move->told);
        move->said_length = strlen(move->said);
        node = grown(node, move);
    }
}

static uint32_t crc32(const char *text, size_t length)
{
    uint32_t sum = ~0u;
    for (size_t at = 0; at < length; at++) {
        sum ^= (unsigned char)text[at];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320u : 0);
    }
    return ~sum;
}

/* The script of the match that both its bots know by that text. */
const struct script *script_by(const char *text, size_t length)
{
    return &scripts[crc32(text, length) % script_count];
}

/* Where that move leads; NULL where nobody has drawn it. */
struct node *after(const struct node *node, const char *told, size_t length)
{
    for (struct node *each = node->child; each != NULL; each = each->sibling)
        if (each->told_length == length && memcmp(each->told, told, length) == 0)
            return each;
    return NULL;
}

const struct move *any_option(const struct node *node, uint64_t *random)
{
    *random ^= *random << 13; /* xorshift64*: without the factor, moves that follow each other are not independent */
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return node->options[(*random * 0x2545F4914F6CDD1Du >> 32) % node->option_count];
}

/* Where the random numbers of a bot begin: the same in every run, and another for each. */
uint64_t seed(unsigned number)
{
    return (number + 1) * 0x9E3779B97F4A7C15u;
}
