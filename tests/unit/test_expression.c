/* SPDX-License-Identifier: MIT */
/* What a caller's text and names may contain, and where a refusal points. */
#include "rows.h"

#include "program/expression.h"

#include <gstride/map.h>
#include <stdio.h>
#include <string.h>

#define ANY_RULES -1

struct good_row {
    const char *name;
    const char *text;
    int rules;
};

static const struct good_row good[] = {
    {"a name", "x", ANY_RULES},
    {"a sum", "a * x + y", ANY_RULES},
    {"calls", "fma(a, sqrt(x), -y)", ANY_RULES},
    {"nested brackets", "((a[(b)])[c])", ANY_RULES},
    {"conditional", "x > 0 ? x : -x", ANY_RULES},
    {"conditional without blanks", "x<0?-x:x", ANY_RULES},
    {"numbers", "1.5e+3f + .5f + 0x1p-3f + 10ul + 1.", ANY_RULES},
    {"a number that looks banned", "0x__ + 1get_x", ANY_RULES},
    {"vectors", "((float4)(x)).xyzw.x", ANY_RULES},
    {"operators", "a<<b>>c&d|e^~f%g/h-!i&&j||k", ANY_RULES},
    {"comparisons", "a<b == c>d != e<=f", ANY_RULES},
    {"percent", "a % b", ANY_RULES},
    {"less than a negative", "a<-b", ANY_RULES},
    {"lines", "a\n+ b\n\t+ c\r\n", ANY_RULES},
    {"words that contain banned words", "kernels + globalx + localize + a_barrier", ANY_RULES},
    {"words that contain banned prefixes", "target_x + s__x + my_get_x + ags_x", ANY_RULES},
    {"dollar and at signs are the compiler's to judge", "a$b + @", ANY_RULES},
    {"statements", "float t = x * x; y = t + 1", GSI_STATEMENTS},
    {"loop without braces", "for (int k = 0; k < 3; ++k) y += x;", GSI_STATEMENTS},
    {"only a semicolon", ";", GSI_STATEMENTS},
    {"function", "float f(float x) { return x; }", GSI_PREAMBLE},
    {"empty", "", GSI_PREAMBLE},
    {"blank", " \n", GSI_PREAMBLE},
    {"define", "#define TWICE(x) ((x) + (x))", GSI_PREAMBLE},
    {"define of two lines", "#define F(x) \\\n  (x)", GSI_PREAMBLE},
    {"line comment", "// a ) brace } and a 'quote\nint x;", GSI_PREAMBLE},
    {"line comment at the end", "int x; // (", GSI_PREAMBLE},
    {"block comment", "/* ] get_global_id \"\n } */ int x;", GSI_PREAMBLE},
    {"comment of stars", "/*****/ int x; /**/", GSI_PREAMBLE},
    {"comment marks in a comment", "/* // */ int x; // /*\nint y;", GSI_PREAMBLE},
    {"struct", "typedef struct { float a[3]; } t;", GSI_PREAMBLE},
    {"define that continues at a blank", "#define F(x)\\\n  (x)", GSI_PREAMBLE},
    {"define that continues behind a blank", "#define F(x) \\\n(x) \\ \n+ 1", GSI_PREAMBLE},
    {"unrolling", "#pragma unroll\n# pragma\tunroll 4", GSI_PREAMBLE},
    {"backslashes in comments", "/* \\ * \\ */ // \\param x\n", GSI_PREAMBLE},
    {"hash in a macro", "#define A #b", GSI_PREAMBLE},
    {"directives are names elsewhere", "include + pragma", GSI_STATEMENTS},
    {"some signs", "- - ! ~ - x + -1", ANY_RULES},
};

static void text_is_accepted(void **state)
{
    const struct good_row *row = *state;
    for (int rules = GSI_STATEMENTS; rules <= GSI_PREAMBLE; ++rules) {
        if (row->rules != ANY_RULES && row->rules != rules)
            continue;
        gstride_status status = gsi_check_text("text", row->text, (enum gsi_text_rules)rules);
        if (status != GSTRIDE_OK)
            fail_msg("rules %d: %s", rules, gstride_last_error()->message);
    }
}

struct bad_row {
    const char *name;
    const char *text;
    int rules;
    unsigned line, column;
    const char *says;
};

