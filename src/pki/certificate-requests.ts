/** PKCS #10: the content of a certificate request, and the certificate for it. */
// The library keeps its decorators' metadata through this polyfill, which must load before it.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { readCertificate } from '../formats/certificate-names.ts';
import type { CertificateRequestContent, SigningTerms } from '../formats/certificate-request.ts';
import { EncodingError } from '../formats/der.ts';
import { type RequestParts, readRequest, subjectAltName } from '../formats/request-content.ts';
import { algorithm, importKey, type KeyAndCertificate, newSerial } from './x509.ts';

const label = 'CERTIFICATE REQUEST';
/** Maximum size. Real requests have one or two kilobytes; parsing is expensive. */
const maxBytes = 64 * 1024;
const minRsaBits = 2048;

/** Kubernetes' names of certificate usages; other usages are for signers that minik8s does not have. */
const keyUsages: Readonly<Record<string, number>> = {
  'digital signature': x509.KeyUsageFlags.digitalSignature,
  'key encipherment': x509.KeyUsageFlags.keyEncipherment,
};
const extendedKeyUsages: Readonly<Record<string, string>> = {
  'client auth': x509.ExtendedKeyUsage.clientAuth,
  'server auth': x509.ExtendedKeyUsage.serverAuth,
};

interface ParsedRequest extends RequestParts {
  readonly key: x509.PublicKey;
}

/**
 * Reads a request and checks that its signature proves possession of the key. Rejects with a one-line Error
 * for text that is not a request, or for a request that no signer accepts.
 */
export async function readCertificateRequest(pem: string): Promise<CertificateRequestContent> {
  return (await parse(pem)).content;
}

async function parse(pem: string): Promise<ParsedRequest> {
  const der = bytesOf(pem);
  const parts = readParts(der);
  let request: x509.Pkcs10CertificateRequest;
  let signed: boolean;
  try {
    request = new x509.Pkcs10CertificateRequest(der);
    signed = await request.verify();
  } catch (error) {
    throw unreadable(error);
  }
  if (!signed) throw new Error('the signature was not made with the key in the request');
  requireStrongKey(request.publicKey);
  // The library signs the key that it parsed and the subject in its own encoding: both must equal the bytes
  // in the request.
  const same =
    isSame(parts.publicKey, request.publicKey.rawData) &&
    isSame(parts.subject, new x509.Name(parts.subject).toArrayBuffer());
  if (!same) throw new Error('the request is not DER encoded in the one canonical way');
  return { ...parts, key: request.publicKey };
}

const unreadable = (cause: unknown) =>
  new Error('the PEM block does not hold a readable PKCS #10 request', { cause });

/**
 * Checks the request before the library parses it, since the library takes milliseconds for each part of a
 * name.
 */
function readParts(der: Uint8Array): RequestParts {
  try {
    return readRequest(der);
  } catch (error) {
    throw error instanceof EncodingError ? unreadable(error) : error;
  }
}

const isSame = (bytes: Uint8Array, others: ArrayBuffer) => Buffer.from(others).equals(bytes);

/**
 * Returns the bytes of the single PEM block. Content that a reader may skip is rejected: the approver must
 * see exactly what is signed.
 */
function bytesOf(pem: string): Buffer {
  if (pem.length > maxBytes) throw new Error(`must not be longer than ${maxBytes} bytes`);
  const [, type, body = ''] = /-----BEGIN ([^-]+)-----([^-]*)-----END \1-----/.exec(pem) ?? [];
  if (type !== label) throw new Error(`PEM block type must be ${label}`);
  if (pem.split('-----BEGIN').length > 2) throw new Error('must hold one PEM block, not several');
  const der = Buffer.from(body, 'base64');
  if (der.toString('base64') !== body.replaceAll(/\s/g, '')) throw new Error('the PEM is not base64');
  return der;
}

function requireStrongKey({ algorithm: key }: x509.PublicKey): void {
  const bits = 'modulusLength' in key ? key.modulusLength : undefined;
  if (typeof bits === 'number' && bits < minRsaBits) {
    throw new Error(`an RSA key must have at least ${minRsaBits} bits, not ${bits}`);
  }
}

/**
 * Signs a certificate with the request's subject, names and key, byte for byte, and the usages and validity
 * of `terms`; other parts of the request are ignored. Rejects, without a certificate, when the signed content
 * differs from the checked content.
 */
export async function signCertificateRequest(
  authority: KeyAndCertificate,
  pem: string,
  terms: SigningTerms,
): Promise<string> {
  const { subject, publicKey, alternativeNames, key, content } = await parse(pem);
  const issuer = new x509.X509Certificate(authority.certificate);
  // The alternative names are critical when there is no subject (RFC 5280 §4.2.1.6).
  const critical = content.commonName === '' && content.organizations.length === 0;
  const certificate = await x509.X509CertificateGenerator.create({
    subject: new x509.Name(subject),
    issuer: issuer.subjectName,
    serialNumber: newSerial(),
    notBefore: new Date(Math.max(terms.notBefore, issuer.notBefore.getTime())),
    notAfter: new Date(Math.min(terms.notAfter, issuer.notAfter.getTime())),
    signingAlgorithm: algorithm,
    publicKey: key,
    signingKey: await importKey(authority.key),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      ...usageExtensions(terms.usages),
      await x509.AuthorityKeyIdentifierExtension.create(issuer, false),
      ...(alternativeNames ? [new x509.Extension(subjectAltName, critical, alternativeNames)] : []),
    ],
  });
  const issued = readCertificate(new Uint8Array(certificate.rawData));
  const names = issued.extensions.get(subjectAltName);
  const rightly =
    Buffer.from(issued.subject.whole).equals(subject) &&
    Buffer.from(issued.publicKey.whole).equals(publicKey) &&
    Buffer.from(names ?? []).equals(alternativeNames ?? Buffer.of());
  if (!rightly) throw new Error('the certificate would not match the request that was checked');
  return certificate.toString('pem');
}

function usageExtensions(usages: readonly string[]): x509.Extension[] {
  const strange = usages.find(
    (usage) => !Object.hasOwn(keyUsages, usage) && !Object.hasOwn(extendedKeyUsages, usage),
  );
  if (strange !== undefined)
    throw new Error(`certificates for ${JSON.stringify(strange)} are not signed by this cluster`);
  const bits = usages.reduce((sum, usage) => sum | (keyUsages[usage] ?? 0), 0);
  const purposes = usages.flatMap((usage) => extendedKeyUsages[usage] ?? []);
  return [
    ...(bits > 0 ? [new x509.KeyUsagesExtension(bits, true)] : []),
    ...(purposes.length > 0 ? [new x509.ExtendedKeyUsageExtension(purposes)] : []),
  ];
}
