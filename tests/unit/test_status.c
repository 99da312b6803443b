/* SPDX-License-Identifier: MIT */
/* Statuses, OpenCL codes and the error record of each host thread. */
#include "rows.h"

#include "base/error.h"
#include "base/types.h"
#include "device/cl.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct status_row {
    const char *name;
    int value;
    const char *text;
};

static const struct status_row statuses[] = {
#define STATUS_ROW(name, value, text) {"GSTRIDE_" #name, value, text},
    GSTRIDE_STATUS_LIST(STATUS_ROW)
#undef STATUS_ROW
};

static void status_has_name_and_text(void **state)
{
    const struct status_row *row = *state;
    gstride_status status = (gstride_status)row->value;
    assert_string_equal(gstride_status_name(status), row->name);
    assert_string_equal(gstride_status_text(status), row->text);
    assert_true(strlen(row->text) > 0);
    assert_null(strchr(row->text, '\n'));
}

static void statuses_differ_and_failures_are_negative(void **state)
{
    (void)state;
    assert_int_equal(GSTRIDE_OK, 0);
    for (size_t i = 0; i < COUNT(statuses); ++i) {
        assert_true(statuses[i].value < 0 || strcmp(statuses[i].name, "GSTRIDE_OK") == 0);
        for (size_t k = 0; k < i; ++k) {
            assert_int_not_equal(statuses[i].value, statuses[k].value);
            assert_string_not_equal(statuses[i].text, statuses[k].text);
        }
    }
}

static void foreign_numbers_are_unknown(void **state)
{
    (void)state;
    const int foreign[] = {1, -9, -1000, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < COUNT(foreign); ++i) {
        assert_string_equal(gstride_status_name((gstride_status)foreign[i]), "GSTRIDE_UNKNOWN");
        assert_true(strlen(gstride_status_text((gstride_status)foreign[i])) > 0);
    }
}

struct code_row {
    const char *name;
    int code;
    gstride_status status; /* what a call that fails with it returns */
};

#define CODE(name)                                                                                 \
    {                                                                                              \
#name, name, GSTRIDE_ERROR_OPENCL                                                          \
    }
#define CODE_AS(name, status)                                                                      \
    {                                                                                              \
#name, name, status                                                                        \
    }