static const struct bad_row bad[] = {
    {"opening brace", "x = 1; {", GSI_STATEMENTS, 1, 8, "brace"},
    {"closing brace", "x = 1; }", GSI_STATEMENTS, 1, 8, "brace"},
    {"balanced braces", "if (x) { y = 1; }", GSI_STATEMENTS, 1, 8, "brace"},
    {"escape from the function", "0; } void f() {", GSI_STATEMENTS, 1, 4, "brace"},
    {"line comment", "x // y", GSI_STATEMENTS, 1, 3, "comment"},
    {"block comment", "x /* y */", GSI_VALUE, 1, 3, "comment"},
    {"block comment without an end", "x /* y", GSI_VALUE, 1, 3, "comment"},
    {"define", "x\n#define x y", GSI_STATEMENTS, 2, 1, "preprocessor"},
    {"hash in a line", "a # b", GSI_VALUE, 1, 3, "preprocessor"},
    {"backslash", "a \\ b", GSI_STATEMENTS, 1, 3, "backslash"},
    {"line splice", "a \\\n b", GSI_STATEMENTS, 1, 3, "backslash"},
    {"universal character name", "\\u0041", GSI_VALUE, 1, 1, "backslash"},
    {"trigraph",
     "a ?"
     "?> b",
     ANY_RULES, 1, 3, "trigraph"},
    {"trigraph of a backslash",
     "a ?"
     "?/ b",
     ANY_RULES, 1, 3, "trigraph"},
    {"digraph of an opening brace", "a <% b", ANY_RULES, 1, 3, "digraph"},
    {"digraph of a closing brace", "a = 1; %> b", GSI_STATEMENTS, 1, 8, "digraph"},
    {"digraph of a closing brace in a value", "a %> b", ANY_RULES, 1, 3, "digraph"},
    {"digraph of an opening bracket", "a <: b", ANY_RULES, 1, 3, "digraph"},
    {"digraph of a closing bracket", "a :> b", ANY_RULES, 1, 3, "digraph"},
    {"digraph of a hash", "\n%: define", ANY_RULES, 2, 1, "digraph"},
    {"string", "x + \"a\"", ANY_RULES, 1, 5, "literal"},
    {"character", "x + 'a'", ANY_RULES, 1, 5, "literal"},
    {"control character", "x +\x01", ANY_RULES, 1, 4, "ASCII"},
    {"delete", "x\x7f", ANY_RULES, 1, 2, "ASCII"},
    {"escape", "ab\x1b[2J", ANY_RULES, 1, 3, "ASCII"},
    {"UTF-8", "x +\n caf\xc3\xa9", ANY_RULES, 2, 5, "ASCII"},
    {"byte order mark", "\xef\xbb\xbfx", ANY_RULES, 1, 1, "ASCII"},
    {"no-break space", "a +\xc2\xa0 b", ANY_RULES, 1, 4, "ASCII"},
    {"not closed", "(a + b", ANY_RULES, 1, 7, "closed"},
    {"not closed, lines", "a[\n1\n", ANY_RULES, 3, 1, "closed"},
    {"closes nothing", "a + b)", ANY_RULES, 1, 6, "closes nothing"},
    {"closes the other kind", "(a[1)]", ANY_RULES, 1, 5, "closes nothing"},
    {"leaves its brackets", "a) + (b", ANY_RULES, 1, 2, "closes nothing"},
    {"preamble brace not closed", "void f(void) {", GSI_PREAMBLE, 1, 15, "closed"},
    {"preamble brace closes nothing", "}", GSI_PREAMBLE, 1, 1, "closes nothing"},
    {"preamble comment without an end", "int x;\n/* a", GSI_PREAMBLE, 2, 1, "comment"},
    {"preamble comment of one star", "/*/", GSI_PREAMBLE, 1, 1, "comment"},
    {"preamble define of a banned word", "#define ID get_global_id(0)", GSI_PREAMBLE, 1, 12,
     "get_global_id"},
    {"semicolon in a value", "0; evil()", GSI_VALUE, 1, 2, "semicolon"},
    {"semicolon at the end of a value", "0;", GSI_VALUE, 1, 2, "semicolon"},
    {"global id", "x + get_global_id(0)", ANY_RULES, 1, 5, "get_global_id"},
    {"group count", "x\n*\nget_num_groups(0)", ANY_RULES, 3, 1, "get_num_groups"},
    {"local size", "get_local_size(0)", ANY_RULES, 1, 1, "get_local_size"},
    {"barrier", "x; barrier(1)", GSI_STATEMENTS, 1, 4, "barrier"},
    {"fence", "mem_fence(1)", ANY_RULES, 1, 1, "mem_fence"},
    {"read fence", "read_mem_fence(1)", ANY_RULES, 1, 1, "read_mem_fence"},
    {"atomic", "atomic_inc(p)", ANY_RULES, 1, 1, "atomic_inc"},
    {"old atomic", "atom_add(p, 1)", ANY_RULES, 1, 1, "atom_add"},
    {"group function", "work_group_reduce_add(x)", ANY_RULES, 1, 1, "work_group"},
    {"sub-group function", "sub_group_any(x)", ANY_RULES, 1, 1, "sub_group"},
    {"async copy", "async_work_group_copy(a, b, 1, 0)", ANY_RULES, 1, 1, "async_work"},
    {"printf", "printf(x)", ANY_RULES, 1, 1, "printf"},
    {"asm", "asm(x)", ANY_RULES, 1, 1, "asm"},
    {"double underscore", "x + __asm__(y)", ANY_RULES, 1, 5, "__asm__"},
    {"address space", "(__global float *)x", ANY_RULES, 1, 2, "__global"},
    {"address space, short", "*(global int *)0", ANY_RULES, 1, 3, "global"},
    {"local", "local int x", ANY_RULES, 1, 1, "local"},
    {"goto", "goto x", ANY_RULES, 1, 1, "goto"},
    {"names of the library", "gs_n", ANY_RULES, 1, 1, "gs_n"},
    {"macros of the library", "a + GS_TILE", ANY_RULES, 1, 5, "GS_TILE"},
    {"tabs count once", "\t\tgs_n", ANY_RULES, 1, 3, "gs_n"},
    {"carriage returns do not count lines", "a\r\ngs_n", ANY_RULES, 2, 1, "gs_n"},
    {"behind a number", "1 gs_n", ANY_RULES, 1, 3, "gs_n"},
    {"behind a long number", "123456789.5e-3f+gs_n", ANY_RULES, 1, 17, "gs_n"},
    {"behind a comment of lines", "/* a\n b\n */ gs_n", GSI_PREAMBLE, 3, 5, "gs_n"},
    {"behind a line comment", "// a\ngs_n", GSI_PREAMBLE, 2, 1, "gs_n"},
    {"behind a line comment that a carriage return ends", "// a\rgs_n", GSI_PREAMBLE, 1, 6, "gs_n"},
    {"kernels of the library", "gstride_map(0)", ANY_RULES, 1, 1, "gstride_map"},
    {"joined words", "#define F(a, b) a##b", GSI_PREAMBLE, 1, 18, "joining"},
    {"splice in a word", "int x; g\\\net_x", GSI_PREAMBLE, 1, 9, "continues"},
    {"splice with blanks in a word", "g\\ \t\net_x", GSI_PREAMBLE, 1, 2, "continues"},
    {"splice with a return in a word", "g\\\r\net_x", GSI_PREAMBLE, 1, 2, "continues"},
    {"two splices in a word", "g\\\n\\\net_x", GSI_PREAMBLE, 1, 2, "continues"},
    {"splice in a comment mark", "/\\\n/ /*\nx\n// */", GSI_PREAMBLE, 1, 2, "continues"},
    {"splice in a joining", "#define F(a, b) a #\\\n# b", GSI_PREAMBLE, 1, 20, "continues"},
    {"splice in a line comment", "// a \\\n b", GSI_PREAMBLE, 1, 1, "comment"},
    {"trigraph in a line comment",
     "// a ?"
     "?/\n b",
     GSI_PREAMBLE, 1, 1, "comment"},
    {"splice in the end of a comment", "/* *\\\n/ x /* */", GSI_PREAMBLE, 1, 1, "comment"},
    {"trigraph in the end of a comment",
     "/* *?"
     "?/\n/ x /* */",
     GSI_PREAMBLE, 1, 1, "comment"},
    {"backslash in a preamble", "int x; \\u0041", GSI_PREAMBLE, 1, 8, "backslash"},
    {"include", "#include <x.h>", GSI_PREAMBLE, 1, 2, "include"},
    {"include behind a comment", "# /* */ include </*>", GSI_PREAMBLE, 1, 9, "include"},
    {"pragma", "#pragma OPENCL FP_CONTRACT ON", GSI_PREAMBLE, 1, 2, "pragma"},
    {"pragma that starts like unroll", "#pragma unrolling", GSI_PREAMBLE, 1, 2, "pragma"},
};

