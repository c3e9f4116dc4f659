import { randomUUID } from 'node:crypto';

/** Randomness as a dependency, so that a test can name what was drawn. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** A version 4 UUID. */
  uuid(): string;
}

/** The machine's randomness. */
export const systemRandom: Random = { next: () => Math.random(), uuid: () => randomUUID() };

/** Kubernetes' alphabet for generated names: no vowels and no look-alikes, so no words and no misreadings. */
const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** `length` characters that are safe in an object name (k8s.io/apimachinery util/rand.String). */
export function randomName(random: Random, length: number): string {
  let name = '';
  for (let i = 0; i < length; i++) name += nameAlphabet[Math.floor(random.next() * nameAlphabet.length)];
  return name;
}
