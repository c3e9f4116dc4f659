/** Private keys of pods, and the requests that prove their possession. */
import { createPublicKey, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { signedKeyRequest, unsignedKeyRequest } from '../../formats/key-request.ts';

export interface NewKey {
  /** PKCS #8, PEM. */
  readonly key: string;
  /** PKCS #10 request without a subject, base64 of DER. */
  readonly request: string;
}

interface KeyKind {
  generate(): Promise<{ readonly privateKey: KeyObject }>;
  readonly digest: string | null;
  /** AlgorithmIdentifier (DER) of signatures, in hexadecimal digits. */
  readonly algorithm: string;
}

const generate = promisify(generateKeyPair);
const signed = promisify(sign);

const rsa = (modulusLength: number): KeyKind => ({
  generate: () => generate('rsa', { modulusLength }),
  digest: 'sha256',
  algorithm: '300d06092a864886f70d01010b0500',
});

const ecdsa = (namedCurve: string, digest: string, last: string): KeyKind => ({
  generate: () => generate('ec', { namedCurve }),
  digest,
  algorithm: `300a06082a8648ce3d0403${last}`,
});

const kinds: Readonly<Record<string, KeyKind>> = {
  RSA3072: rsa(3072),
  RSA4096: rsa(4096),
  ECDSAP256: ecdsa('P-256', 'sha256', '02'),
  ECDSAP384: ecdsa('P-384', 'sha384', '03'),
  ECDSAP521: ecdsa('P-521', 'sha512', '04'),
  ED25519: { generate: () => generate('ed25519'), digest: null, algorithm: '300506032b6570' },
};

/** Generates a key of the type in another thread. Rejects for a type that Kubernetes does not have. */
export async function newKey(keyType: string): Promise<NewKey> {
  const kind = Object.hasOwn(kinds, keyType) ? kinds[keyType] : undefined;
  if (!kind) throw new Error(`unknown key type ${JSON.stringify(keyType)}`);
  const { privateKey } = await kind.generate();
  const content = unsignedKeyRequest(createPublicKey(privateKey).export({ type: 'spki', format: 'der' }));
  const signature = await signed(kind.digest, content, privateKey);
  const request = signedKeyRequest(content, Buffer.from(kind.algorithm, 'hex'), signature);
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    request: Buffer.from(request).toString('base64'),
  };
}