static const struct code_row codes[] = {
    CODE(CL_DEVICE_NOT_FOUND),
    CODE(CL_DEVICE_NOT_AVAILABLE),
    CODE(CL_COMPILER_NOT_AVAILABLE),
    CODE_AS(CL_MEM_OBJECT_ALLOCATION_FAILURE, GSTRIDE_ERROR_OUT_OF_DEVICE_MEMORY),
    CODE_AS(CL_OUT_OF_RESOURCES, GSTRIDE_ERROR_OUT_OF_DEVICE_MEMORY),
    CODE_AS(CL_OUT_OF_HOST_MEMORY, GSTRIDE_ERROR_OUT_OF_HOST_MEMORY),
    CODE(CL_PROFILING_INFO_NOT_AVAILABLE),
    CODE(CL_MEM_COPY_OVERLAP),
    CODE(CL_IMAGE_FORMAT_MISMATCH),
    CODE(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    CODE(CL_BUILD_PROGRAM_FAILURE),
    CODE(CL_MAP_FAILURE),
    CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    CODE(CL_COMPILE_PROGRAM_FAILURE),
    CODE(CL_LINKER_NOT_AVAILABLE),
    CODE(CL_LINK_PROGRAM_FAILURE),
    CODE(CL_DEVICE_PARTITION_FAILED),
    CODE(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    CODE(CL_INVALID_VALUE),
    CODE(CL_INVALID_DEVICE_TYPE),
    CODE(CL_INVALID_PLATFORM),
    CODE(CL_INVALID_DEVICE),
    CODE(CL_INVALID_CONTEXT),
    CODE(CL_INVALID_QUEUE_PROPERTIES),
    CODE_AS(CL_INVALID_COMMAND_QUEUE, GSTRIDE_ERROR_DEVICE_LOST),
    CODE(CL_INVALID_HOST_PTR),
    CODE(CL_INVALID_MEM_OBJECT),
    CODE(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
    CODE(CL_INVALID_IMAGE_SIZE),
    CODE(CL_INVALID_SAMPLER),
    CODE(CL_INVALID_BINARY),
    CODE(CL_INVALID_BUILD_OPTIONS),
    CODE(CL_INVALID_PROGRAM),
    CODE(CL_INVALID_PROGRAM_EXECUTABLE),
    CODE(CL_INVALID_KERNEL_NAME),
    CODE(CL_INVALID_KERNEL_DEFINITION),
    CODE(CL_INVALID_KERNEL),
    CODE(CL_INVALID_ARG_INDEX),
    CODE(CL_INVALID_ARG_VALUE),
    CODE(CL_INVALID_ARG_SIZE),
    CODE(CL_INVALID_KERNEL_ARGS),
    CODE(CL_INVALID_WORK_DIMENSION),
    CODE(CL_INVALID_WORK_GROUP_SIZE),
    CODE(CL_INVALID_WORK_ITEM_SIZE),
    CODE(CL_INVALID_GLOBAL_OFFSET),
    CODE(CL_INVALID_EVENT_WAIT_LIST),
    CODE(CL_INVALID_EVENT),
    CODE(CL_INVALID_OPERATION),
    CODE(CL_INVALID_GL_OBJECT),
    CODE_AS(CL_INVALID_BUFFER_SIZE, GSTRIDE_ERROR_OUT_OF_DEVICE_MEMORY),
    CODE(CL_INVALID_MIP_LEVEL),
    CODE(CL_INVALID_GLOBAL_WORK_SIZE),
    CODE(CL_INVALID_PROPERTY),
    CODE(CL_INVALID_IMAGE_DESCRIPTOR),
    CODE(CL_INVALID_COMPILER_OPTIONS),
    CODE(CL_INVALID_LINKER_OPTIONS),
    CODE(CL_INVALID_DEVICE_PARTITION_COUNT),
    {"CL_PLATFORM_NOT_FOUND_KHR", -1001, GSTRIDE_ERROR_OPENCL},
    {"CL_NVIDIA_ILLEGAL_BUFFER_ACCESS", -9999, GSTRIDE_ERROR_DEVICE_LOST},
    {"CL_?", -12345, GSTRIDE_ERROR_OPENCL},
};

static void code_has_name_and_status(void **state)
{
    const struct code_row *row = *state;
    assert_string_equal(gsi_cl_code_name(row->code), row->name);
    assert_int_equal(gsi_fail_cl(row->code, "clFinish", "on %s", "nothing"), row->status);
    const gstride_error *error = gstride_last_error();
    assert_int_equal(error->status, row->status);
    assert_int_equal(error->cl_code, row->code);
    assert_string_equal(error->cl_name, row->name);
    assert_non_null(strstr(error->message, "clFinish"));
    assert_non_null(strstr(error->message, row->name));
    assert_non_null(strstr(error->message, "on nothing"));
}

static void success_has_no_code_name(void **state)
{
    (void)state;
    assert_string_equal(gsi_cl_code_name(0), "");
}

static void failure_replaces_the_whole_record(void **state)
{
    (void)state;
    gsi_fail(GSTRIDE_ERROR_EXPRESSION, "first %d", 1);
    gsi_error_set_log("a log", 3, 4);
    const gstride_error *error = gstride_last_error();
    assert_int_equal(error->line, 3);
    assert_int_equal(error->column, 4);
    assert_string_equal(error->build_log, "a log");
    assert_int_equal(gsi_fail_cl(CL_INVALID_VALUE, "clFlush", "second"), GSTRIDE_ERROR_OPENCL);
    error = gstride_last_error();
    assert_string_equal(error->message, "clFlush failed with CL_INVALID_VALUE (-30): second");
    assert_string_equal(error->build_log, "");
    assert_int_equal(error->line, 0);
    assert_int_equal(error->column, 0);
    assert_int_equal(gsi_fail(GSTRIDE_ERROR_SPAN, "third"), GSTRIDE_ERROR_SPAN);
    error = gstride_last_error();
    assert_int_equal(error->cl_code, 0);
    assert_string_equal(error->cl_name, "");
}

static void success_keeps_the_record(void **state)
{
    (void)state;
    gstride_type type;
    assert_int_equal(gstride_type_from_name("f99", &type), GSTRIDE_ERROR_ARGUMENT);
    assert_int_equal(gstride_type_from_name("f32", &type), GSTRIDE_OK);
    assert_int_equal(gstride_last_error()->status, GSTRIDE_ERROR_ARGUMENT);
    assert_non_null(strstr(gstride_last_error()->message, "f99"));
}

static void long_messages_are_cut(void **state)
{
    (void)state;
    enum { BYTES = 1 << 20 };
    char *text = malloc(BYTES + 1);
    assert_non_null(text);
    memset(text, 'x', BYTES);
    text[BYTES] = '\0';
    gsi_fail(GSTRIDE_ERROR_BUILD, "%s", text);
    gsi_error_set_log(text, 1, 1);
    assert_in_range(strlen(gstride_last_error()->message), 256, BYTES - 1);
    assert_in_range(strlen(gstride_last_error()->build_log), 256, BYTES - 1);
    free(text);
}

/* Two host threads take turns, so that each could see the other's record if it were shared. */
struct turns {
    pthread_barrier_t barrier;
    bool first_was_empty[2];
    bool kept[2];
};

struct player {
    struct turns *turns;
    int number;
};

static void *play(void *data)
{
    struct player *player = data;
    struct turns *turns = player->turns;
    int me = player->number;
    const gstride_error *error = gstride_last_error();
    turns->first_was_empty[me] = error->status == GSTRIDE_OK && error->message[0] == '\0' &&
                                 error->build_log[0] == '\0' && error->cl_name[0] == '\0';
    char expected[32];
    snprintf(expected, sizeof expected, "player %d", me);
    pthread_barrier_wait(&turns->barrier);
    if (me == 0)
        gsi_fail(GSTRIDE_ERROR_SPAN, "%s", expected);
    pthread_barrier_wait(&turns->barrier);
    if (me == 1)
        gsi_fail(GSTRIDE_ERROR_TYPE, "%s", expected);
    pthread_barrier_wait(&turns->barrier);
    error = gstride_last_error();
    turns->kept[me] = strcmp(error->message, expected) == 0 &&
                      error->status == (me ? GSTRIDE_ERROR_TYPE : GSTRIDE_ERROR_SPAN);
    return NULL;
}

static void host_threads_have_records_of_their_own(void **state)
{
    (void)state;
    struct turns turns = {0};
    struct player players[2] = {{&turns, 0}, {&turns, 1}};
    pthread_t threads[2];
    gsi_fail(GSTRIDE_ERROR_IO, "the main one");
    assert_int_equal(pthread_barrier_init(&turns.barrier, NULL, 2), 0);
    for (int i = 0; i < 2; ++i)
        assert_int_equal(pthread_create(&threads[i], NULL, play, &players[i]), 0);
    for (int i = 0; i < 2; ++i)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&turns.barrier);
    for (int i = 0; i < 2; ++i) {
        assert_true(turns.first_was_empty[i]);
        assert_true(turns.kept[i]);
    }
    assert_string_equal(gstride_last_error()->message, "the main one");
}

int main(void)
{
    static struct suite suite;
    ADD_TABLE(&suite, status_has_name_and_text, statuses);
    ADD_TABLE(&suite, code_has_name_and_status, codes);
    ADD_TEST(&suite, statuses_differ_and_failures_are_negative);
    ADD_TEST(&suite, foreign_numbers_are_unknown);
    ADD_TEST(&suite, success_has_no_code_name);
    ADD_TEST(&suite, failure_replaces_the_whole_record);
    ADD_TEST(&suite, success_keeps_the_record);
    ADD_TEST(&suite, long_messages_are_cut);
    ADD_TEST(&suite, host_threads_have_records_of_their_own);
    return RUN_SUITE(suite);
}
