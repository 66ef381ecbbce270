#include "service/formats/xml.h"

#include <ctype.h>
#include <expat.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64, PIECE = 1 << 20 };

struct reader {
    XML_Parser parser;
    const char *path;
    struct arena *arena;
    struct err *e;
    struct xml *open[MAX_DEPTH + 1], *root;
    int depth, failed;
    char *text; /* characters since the last tag */
    int64_t ntext, room;
};

static void stop(struct reader *r, const char *what)
{
    if (!r->failed)
        fail(r->e, E_INPUT, "%.120s:%llu: %s", r->path, (unsigned long long)XML_GetCurrentLineNumber(r->parser), what);
    r->failed = 1;
    XML_StopParser(r->parser, XML_FALSE);
}

static void oom(struct reader *r)
{
    if (!r->failed)
        fail(r->e, E_MEMORY, "%.120s: the document takes too much memory", r->path);
    r->failed = 1;
    XML_StopParser(r->parser, XML_FALSE);
}

static const char *local(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

static const char *copy(struct reader *r, const char *text, size_t n)
{
    char *out = arena_take(r->arena, (int64_t)n + 1, 1);
    if (out)
        memcpy(out, text, n);
    else
        oom(r);
    return out;
}

static int copy_attributes(struct reader *r, struct xml *x, const char **attribute)
{
    int n = 0;
    while (attribute[n])
        n++;
    x->attribute = arena_take(r->arena, n + 1, sizeof *x->attribute);
    if (!x->attribute)
        oom(r);
    for (int i = 0; i < n && !r->failed; i++) {
        const char *text = i % 2 == 0 ? local(attribute[i]) : attribute[i];
        x->attribute[i] = copy(r, text, strlen(text));
    }
    return r->failed ? -1 : 0;
}

static void XMLCALL start(void *context, const char *name, const char **attribute)
{
    struct reader *r = context;
    if (r->failed)
        return;
    if (r->depth == MAX_DEPTH) {
        stop(r, "more than 64 levels of elements");
        return;
    }
    struct xml *x = arena_take(r->arena, 1, sizeof *x);
    if (!x) {
        oom(r);
        return;
    }
    x->text = "";
    x->line = (int64_t)XML_GetCurrentLineNumber(r->parser);
    x->name = copy(r, local(name), strlen(local(name)));
    if (!x->name || copy_attributes(r, x, attribute) < 0)
        return;
    struct xml *parent = r->depth > 0 ? r->open[r->depth - 1] : NULL;
    if (!parent)
        r->root = x;
    else if (parent->last)
        parent->last->next = x;
    else
        parent->first = x;
    if (parent)
        parent->last = x;
    r->open[r->depth++] = x;
    r->ntext = 0;
}

static void XMLCALL end(void *context, const char *name)
{
    struct reader *r = context;
    (void)name;
    if (r->failed)
        return;
    struct xml *x = r->open[--r->depth];
    int64_t from = 0, to = r->ntext;
    while (from < to && isspace((unsigned char)r->text[from]))
        from++;
    while (to > from && isspace((unsigned char)r->text[to - 1]))
        to--;
    if (!x->first && to > from)
        x->text = copy(r, r->text + from, (size_t)(to - from));
    r->ntext = 0;
}

static void XMLCALL characters(void *context, const char *text, int n)
{
    struct reader *r = context;
    void *grown = r->text;
    if (r->failed)
        return;
    if (array_grow(&grown, &r->room, r->ntext + n, 1) < 0) {
        oom(r);
        return;
    }
    r->text = grown;
    memcpy(r->text + r->ntext, text, (size_t)n);
    r->ntext += n;
}

static void XMLCALL document_type(void *context, const char *name, const char *system, const char *public, int internal)
{
    (void)name;
    (void)system;
    (void)public;
    (void)internal;
    stop(context, "document types (<!DOCTYPE) are not read");
}

static int parse(struct reader *r, const char *text, int64_t n)
{
    for (int64_t at = 0; at < n || n == 0;) {
        int piece = n - at < PIECE ? (int)(n - at) : PIECE, last = at + piece == n;
        if (XML_Parse(r->parser, text + at, piece, last) == XML_STATUS_ERROR) {
            enum XML_Error code = XML_GetErrorCode(r->parser);
            if (code == XML_ERROR_NO_MEMORY)
                oom(r);
            else
                stop(r, XML_ErrorString(code));
            return -1;
        }
        at += piece;
        if (last)
            break;
    }
    return r->failed ? -1 : 0;
}

int xml_read(const char *path, const char *text, int64_t n, struct arena *a, struct xml **root, struct err *e)
{
    struct reader r = { .parser = XML_ParserCreate(NULL), .path = path, .arena = a, .e = e };
    if (!r.parser)
        return fail(e, E_MEMORY, "%.120s: the document takes too much memory", path);
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, start, end);
    XML_SetCharacterDataHandler(r.parser, characters);
    XML_SetStartDoctypeDeclHandler(r.parser, document_type);
    int rc = parse(&r, text, n);
    XML_ParserFree(r.parser);
    free(r.text);
    if (rc == 0)
        *root = r.root;
    return rc;
}

const char *xml_attribute(const struct xml *x, const char *name)
{
    for (const char **a = x->attribute; *a; a += 2)
        if (!strcmp(*a, name))
            return a[1];
    return NULL;
}

struct xml *xml_child(const struct xml *x, const char *name)
{
    for (struct xml *c = x->first; c; c = c->next)
        if (!strcmp(c->name, name))
            return c;
    return NULL;
}

const char *xml_child_text(const struct xml *x, const char *name)
{
    const struct xml *c = xml_child(x, name);
    return c && *c->text ? c->text : NULL;
}
