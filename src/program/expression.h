/* SPDX-License-Identifier: MIT */
/* expression.h - what a caller's text may contain before a compiler sees it. */
#ifndef GSI_EXPRESSION_H
#define GSI_EXPRESSION_H

#include "base/error.h"

#include <stdbool.h>

enum gsi_text_rules {
    GSI_STATEMENTS, /* an expression of map: several statements allowed */
    GSI_VALUE,      /* one value: no ";" either */
    GSI_PREAMBLE    /* helper functions: braces, comments and defines allowed */
};

/* Check a text. `what` names it in messages ("expression", "identity", ...).
 * \return GSTRIDE_OK or GSTRIDE_ERROR_EXPRESSION with line and column. */
gstride_status gsi_check_text(const char *what, const char *text, enum gsi_text_rules rules);

/* Check the name of an operand. \return GSTRIDE_OK or GSTRIDE_ERROR_ARGUMENT. */
gstride_status gsi_check_name(const char *name);

#endif
