/** Sample of mutants for a run without time for all of them. */
import { createHash } from 'node:crypto';
import type { Mutant } from './mutants.ts';

/**
 * Returns at most `size` mutants, in their order. Each is drawn independently, so that a change elsewhere in
 * the file keeps most of the sample; the same seed draws the same ones.
 */
export function sampleOf(mutants: readonly Mutant[], size: number, seed: string): readonly Mutant[] {
  if (mutants.length <= size) return mutants;
  const lot = ({ change }: Mutant) => createHash('sha256').update(`${seed} ${change}`).digest('hex');
  const drawn = new Set(mutants.toSorted((one, other) => (lot(one) < lot(other) ? -1 : 1)).slice(0, size));
  return mutants.filter((mutant) => drawn.has(mutant));
}
