/*
 * Replaces the one function that Node's binary uses of libatomic.so.1 (config/build/without-libatomic.ts):
 * gcc's https://gcc.gnu.org/wiki/Atomic/GCCMM/LIbrary, the generic __atomic_compare_exchange. It supports the
 * sizes that every x86-64 processor compares and exchanges in one instruction, aligned or not, and every arm64
 * processor if they are aligned. Node calls it for 8 aligned bytes only: it loads them in one instruction. A
 * larger value would need locks that its loads and stores take as well; only libatomic.so.1 has these locks,
 * so the program ends here. Must compile to one section without relocations and without writable data.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXCHANGE(type)                                                                              \
  do {                                                                                              \
    type found = __sync_val_compare_and_swap((volatile type *)object, *(type *)expected, *(type *)desired); \
    bool same = found == *(type *)expected;                                                         \
    if (!same) *(type *)expected = found;                                                           \
    return same;                                                                                    \
  } while (0)

bool compare_exchange(size_t size, void *object, void *expected, void *desired, int success, int failure) {
  (void)success;
  (void)failure;
  if (size == 8) EXCHANGE(uint64_t);
  if (size == 4) EXCHANGE(uint32_t);
  if (size == 2) EXCHANGE(uint16_t);
  if (size == 1) EXCHANGE(uint8_t);
  __builtin_trap();
}
