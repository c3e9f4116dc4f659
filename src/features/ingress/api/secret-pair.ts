/** The certificate and the key in a Secret. Pure. */
import type { Secret } from '../../../api/core/v1/secret.ts';

/** Returns both in PEM; undefined if the Secret lacks one of them. */
export function secretPair({ data = {} }: Pick<Secret, 'data'>) {
  const [certificate, key] = [data['tls.crt'], data['tls.key']];
  if (!certificate || !key) return undefined;
  return { certificate: decoded(certificate), key: decoded(key) };
}

const decoded = (base64: string) =>
  new TextDecoder().decode(Uint8Array.from(atob(base64.replace(/\s/g, '')), (char) => char.charCodeAt(0)));
