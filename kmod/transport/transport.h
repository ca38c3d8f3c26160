/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The IBA transport, seen from outside (verbs/ and main.c).  It knows no link:
 * it builds bursts and is handed packets.
 */
#ifndef _SHCA_TRANSPORT_H
#define _SHCA_TRANSPORT_H

#include "../link/link.h"

struct shca_qp;

int shca_transport_attach(struct shca_qp *qp);
void shca_transport_open(struct shca_qp *qp);
void shca_transport_flush_sq(struct shca_qp *qp);
void shca_transport_close(struct shca_qp *qp);
void shca_transport_detach(struct shca_qp *qp);

shca_receive_fn shca_transport_receive;

#endif /* _SHCA_TRANSPORT_H */
