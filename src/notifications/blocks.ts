/** Sequences in a block of `inbox_blocks`: small enough to walk through one, large enough that a million are few. */
export const blockSize = 1024;
