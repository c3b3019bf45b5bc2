/* Where the token of a bot is kept: whoever has it is the bot, and may come back to its match. */
#pragma once
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TOKEN_TEXT = 64 };

/* Reads the token of a name on a host: the same each time, and readable for nobody else. */
static void token_remember(char token[TOKEN_TEXT], FILE *log, const char *host, const char *game, const char *name)
{
    char path[4096];
    const char *home = getenv("HOME"), *states = getenv("XDG_STATE_HOME");
    unsigned long long random[2];
    const int folder = snprintf(path, sizeof path, "%.3000s%s/quintain-bot/", states && *states ? states : home ? home : ".",
                                states && *states ? "" : "/.local/state");
    for (char *slash = path; (slash = strchr(slash + 1, '/')); *slash = '/')
        *slash = '\0', mkdir(path, 0700);
    snprintf(path + folder, sizeof path - folder, "%s-%s-%s", host, game, name);
    for (char *slash = path + folder; (slash = strchr(slash, '/')); *slash = '_');
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (read(file, token, TOKEN_TEXT - 1) <= 0 && getentropy(random, sizeof random) == 0)
        dprintf(file, "%.*s", snprintf(token, TOKEN_TEXT, "%016llx%016llx", random[0], random[1]), token);
    close(file);
    fprintf(log, file < 0 ? "the token cannot be kept in %s\n" : "the token is kept in %s\n", path);
}
