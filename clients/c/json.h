/* As much of JSON as a bot needs to read what a Quintain host says: values are found in the host's own text. */
#ifndef JSON_H
#define JSON_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Where the value ends that begins here: hosts write no blanks between values. */
static inline const char *json_end(const char *value)
{
    int depth = 0, quoted = 0;
    for (; *value; value++) {
        if (*value == '"')
            quoted = !quoted;
        else if (*value == '\\')
            value++;
        else if (quoted)
            continue;
        else if (depth == 0 && strchr(",:]}\n", *value))
            break;
        else if (*value == '[' || *value == '{')
            depth++;
        else if (*value == ']' || *value == '}')
            depth--;
    }
    return value;
}

/* The value of that name in an object; NULL if there is none, or it is null. */
static inline const char *json_get(const char *object, const char *name)
{
    size_t length = strlen(name);
    while (object && (*object == '{' || *object == ',')) {
        const char *value = json_end(object + 1) + 1;
        if (strncmp(object + 2, name, length) == 0 && object[2 + length] == '"')
            return strncmp(value, "null", 4) == 0 ? NULL : value;
        object = json_end(value);
    }
    return NULL;
}

/* The value at that place of an array; NULL if there are not so many. */
static inline const char *json_at(const char *array, int place)
{
    while (array && (*array == '[' || *array == ',') && array[1] != ']') {
        if (place-- == 0)
            return array + 1;
        array = json_end(array + 1);
    }
    return NULL;
}

static inline int json_count(const char *array)
{
    int count = 0;
    while (json_at(array, count))
        count++;
    return count;
}

static inline int json_number(const char *value)
{
    return value ? atoi(value) : 0;
}

/* Copies a string, or the text of another value, as far as there is room. Returns `to`. */
static inline char *json_copy(const char *value, char *to, size_t size)
{
    size_t length = 0;
    for (const char *end = value ? json_end(value) : NULL; value < end && length + 1 < size; value++) {
        if (*value == '\\')
            value++;
        else if (*value == '"')
            continue;
        to[length++] = *value;
    }
    to[length] = '\0';
    return to;
}

/* Writes a text as what stands between the quotes of a string. `to` has room for twice as much. Returns `to`. */
static inline char *json_escape(const char *text, char *to)
{
    size_t length = 0;
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            to[length++] = '\\';
        to[length++] = *text;
    }
    to[length] = '\0';
    return to;
}

static inline int json_is(const char *value, const char *text)
{
    char copy[132]; /* a name may have 32 characters of four bytes */
    return strcmp(json_copy(value, copy, sizeof copy), text) == 0;
}

#endif
