/* Finding things in what a server said. This reads no JSON: a bot looks for what it needs, where it is. */

#include "load.h"

#include <string.h>

bool begins_with(const char *text, size_t length, const char *with)
{
    size_t count = strlen(with);
    return length >= count && memcmp(text, with, count) == 0;
}

const char *between(const char *text, size_t length, const char *mark, char end, size_t *found)
{
    const char *begins = memmem(text, length, mark, strlen(mark));
    if (begins == NULL)
        return NULL;
    begins += strlen(mark);
    const char *ends = memchr(begins, end, (size_t)(text + length - begins));
    if (ends == NULL)
        return NULL;
    *found = (size_t)(ends - begins);
    return begins;
}