static void text_is_refused(void **state)
{
    const struct bad_row *row = *state;
    for (int rules = GSI_STATEMENTS; rules <= GSI_PREAMBLE; ++rules) {
        if (row->rules != ANY_RULES && row->rules != rules)
            continue;
        assert_int_equal(gsi_check_text("my text", row->text, (enum gsi_text_rules)rules),
                         GSTRIDE_ERROR_EXPRESSION);
        const gstride_error *error = gstride_last_error();
        print_message("rules %d: %s\n", rules, error->message);
        assert_int_equal(error->line, row->line);
        assert_int_equal(error->column, row->column);
        char position[64];
        snprintf(position, sizeof position, "line %u, column %u", row->line, row->column);
        assert_non_null(strstr(error->message, position));
        assert_non_null(strstr(error->message, row->says));
        assert_non_null(strstr(error->message, "my text"));
    }
}

static void empty_text_is_refused(void **state)
{
    (void)state;
    static const char *const blanks[] = {"", " ", "\n\n", "\t \r\n", "\f\v"};
    for (size_t i = 0; i < COUNT(blanks); ++i) {
        assert_int_equal(gsi_check_text("value", blanks[i], GSI_VALUE), GSTRIDE_ERROR_EXPRESSION);
        assert_non_null(strstr(gstride_last_error()->message, "empty"));
        assert_int_equal(gsi_check_text("value", blanks[i], GSI_STATEMENTS),
                         GSTRIDE_ERROR_EXPRESSION);
    }
}

