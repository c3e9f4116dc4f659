/** Digests for States.Hash and $hash. */
import { createHash } from 'node:crypto';

const algorithms: Readonly<Record<string, string>> = {
  MD5: 'md5',
  'SHA-1': 'sha1',
  'SHA-256': 'sha256',
  'SHA-384': 'sha384',
  'SHA-512': 'sha512',
};

export const hashNames = Object.keys(algorithms);

/** Returns the digest in hexadecimal, or undefined for an algorithm that is not one of `hashNames`. */
export function hashOf(data: string, algorithm: string): string | undefined {
  const known = Object.hasOwn(algorithms, algorithm) ? algorithms[algorithm] : undefined;
  return known && createHash(known).update(data).digest('hex');
}
