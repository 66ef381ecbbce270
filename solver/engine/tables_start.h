/* The edge-colouring start for forwarding trees: the pinned engine's colouring gives large flows ways of their own;
 * those that are legal are taken over.
 */
#ifndef HEDDLE_TABLES_START_H
#define HEDDLE_TABLES_START_H

#include "solver/engine/trees.h"

struct starter;

/* *out = NULL, with 0 returned, where the fabric has no such structure. p must outlive it. */
int starter_new(const struct problem *p, struct starter **out, struct err *e);
void starter_free(struct starter *s);

/* Lets go of everything in t, then places the units whose flows get a legal way; p and q by flow as in trees_target. */
void starter_place(struct starter *s, struct trees *t, const double *p, const double *q);

#endif
