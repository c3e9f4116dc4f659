/** Short texts for contents, to be part of names. Pure and stable: what has its name must find it again. */

/** Kubernetes' alphabet for generated names; a hash's digits are mapped into it so that they form no words. */
const safeAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** FNV-1a, 32 bits, over UTF-8. */
export function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** At most ten characters that may stand in a name and in a label. */
export const safeHash = (text: string): string =>
  [...String(fnv32a(text))]
    .map((digit) => safeAlphabet.charAt(digit.charCodeAt(0) % safeAlphabet.length))
    .join('');
