/* SPDX-License-Identifier: MIT */
/* select.c - the device grammar of gstride/device.h, applied to plain structs. */
#include "device/device_list.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Characters of a spec that a message repeats, so that the rest of the message keeps its room. */
enum { SHOWN_SPEC = 240 };

struct word {
    const char *text; /* without every "!" */
    size_t length;
    bool negated;
};

/* In any case, as for names. */
static bool word_is(struct word word, const char *text)
{
    return word.length == strlen(text) && strncasecmp(word.text, text, word.length) == 0;
}

static bool word_starts(struct word word, const char *prefix)
{
    return word.length >= strlen(prefix) && strncmp(word.text, prefix, strlen(prefix)) == 0;
}

static bool contains_ignoring_case(const char *haystack, const char *needle, size_t length)
{
    for (; *haystack; ++haystack) {
        size_t i = 0;
        while (i < length &&
               tolower((unsigned char)haystack[i]) == tolower((unsigned char)needle[i]))
            ++i;
        if (i == length)
            return true;
    }
    return false;
}

/* Is the word behind its first `from` characters a digit, then characters of `allowed`? */
static bool all_in(struct word word, size_t from, const char *allowed)
{
    if (word.length <= from || !isxdigit((unsigned char)word.text[from]))
        return false;
    for (size_t i = from; i < word.length; ++i)
        if (!strchr(allowed, tolower((unsigned char)word.text[i])))
            return false;
    return true;
}

static bool is_blank(struct word word)
{
    size_t blanks = strspn(word.text, " \t");
    return blanks >= word.length;
}

static const char *const uuid_key = "uuid=", *const pci_key = "pci=";

/* NULL if the word is well formed, otherwise what is wrong with it. */
static const char *word_problem(struct word word)
{
    if (is_blank(word))
        return "an empty word";
    if (word.text[0] == '#' && (!all_in(word, 1, "0123456789") || word.length > 7))
        return "\"#\" without an index";
    if (word_starts(word, uuid_key) && !all_in(word, strlen(uuid_key), "0123456789abcdef-"))
        return "\"uuid=\" without hex digits";
    if (word_starts(word, pci_key) && !all_in(word, strlen(pci_key), "0123456789abcdef:."))
        return "\"pci=\" without an address";
    return NULL;
}

static bool uuid_matches(const char *uuid, struct word word)
{
    for (size_t i = strlen(uuid_key); i < word.length; ++i) {
        if (word.text[i] == '-')
            continue;
        if (*uuid != tolower((unsigned char)word.text[i]))
            return false;
        ++uuid;
    }
    return true;
}

static bool pci_matches(const char *pci, struct word word)
{
    for (size_t i = strlen(pci_key); i < word.length; ++i, ++pci)
        if (*pci != tolower((unsigned char)word.text[i]))
            return false;
    return true;
}

static bool word_holds(const gstride_device_info *info, struct word word)
{
    bool holds;
    if (word_is(word, "gpu"))
        holds = (info->type & GSTRIDE_DEVICE_GPU) != 0;
    else if (word_is(word, "cpu"))
        holds = (info->type & GSTRIDE_DEVICE_CPU) != 0;
    else if (word_is(word, "accelerator"))
        holds = (info->type & GSTRIDE_DEVICE_ACCELERATOR) != 0;
    else if (word.text[0] == '#')
        holds = strtoul(word.text + 1, NULL, 10) == info->index;
    else if (word_starts(word, uuid_key))
        holds = uuid_matches(info->uuid, word);
    else if (word_starts(word, pci_key))
        holds = pci_matches(info->pci, word);
    else
        holds = contains_ignoring_case(info->platform, word.text, word.length) ||
                contains_ignoring_case(info->vendor, word.text, word.length) ||
                contains_ignoring_case(info->name, word.text, word.length);
    return holds != word.negated;
}

/* Is this the rest of a PCI address: one or two hex digits and a separator or the end? */
static bool continues_address(const char *text)
{
    size_t digits = strspn(text, "0123456789abcdefABCDEF");
    return (digits == 1 || digits == 2) && strchr(":.,", text[digits]);
}

/* The word that ends at the next ':' or ','; *at moves behind it. A PCI address contains colons,
 * which belong to the word. */
static struct word next_word(const char **at)
{
    struct word word = {.text = *at};
    for (; *word.text == '!'; ++word.text)
        word.negated = !word.negated;
    size_t length = strcspn(word.text, ":,");
    if (strncmp(word.text, pci_key, strlen(pci_key)) == 0)
        while (word.text[length] == ':' && continues_address(word.text + length + 1))
            length += 1 + strcspn(word.text + length + 1, ":,");
    word.length = length;
    *at = word.text + length;
    return word;
}