static void null_is_refused(void **state)
{
    (void)state;
    assert_int_equal(gsi_check_text("value", NULL, GSI_VALUE), GSTRIDE_ERROR_ARGUMENT);
    assert_non_null(strstr(gstride_last_error()->message, "value"));
}

/* A text of `length` bytes: blanks, then "x". */
static char *long_text(size_t length)
{
    char *text = malloc(length + 1);
    assert_non_null(text);
    memset(text, ' ', length);
    text[length - 1] = 'x';
    text[length] = '\0';
    return text;
}

static void length_limits(void **state)
{
    (void)state;
    static const struct {
        enum gsi_text_rules rules;
        size_t most;
    } limits[] = {{GSI_STATEMENTS, GSTRIDE_MAX_EXPRESSION},
                  {GSI_VALUE, GSTRIDE_MAX_EXPRESSION},
                  {GSI_PREAMBLE, GSTRIDE_MAX_PREAMBLE}};
    for (size_t i = 0; i < COUNT(limits); ++i) {
        char *text = long_text(limits[i].most + 1);
        assert_int_equal(gsi_check_text("text", text, limits[i].rules), GSTRIDE_ERROR_EXPRESSION);
        assert_non_null(strstr(gstride_last_error()->message, "longer"));
        assert_int_equal(gsi_check_text("text", text + 1, limits[i].rules), GSTRIDE_OK);
        free(text);
        text = long_text(1 << 20);
        assert_int_equal(gsi_check_text("text", text, limits[i].rules), GSTRIDE_ERROR_EXPRESSION);
        free(text);
    }
}

static void nesting_limit(void **state)
{
    (void)state;
    enum { DEPTH = 5000, SOME = 60 };
    char text[2 * DEPTH + 2];
    memset(text, '(', DEPTH);
    memset(text + DEPTH, ')', DEPTH);
    text[2 * DEPTH] = '\0';
    assert_int_equal(gsi_check_text("text", text, GSI_VALUE), GSTRIDE_ERROR_EXPRESSION);
    assert_int_equal(gstride_last_error()->line, 1);
    assert_in_range(gstride_last_error()->column, SOME, DEPTH);
    text[DEPTH + SOME] = '\0';
    assert_int_equal(gsi_check_text("text", text + DEPTH - SOME, GSI_VALUE), GSTRIDE_OK);
}

/* Compilers nest for every sign of "- - - x", and end the process when their stack does. */
static void signs_in_a_row(void **state)
{
    (void)state;
    enum { SIGNS = 5000, SOME = 60 };
    static const char signs[] = "~!+-*&";
    for (const char *sign = signs; *sign; ++sign) {
        char text[2 * SIGNS + 2];
        for (size_t k = 0; k < SIGNS; ++k)
            memcpy(text + 2 * k, (const char[]){*sign, ' '}, 2);
        memcpy(text + 2 * SIGNS, "x", 2);
        assert_int_equal(gsi_check_text("text", text, GSI_VALUE), GSTRIDE_ERROR_EXPRESSION);
        assert_non_null(strstr(gstride_last_error()->message, "nesting"));
        assert_int_equal(gsi_check_text("text", text + 2 * (SIGNS - SOME), GSI_VALUE), GSTRIDE_OK);
    }
}

