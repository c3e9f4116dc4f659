/*
 * Replaces the one function that Node's binary takes from libatomic.so.1 (config/build/without-libatomic.ts): gcc's
 * https://gcc.gnu.org/wiki/Atomic/GCCMM/LIbrary, the generic __atomic_compare_exchange. Covers the sizes of which every x86-64
 * processor compares and exchanges a value in one instruction, aligned or not; Node calls it for 8 bytes alone. A larger
 * value would need locks that loads and stores of it take as well: libatomic.so.1 has them, so the program ends here.
 * Has to compile to one section without relocations and without writable data.
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
