/* Reading one text with one of the formats, as heddle import would. */
#ifndef HEDDLE_TESTS_FORMATS_READ_H
#define HEDDLE_TESTS_FORMATS_READ_H

#include "check.h"
#include "service/formats/formats.h"

static struct format_report report;
static struct err error;

static inline struct fabric *read_files(const char *format, const struct format_file *file, int32_t n, const char *gbps,
                                        const char *hosts)
{
    struct fabric *f = NULL;
    struct overlay overlay = { 0 };
    struct format_input in = { .file = file, .nfile = n, .overlay = &overlay, .report = &report };
    memset(&report, 0, sizeof report);
    memset(&error, 0, sizeof error);
    const struct format *row = format_find(format, &error);
    CHECK(row, "%s", error.text);
    CHECK(!gbps || overlay_gbps(&overlay, gbps, &error) == 0, "%s", error.text);
    CHECK(!hosts || overlay_hosts(&overlay, hosts, &error) == 0, "%s", error.text);
    int rc = format_read(row, &in, &f, &error);
    CHECK((rc == 0) == (f != NULL));
    CHECK(rc == 0 || error.code != E_NONE);
    return f;
}

static inline struct fabric *read_bytes(const char *format, const char *path, const char *data, int64_t n,
                                        const char *gbps, const char *hosts)
{
    return read_files(format, &(struct format_file){ path, data, n }, 1, gbps, hosts);
}

static inline int64_t noted(const char *what)
{
    for (int32_t i = 0; i < report.nnote; i++)
        if (strstr(report.note[i].what, what))
            return report.note[i].count;
    return 0;
}

static inline int32_t nics(const struct fabric *f)
{
    int32_t n = 0;
    for (int32_t v = 0; v < f->nnode; v++)
        n += f->node_kind[v] == NODE_NIC;
    return n;
}

/* What every fabric from a reader must be. */
static inline void check_fabric(const struct fabric *f)
{
    CHECK(f->tail && f->nnode > 0);
    for (int32_t v = 0; v < f->nnode; v++) {
        CHECK(f->node_name[v] && f->node_name[v][0] && strlen(f->node_name[v]) <= 200);
        CHECK(f->host.of[v] < f->host.count && f->node_kind[v] <= NODE_NIC);
        CHECK(f->node_kind[v] == NODE_SWITCH || f->node_tier[v] == 0, "NIC %s: tier %d", f->node_name[v],
              f->node_tier[v]);
    }
    for (int32_t i = 0; i < f->nlink; i++)
        CHECK(f->link_gbps[i] > 0 && f->link_gbps[i] < 1e300 && f->link_from[i] != f->link_to[i]);
}

#endif
