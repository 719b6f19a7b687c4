/* Completes a receipt whose posture part was read while the program ran. */
#ifndef FH_RUN_RECEIPT_H
#define FH_RUN_RECEIPT_H

#include "run/internal.h"

void fh_receipt_fill(struct fh_run *run, struct fh_receipt *ret);

#endif
