import { randomUUID } from 'node:crypto';

/** Randomness as a dependency, so that a test can choose the results. */
export interface Random {
  /** Returns a number uniformly distributed in [0, 1). */
  next(): number;
  /** Returns a version 4 UUID. */
  uuid(): string;
}

/** The machine's randomness. */
export const systemRandom: Random = { next: () => Math.random(), uuid: () => randomUUID() };

/**
 * Kubernetes' alphabet for generated names: without vowels and similar characters, so that names are not
 * words and are not misread.
 */
const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** Returns `length` characters that are safe in an object name (k8s.io/apimachinery util/rand.String). */
export function randomName(random: Random, length: number): string {
  let name = '';
  for (let i = 0; i < length; i++) name += nameAlphabet[Math.floor(random.next() * nameAlphabet.length)];
  return name;
}
