/** Sealed texts: encrypted and authenticated with AES-256-GCM, in base64url. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** A text that was sealed for one purpose cannot be opened for another. Keys have 32 bytes. */
export function seal(key: Buffer, purpose: string, text: string): string {
  const iv = randomBytes(ivBytes);
  const sealing = createCipheriv(cipher, key, iv).setAAD(Buffer.from(purpose));
  const body = Buffer.concat([sealing.update(text, 'utf8'), sealing.final()]);
  return Buffer.concat([iv, body, sealing.getAuthTag()]).toString('base64url');
}

/** Returns the text; undefined if none of the keys has sealed exactly this for the purpose. */
export function unseal(keys: readonly Buffer[], purpose: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  // A text has many spellings in base64; only the shortest is accepted.
  if (bytes.length < ivBytes + tagBytes || bytes.toString('base64url') !== sealed) return undefined;
  for (const key of keys) {
    const opening = createDecipheriv(cipher, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
    opening.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-tagBytes));
    try {
      const body = opening.update(bytes.subarray(ivBytes, -tagBytes));
      return Buffer.concat([body, opening.final()]).toString('utf8');
    } catch {
      // Another key, or forged bytes.
    }
  }
  return undefined;
}
