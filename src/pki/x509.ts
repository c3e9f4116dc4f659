/** Keys and certificates; ECDSA P-256 throughout. Only this folder uses the X.509 library. */
import { webcrypto } from 'node:crypto';
// The library keeps its decorators' metadata through this polyfill, which must load before it.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { isAddress } from '../base/addresses.ts';

export interface KeyAndCertificate {
  /** PKCS #8, PEM. */
  readonly key: string;
  /** PEM; for a leaf, the leaf alone. */
  readonly certificate: string;
}

export interface CertificateRequest {
  readonly commonName: string;
  /** Organizations of the subject, which Kubernetes reads as the user's groups. */
  readonly organizations?: readonly string[];
  /** DNS names and IP addresses that the certificate serves; without any, it is a client-only certificate. */
  readonly hosts?: readonly string[];
  readonly usages: readonly ('client' | 'server')[];
  /** Start of validity, in milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
}

export const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
export const crypto = webcrypto as unknown as Crypto;
x509.cryptoProvider.set(crypto);

const extendedKeyUsage = {
  client: x509.ExtendedKeyUsage.clientAuth,
  server: x509.ExtendedKeyUsage.serverAuth,
};

export function subjectOf(request: Pick<CertificateRequest, 'commonName' | 'organizations'>): x509.JsonName {
  const organizations = (request.organizations ?? []).map((organization) => ({ O: [organization] }));
  return [...organizations, { CN: [request.commonName] }];
}

/** Returns the extension with the hosts; no extension when there are no hosts. */
export function subjectAlternativeNames(hosts: readonly string[] = []): x509.Extension[] {
  if (hosts.length === 0) return [];
  const names = hosts.map((host) => ({
    type: isAddress(host) ? ('ip' as const) : ('dns' as const),
    value: host,
  }));
  return [new x509.SubjectAlternativeNameExtension(names)];
}

export const generateKeys = () =>
  crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>;

export async function pemOfKey(key: CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

export const importKey = (pem: string) =>
  crypto.subtle.importKey('pkcs8', x509.PemConverter.decodeFirst(pem), algorithm, false, ['sign']);

/** Returns a positive serial number of 16 random bytes, in hex (RFC 5280 4.1.2.2). */
export function newSerial(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return Buffer.from(bytes).toString('hex');
}

/** Creates a self-signed authority that may sign leaves and no further authorities. */
export async function createAuthority(
  commonName: string,
  notBefore: number,
  notAfter: number,
): Promise<KeyAndCertificate> {
  const keys = await generateKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [commonName] }],
    serialNumber: newSerial(),
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { key: await pemOfKey(keys.privateKey), certificate: certificate.toString('pem') };
}

/** Creates a key and a certificate signed by the authority. */
export async function issueCertificate(
  authority: KeyAndCertificate,
  request: CertificateRequest,
): Promise<KeyAndCertificate> {
  const keys = await generateKeys();
  const issuer = new x509.X509Certificate(authority.certificate);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: subjectOf(request),
    issuer: issuer.subjectName.toJSON(),
    serialNumber: newSerial(),
    notBefore: new Date(request.notBefore),
    notAfter: new Date(request.notAfter),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: await importKey(authority.key),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(request.usages.map((usage) => extendedKeyUsage[usage])),
      await x509.AuthorityKeyIdentifierExtension.create(issuer, false),
      ...subjectAlternativeNames(request.hosts),
    ],
  });
  return { key: await pemOfKey(keys.privateKey), certificate: certificate.toString('pem') };
}
