/**
 * Returns the sizes of the batches in which `count` pods are created: 1, 2, 4, …, so that a failing start is
 * cheap. Pure.
 */
export function slowStartBatches(count: number): number[] {
  const sizes: number[] = [];
  for (let size = 1, left = count; left > 0; size *= 2) {
    sizes.push(Math.min(size, left));
    left -= size;
  }
  return sizes;
}
