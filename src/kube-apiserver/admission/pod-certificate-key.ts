/** Checks the key for which a PodCertificateRequest asks, and the proof that the node has it. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { stubRequestPath } from '../../api/certificates/v1/pod-certificate-validation.ts';
import { invalidCause, invalidTogetherCause } from '../../apimachinery/field-error.ts';
import type { StatusCause } from '../../apimachinery/status-error.ts';
import { type KeyRequest, readKeyRequest } from '../../formats/key-request.ts';

/** Types of keys, as node:crypto names them, and digests by the algorithms of their signatures. */
const algorithms: Readonly<Record<string, readonly [keyType: string, digest: string | null]>> = {
  '1.2.840.10045.4.3.2': ['ec', 'sha256'],
  '1.2.840.10045.4.3.3': ['ec', 'sha384'],
  '1.2.840.10045.4.3.4': ['ec', 'sha512'],
  '1.2.840.113549.1.1.11': ['rsa', 'sha256'],
  '1.2.840.113549.1.1.12': ['rsa', 'sha384'],
  '1.2.840.113549.1.1.13': ['rsa', 'sha512'],
  '1.3.101.112': ['ed25519', null],
};

const curves = ['prime256v1', 'secp384r1', 'secp521r1'];
const rsaBits = [3072, 4096];

/** Returns the causes in a request (base64 of DER): none if its key is allowed and has signed it. */
export function keyCauses(request: string): StatusCause[] {
  const parts = partsOf(request);
  const key = parts && keyOf(parts);
  if (!key) return [invalidTogetherCause(stubRequestPath, 'must be a valid PKCS#10 CSR')];
  const fault = keyFault(key);
  if (fault) return [fault];
  return isSigned(parts, key) ? [] : [invalidTogetherCause(stubRequestPath, 'invalid signature')];
}

/** Returns the key in a request (base64 of DER); undefined if it cannot be read. */
export function requestedKey(request: string): KeyObject | undefined {
  const parts = partsOf(request);
  return parts && keyOf(parts);
}

function partsOf(request: string): KeyRequest | undefined {
  try {
    return readKeyRequest(Buffer.from(request, 'base64'));
  } catch {
    return undefined;
  }
}

function keyOf({ publicKey }: KeyRequest): KeyObject | undefined {
  try {
    return createPublicKey({ key: Buffer.from(publicKey), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}

function keyFault({ asymmetricKeyType: type, asymmetricKeyDetails }: KeyObject): StatusCause | undefined {
  if (type === 'ed25519') return undefined;
  const { namedCurve = '', modulusLength = 0 } = asymmetricKeyDetails ?? {};
  if (type === 'ec') {
    const why = 'elliptic public keys must use curve P256, P384, or P521';
    return curves.includes(namedCurve)
      ? undefined
      : invalidCause(stubRequestPath, `curve ${namedCurve}`, why);
  }
  if (type === 'rsa') {
    const bits = Math.ceil(modulusLength / 8) * 8;
    const why = 'RSA keys must have modulus size 3072 or 4096';
    return rsaBits.includes(bits) ? undefined : invalidCause(stubRequestPath, `${bits}-bit modulus`, why);
  }
  const why = 'unknown public key type; supported types are Ed25519, ECDSA, and RSA';
  return invalidTogetherCause(stubRequestPath, why);
}

function isSigned({ algorithm, signed, signature }: KeyRequest, key: KeyObject): boolean {
  const known = Object.hasOwn(algorithms, algorithm) ? algorithms[algorithm] : undefined;
  if (!known || known[0] !== key.asymmetricKeyType) return false;
  return verify(known[1], signed, key, signature);
}