static void long_words_are_shown_cut(void **state)
{
    (void)state;
    char word[1001] = "get_";
    for (size_t length = 4; length < sizeof word; ++length) {
        memset(word + 4, 'x', length - 4);
        word[length] = '\0';
        assert_int_equal(gsi_check_text("text", word, GSI_VALUE), GSTRIDE_ERROR_EXPRESSION);
        assert_non_null(strstr(gstride_last_error()->message, "\"get_"));
        assert_true(strlen(gstride_last_error()->message) < 256);
    }
}

static void every_byte_is_judged(void **state)
{
    (void)state;
    for (int byte = 1; byte < 256; ++byte) {
        char text[] = {'a', (char)byte, 'b', '\0'};
        for (int rules = GSI_STATEMENTS; rules <= GSI_PREAMBLE; ++rules) {
            gstride_status status = gsi_check_text("text", text, (enum gsi_text_rules)rules);
            bool printable = (byte >= 0x20 && byte < 0x7f) || (byte >= '\t' && byte <= '\r');
            if (!printable)
                assert_int_equal(status, GSTRIDE_ERROR_EXPRESSION);
            else
                assert_true(status == GSTRIDE_OK || status == GSTRIDE_ERROR_EXPRESSION);
        }
    }
}

struct name_row {
    const char *name;
    bool allowed;
};

static const struct name_row names[] = {
    {"x", true},
    {"X", true},
    {"_", true},
    {"_x1", true},
    {"alpha_2", true},
    {"ii", true},
    {"I", true},
    {"kernels", true},
    {"globally", true},
    {"tile", true},
    {"j", true},
    {"x123456789012345678901234567890123456789012345678901234567890123", true},
    {"x1234567890123456789012345678901234567890123456789012345678901234", false},
    {"", false},
    {" ", false},
    {" x", false},
    {"x ", false},
    {"1x", false},
    {"x-y", false},
    {"x.y", false},
    {"x y", false},
    {"x,float y", false},
    {"x)", false},
    {"*x", false},
    {"x\n", false},
    {"x$", false},
    {"\xc3\xa9", false},
    {"x\xc3\xa9", false},
    {"i", false},
    {"float", false},
    {"int", false},
    {"unsigned", false},
    {"return", false},
    {"while", false},
    {"sizeof", false},
    {"half", false},
    {"double", false},
    {"constant", false},
    {"private", false},
    {"kernel", false},
    {"global", false},
    {"local", false},
    {"goto", false},
    {"asm", false},
    {"barrier", false},
    {"__x", false},
    {"__global", false},
    {"gs_x", false},
    {"gs_", false},
    {"GS_TILE", false},
    {"gsi_x", false},
    {"get_global_id", false},
    {"atomic_x", false},
    {"printf", false},
};

static void name_is_judged(void **state)
{
    const struct name_row *row = *state;
    gstride_status status = gsi_check_name(row->name);
    assert_int_equal(status, row->allowed ? GSTRIDE_OK : GSTRIDE_ERROR_ARGUMENT);
    if (!row->allowed) {
        char start[9];
        snprintf(start, sizeof start, "%s", row->name);
        assert_non_null(strstr(gstride_last_error()->message, start));
    }
}

static void null_and_huge_names_are_refused(void **state)
{
    (void)state;
    assert_int_equal(gsi_check_name(NULL), GSTRIDE_ERROR_ARGUMENT);
    char *name = long_text(1 << 20);
    memset(name, 'x', 1 << 20);
    assert_int_equal(gsi_check_name(name), GSTRIDE_ERROR_ARGUMENT);
    assert_true(strlen(gstride_last_error()->message) < 256);
    memset(name, '1', 1 << 20);
    assert_int_equal(gsi_check_name(name), GSTRIDE_ERROR_ARGUMENT);
    assert_non_null(strstr(gstride_last_error()->message, "identifier"));
    free(name);
}

int main(void)
{
    static struct suite suite;
    ADD_TABLE(&suite, text_is_accepted, good);
    ADD_TABLE(&suite, text_is_refused, bad);
    ADD_TABLE(&suite, name_is_judged, names);
    ADD_TEST(&suite, empty_text_is_refused);
    ADD_TEST(&suite, null_is_refused);
    ADD_TEST(&suite, length_limits);
    ADD_TEST(&suite, nesting_limit);
    ADD_TEST(&suite, signs_in_a_row);
    ADD_TEST(&suite, long_words_are_shown_cut);
    ADD_TEST(&suite, every_byte_is_judged);
    ADD_TEST(&suite, null_and_huge_names_are_refused);
    return RUN_SUITE(suite);
}
