/** Short hashes of contents for use in names. Pure and stable: an object must be found again by its hash. */

/**
 * Kubernetes' alphabet for generated names; the digits of a hash are mapped to it so that they form no words.
 */
const safeAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** Returns the 32-bit FNV-1a hash of the text in UTF-8. */
export function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** Returns at most ten characters that are valid in a name and in a label. */
export const safeHash = (text: string): string =>
  [...String(fnv32a(text))]
    .map((digit) => safeAlphabet.charAt(digit.charCodeAt(0) % safeAlphabet.length))
    .join('');
