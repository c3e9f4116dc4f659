/** Which mutants are taken where there is no time for all of them. */
import { createHash } from 'node:crypto';
import type { Mutant } from './mutants.ts';

/**
 * At most so many, in their order. Each is drawn by itself, so a change elsewhere in the file leaves most of the sample as it
 * was; the same seed draws the same ones.
 */
export function sampleOf(mutants: readonly Mutant[], size: number, seed: string): readonly Mutant[] {
  if (mutants.length <= size) return mutants;
  const lot = ({ change }: Mutant) => createHash('sha256').update(`${seed} ${change}`).digest('hex');
  const drawn = new Set(mutants.toSorted((one, other) => (lot(one) < lot(other) ? -1 : 1)).slice(0, size));
  return mutants.filter((mutant) => drawn.has(mutant));
}