static gstride_status check_spec(const char *spec)
{
    for (const char *at = spec;; ++at) {
        const char *start = at;
        const char *problem = word_problem(next_word(&at));
        if (problem)
            return gsi_fail(GSTRIDE_ERROR_DEVICE_SPEC,
                            "device \"%.*s\" has %s at character %zu; examples: gpu, "
                            "cpu:!simulator, #0, nvidia:gpu, uuid=12ab, pci=0000:3b",
                            SHOWN_SPEC, spec, problem, (size_t)(start - spec) + 1);
        if (!*at)
            return GSTRIDE_OK;
    }
}

/* Does the alternative that starts at *at hold? *at moves to its end. */
static bool alternative_holds(const gstride_device_info *info, const char **at)
{
    bool holds = true;
    for (;; ++*at) {
        if (!word_holds(info, next_word(at)))
            holds = false;
        if (**at != ':')
            return holds;
    }
}

static void describe_list(const gstride_device_list *list, struct gsi_strbuf *text)
{
    for (size_t i = 0; i < list->count; ++i)
        gsi_strbuf_printf(text, "%s#%zu %s (%s)", i ? "; " : "", i, list->entries[i].info.name,
                          list->entries[i].info.platform);
    if (list->count == 0)
        gsi_strbuf_puts(text, "nothing");
}

static gstride_status fail_unmatched(const gstride_device_list *list, const char *spec)
{
    struct gsi_strbuf text = {0};
    describe_list(list, &text);
    gstride_status status =
        gsi_fail(GSTRIDE_ERROR_NO_DEVICE, "no device matches \"%.*s\"; there is: %s", SHOWN_SPEC,
                 spec, text.text ? text.text : "?");
    gsi_strbuf_free(&text);
    return status;
}

static unsigned type_rank(uint32_t type)
{
    /* A device that claims to be both is a simulator on the CPU. */
    if (type & GSTRIDE_DEVICE_CPU)
        return type == GSTRIDE_DEVICE_CPU ? 1 : 0;
    return type & GSTRIDE_DEVICE_GPU ? 3 : 2;
}

static bool ranks_above(const gstride_device_info *a, const gstride_device_info *b)
{
    unsigned rank_a = type_rank(a->type), rank_b = type_rank(b->type);
    if (rank_a != rank_b)
        return rank_a > rank_b;
    if (a->unified_memory != b->unified_memory)
        return b->unified_memory; /* a GPU with memory of its own is the faster one */
    return (uint64_t)a->compute_units * a->clock_mhz > (uint64_t)b->compute_units * b->clock_mhz;
}

void gsi_rank_devices(const gstride_device_list *list, size_t *order)
{
    for (size_t i = 0; i < list->count; ++i) { /* insertion sort: stable, and lists are short */
        size_t at = i;
        for (; at > 0 && ranks_above(&list->entries[i].info, &list->entries[order[at - 1]].info);
             --at)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* The best device for which the alternative at *at holds; *at moves to its end. */
static bool best_match(const gstride_device_list *list, const char **at, size_t *index)
{
    const char *alternative = *at;
    bool found = false;
    for (size_t i = 0; i < list->count; ++i) {
        *at = alternative;
        bool better = !found || ranks_above(&list->entries[i].info, &list->entries[*index].info);
        if (alternative_holds(&list->entries[i].info, at) && better) {
            *index = i;
            found = true;
        }
    }
    return found;
}

gstride_status gstride_device_list_select(const gstride_device_list *list, const char *spec,
                                          size_t *index)
{
    if (!list || !index)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "gstride_device_list_select: %s is NULL",
                        list ? "index" : "list");
    if (list->count == 0)
        return fail_unmatched(list, spec ? spec : "");
    if (!spec || !spec[0]) {
        size_t best = 0;
        for (size_t i = 1; i < list->count; ++i)
            if (ranks_above(&list->entries[i].info, &list->entries[best].info))
                best = i;
        *index = best;
        return GSTRIDE_OK;
    }
    gstride_status status = check_spec(spec);
    if (status != GSTRIDE_OK)
        return status;
    for (const char *alternative = spec;;) {
        const char *end = alternative;
        if (best_match(list, &end, index))
            return GSTRIDE_OK;
        if (!*end)
            return fail_unmatched(list, spec);
        alternative = end + 1;
    }
}
