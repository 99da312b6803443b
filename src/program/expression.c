/* SPDX-License-Identifier: MIT */
/* expression.c - refuses text that could leave its place in the program, or make a result depend on
 * the launch. Everything else is the compiler's to judge. */
#include "program/expression.h"

#include <ctype.h>
#include <gstride/map.h>
#include <string.h>

static bool starts_identifier(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool continues_identifier(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool word_in(const char *word, size_t length, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0)
            return true;
    return false;
}

static bool word_has_prefix(const char *word, size_t length, const char *const *prefixes,
                            size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (length >= strlen(prefixes[i]) && strncmp(word, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Words that would make a result depend on the launch or reach outside the expression. */
static bool word_is_banned(const char *word, size_t length)
{
    static const char *const words[] = {"asm", "barrier", "goto", "kernel", "global", "local"};
    static const char *const prefixes[] = {"get_",       "atom",        "mem_fence",  "read_mem_",
                                           "write_mem_", "work_group_", "sub_group_", "gs_",
                                           "GS_",        "gsi_",        "__",         "async_work",
                                           "wait_group", "intel_",      "printf",     "gstride_"};
    return word_in(word, length, words, COUNT(words)) ||
           word_has_prefix(word, length, prefixes, COUNT(prefixes));
}

struct scanner {
    const char *what;
    const char *text;
    enum gsi_text_rules rules;
    unsigned line, column;
    char open[64]; /* brackets not yet closed */
    size_t depth;
    size_t unary; /* signs in a row, for each of which compilers nest once more */
};

enum { MOST_UNARY = 64 };

static gstride_status refuse(const struct scanner *s, const char *found)
{
    gstride_status status =
        gsi_fail(GSTRIDE_ERROR_EXPRESSION, "%s, line %u, column %u: %s is not allowed here%s",
                 s->what, s->line, s->column, found,
                 s->rules == GSI_PREAMBLE ? "" : "; helper functions go into a preamble");
    gsi_error_set_log("", s->line, s->column);
    return status;
}

/* Directives of a preamble that would bring in text which nobody has checked, or change how
 * arithmetic is done. Unrolling changes neither. */
static bool directive_is_banned(const struct scanner *s, size_t length)
{
    static const char *const words[] = {"include", "include_next", "import", "pragma", "_Pragma"};
    static const char *const harmless[] = {"unroll"};
    if (s->rules != GSI_PREAMBLE || !word_in(s->text, length, words, COUNT(words)))
        return false;
    const char *next = s->text + length + strspn(s->text + length, " \t");
    size_t next_length = 0;
    while (continues_identifier(next[next_length]))
        ++next_length;
    return !word_in(next, next_length, harmless, COUNT(harmless));
}

static gstride_status scan_word(struct scanner *s, size_t *length)
{
    size_t n = 1;
    while (continues_identifier(s->text[n]))
        ++n;
    *length = n;
    if (!word_is_banned(s->text, n) && !directive_is_banned(s, n))
        return GSTRIDE_OK;
    char found[48];
    size_t shown = n < sizeof found - 3 ? n : sizeof found - 3;
    found[0] = '"';
    memcpy(found + 1, s->text, shown);
    memcpy(found + 1 + shown, "\"", 2);
    return refuse(s, found);
}

static gstride_status scan_bracket(struct scanner *s)
{
    static const char opening[] = "([{", closing[] = ")]}";
    char c = s->text[0];
    if (strchr("{}", c) && s->rules != GSI_PREAMBLE)
        return refuse(s, "a brace");
    if (strchr(opening, c)) {
        if (s->depth == sizeof s->open)
            return refuse(s, "so deep a nesting");
        s->open[s->depth++] = closing[strchr(opening, c) - opening];
        return GSTRIDE_OK;
    }
    if (s->depth == 0 || s->open[--s->depth] != c)
        return refuse(s, "a bracket that closes nothing");
    return GSTRIDE_OK;
}

/* Does a line end at the backslash `at`, perhaps behind blanks? The compiler joins it with the next
 * line before it looks for words and comments. */
static bool is_splice(const char *at)
{
    at += 1 + strspn(at + 1, " \t\f\v");
    return *at == '\n' || *at == '\r';
}

/* A splice between blanks parts the same words for the compiler as for this scanner. */
static gstride_status scan_backslash(struct scanner *s)
{
    if (s->rules != GSI_PREAMBLE || !is_splice(s->text))
        return refuse(s, "a backslash");
    const char *next = s->text + 1 + strcspn(s->text, "\r\n") - 1;
    next += strspn(next, "\r\n");
    bool blank_before = s->column == 1 || isspace((unsigned char)s->text[-1]);
    if (!blank_before && *next && !isspace((unsigned char)*next))
        return refuse(s, "a line that continues without a blank");
    return GSTRIDE_OK;
}

/* A preamble's comments are skipped, so that brackets in them do not count. 0 if the comment has no
 * end, or one that the compiler could see elsewhere: a splice there moves it. */
static size_t comment_length(const char *text)
{
    static const char spliced[] = {'?', '?', '/', '\0'}; /* the trigraph of a backslash */
    bool is_line = text[1] == '/';
    const char *end = is_line ? text + strcspn(text, "\r\n") : strstr(text + 2, "*/");
    for (const char *at = text + 2; end && at < end; ++at) {
        bool splice = (*at == '\\' && is_splice(at)) || strncmp(at, spliced, 3) == 0;
        if (splice && (is_line || at[-1] == '*'))
            return 0;
    }
    return end ? (size_t)(end - text) + (is_line ? 0 : 2) : 0;
}

/* Other spellings of brackets, braces and "#". */
static bool is_digraph(const char *text)
{
    static const char *const digraphs[] = {"<:", ":>", "<%", "%>", "%:"};
    for (size_t i = 0; i < COUNT(digraphs); ++i)
        if (strncmp(text, digraphs[i], 2) == 0)
            return true;
    return false;
}

static gstride_status scan_symbol(struct scanner *s, size_t *length)
{
    char c = s->text[0];
    *length = 1;
    if (strchr("()[]{}", c))
        return scan_bracket(s);
    if (c == '\\')
        return scan_backslash(s);
    if (c == '"' || c == '\'')
        return refuse(s, "a string or character literal");
    if (c == '?' && s->text[1] == '?')
        return refuse(s, "a trigraph");
    if (is_digraph(s->text))
        return refuse(s, "a digraph");
    if (c == '#' && s->rules != GSI_PREAMBLE)
        return refuse(s, "a preprocessor line");
    if (c == '#' && s->text[1] == '#')
        return refuse(s, "the joining of words");
    if (c == ';' && s->rules == GSI_VALUE)
        return refuse(s, "a semicolon");
    if (c == '/' && (s->text[1] == '/' || s->text[1] == '*')) {
        if (s->rules != GSI_PREAMBLE)
            return refuse(s, "a comment");
        *length = comment_length(s->text);
        if (*length == 0)
            return refuse(s, "a comment without a clear end");
    }
    if ((unsigned char)c >= 0x80 || (iscntrl((unsigned char)c) && !isspace((unsigned char)c)))
        return refuse(s, "a character outside printable ASCII");
    return GSTRIDE_OK;
}

static gstride_status count_unary(struct scanner *s)
{
    if (strchr("~!+-*&", *s->text))
        ++s->unary;
    else if (!isspace((unsigned char)*s->text))
        s->unary = 0;
    return s->unary > MOST_UNARY ? refuse(s, "so deep a nesting") : GSTRIDE_OK;
}

static void advance(struct scanner *s, size_t length)
{
    for (; length > 0; --length, ++s->text) {
        ++s->column;
        if (*s->text == '\n') {
            ++s->line;
            s->column = 1;
        }
    }
}

static gstride_status check_length(const char *what, const char *text, enum gsi_text_rules rules)
{
    size_t most = rules == GSI_PREAMBLE ? GSTRIDE_MAX_PREAMBLE : GSTRIDE_MAX_EXPRESSION;
    size_t length = strnlen(text, most + 1);
    if (length > most)
        return gsi_fail(GSTRIDE_ERROR_EXPRESSION, "the %s is longer than %zu bytes", what, most);
    if (rules != GSI_PREAMBLE && text[strspn(text, " \t\n\r\f\v")] == '\0')
        return gsi_fail(GSTRIDE_ERROR_EXPRESSION, "the %s is empty", what);
    return GSTRIDE_OK;
}

gstride_status gsi_check_text(const char *what, const char *text, enum gsi_text_rules rules)
{
    if (!text)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "the %s is NULL", what);
    gstride_status status = check_length(what, text, rules);
    struct scanner s = {.what = what, .text = text, .rules = rules, .line = 1, .column = 1};
    while (status == GSTRIDE_OK && *s.text) {
        size_t length = 1;
        status = count_unary(&s);
        if (status != GSTRIDE_OK)
            return status;
        if (starts_identifier(*s.text))
            status = scan_word(&s, &length);
        else if (isdigit((unsigned char)*s.text))
            while (continues_identifier(s.text[length]) || s.text[length] == '.')
                ++length;
        else
            status = scan_symbol(&s, &length);
        advance(&s, length);
    }
    if (status == GSTRIDE_OK && s.depth > 0)
        return refuse(&s, "an end before every bracket is closed");
    return status;
}

gstride_status gsi_check_name(const char *name)
{
    static const char *const reserved[] = {
        "i",       "auto",     "bool",    "break",  "case",     "char",   "const",    "continue",
        "default", "do",       "double",  "else",   "enum",     "extern", "float",    "for",
        "half",    "if",       "inline",  "int",    "long",     "quad",   "register", "restrict",
        "return",  "short",    "signed",  "sizeof", "static",   "struct", "switch",   "typedef",
        "uchar",   "uint",     "ulong",   "union",  "unsigned", "ushort", "void",     "volatile",
        "while",   "constant", "private", "image",  "event_t",  "size_t", "ptrdiff_t"};
    if (!name || !starts_identifier(name[0]))
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "operand name \"%.64s\" is no C identifier",
                        name ? name : "(null)");
    size_t length = strnlen(name, 65);
    for (size_t k = 0; k < length; ++k)
        if (!continues_identifier(name[k]))
            return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "operand name \"%.64s\" is no C identifier",
                            name);
    if (length > 64)
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "operand name \"%.64s...\" is longer than 64 bytes",
                        name);
    /* macros of OpenCL C, which would replace the name */
    static const char *const macros[] = {"true",     "false",    "NULL",     "NAN",
                                         "INFINITY", "HUGE_VAL", "MAXFLOAT", "HUGE_VALF"};
    static const char *const macro_prefixes[] = {
        "M_",    "CLK_",  "FLT_",  "DBL_",  "HALF_", "INT_", "UINT_", "LONG_", "ULONG",
        "CHAR_", "SCHAR", "UCHAR", "SHRT_", "USHRT", "FP_",  "CL_",   "cl_",   "GSTRIDE"};
    if (word_in(name, length, reserved, COUNT(reserved)) ||
        word_in(name, length, macros, COUNT(macros)) ||
        word_has_prefix(name, length, macro_prefixes, COUNT(macro_prefixes)) ||
        word_is_banned(name, length))
        return gsi_fail(GSTRIDE_ERROR_ARGUMENT, "operand name \"%s\" is reserved", name);
    return GSTRIDE_OK;
}
