/** Returns -1, 0 or 1; texts are compared by their UTF-16 units, numbers by value. */
export function orderOf<T extends string | number>(a: T, b: T): -1 | 0 | 1 {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
