/** PKCS #10: what a request asks for, and the certificate that answers it. */
// The library keeps its decorators' metadata through this polyfill, which must load before it.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import type { CertificateRequestContent, SigningTerms } from '../base/certificate-request.ts';
import { algorithm, importKey, type KeyAndCertificate, newSerial } from './x509.ts';

const label = 'CERTIFICATE REQUEST';
/** Real ones have one or two; parsing is not for free. */
const maxBytes = 64 * 1024;
const leastRsaBits = 2048;

/** Kubernetes' words for what a certificate is for; other usages are for other signers than ours. */
const keyUsages: Readonly<Record<string, number>> = {
  'digital signature': x509.KeyUsageFlags.digitalSignature,
  'key encipherment': x509.KeyUsageFlags.keyEncipherment,
};
const extendedKeyUsages: Readonly<Record<string, string>> = {
  'client auth': x509.ExtendedKeyUsage.clientAuth,
  'server auth': x509.ExtendedKeyUsage.serverAuth,
};

/**
 * Reads a request and checks that its maker has the key. Rejects with an Error in one line for what is no request
 * or asks for what no signer gives.
 */
export async function readCertificateRequest(pem: string): Promise<CertificateRequestContent> {
  return contentOf(await parse(pem));
}

async function parse(pem: string): Promise<x509.Pkcs10CertificateRequest> {
  if (pem.length > maxBytes) throw new Error(`must not be longer than ${maxBytes} bytes`);
  const [, type, body = ''] = /-----BEGIN ([^-]+)-----([^-]*)-----END \1-----/.exec(pem) ?? [];
  if (type !== label) throw new Error(`PEM block type must be ${label}`);
  let request: x509.Pkcs10CertificateRequest;
  let signed: boolean;
  try {
    request = new x509.Pkcs10CertificateRequest(Buffer.from(body, 'base64'));
    signed = await request.verify();
  } catch (error) {
    throw new Error('the PEM holds no PKCS #10 request that can be read', { cause: error });
  }
  if (!signed) throw new Error('the signature is not by the key in the request');
  requireStrongKey(request.publicKey);
  return request;
}

function requireStrongKey({ algorithm: key }: x509.PublicKey): void {
  const bits = 'modulusLength' in key ? key.modulusLength : undefined;
  if (typeof bits === 'number' && bits < leastRsaBits) {
    throw new Error(`an RSA key must have at least ${leastRsaBits} bits, not ${bits}`);
  }
}

function contentOf(request: x509.Pkcs10CertificateRequest): CertificateRequestContent {
  const names = request.subjectName.getField('CN');
  // Readers differ in which of several they take for the user's name.
  if (names.length > 1) throw new Error('the subject must not have more than one common name');
  const of = (type: x509.JsonGeneralName['type']) =>
    alternativeNames(request)
      .filter((name) => name.type === type)
      .map(({ value }) => value);
  return {
    commonName: names[0] ?? '',
    organizations: request.subjectName.getField('O'),
    dnsNames: of('dns'),
    ipAddresses: of('ip'),
    emailAddresses: of('email'),
    uris: of('url'),
  };
}

function alternativeNames(request: x509.Pkcs10CertificateRequest): readonly x509.JsonGeneralName[] {
  // A plain array: the library's own sort of list would make more of its sort.
  const found = [...request.extensions].filter(
    (extension) => extension instanceof x509.SubjectAlternativeNameExtension,
  );
  const names = found.flatMap((extension) => extension.names.toJSON());
  const strange = names.find(({ type }) => !['dns', 'ip', 'email', 'url'].includes(type));
  if (strange) throw new Error(`a subjectAltName of type ${strange.type} is not supported`);
  return names;
}

/** The request's subject, names and key, for the usages and time of `terms`; nothing else of it is taken over. */
export async function signCertificateRequest(
  authority: KeyAndCertificate,
  pem: string,
  terms: SigningTerms,
): Promise<string> {
  const request = await parse(pem);
  const names = alternativeNames(request);
  const issuer = new x509.X509Certificate(authority.certificate);
  const certificate = await x509.X509CertificateGenerator.create({
    subject: request.subjectName.toJSON(),
    issuer: issuer.subjectName.toJSON(),
    serialNumber: newSerial(),
    notBefore: new Date(Math.max(terms.notBefore, issuer.notBefore.getTime())),
    notAfter: new Date(Math.min(terms.notAfter, issuer.notAfter.getTime())),
    signingAlgorithm: algorithm,
    publicKey: request.publicKey,
    signingKey: await importKey(authority.key),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      ...usageExtensions(terms.usages),
      await x509.AuthorityKeyIdentifierExtension.create(issuer, false),
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension([...names])] : []),
    ],
  });
  return certificate.toString('pem');
}

function usageExtensions(usages: readonly string[]): x509.Extension[] {
  const strange = usages.find(
    (usage) => !Object.hasOwn(keyUsages, usage) && !Object.hasOwn(extendedKeyUsages, usage),
  );
  if (strange !== undefined)
    throw new Error(`certificates for ${JSON.stringify(strange)} are not signed here`);
  const bits = usages.reduce((sum, usage) => sum | (keyUsages[usage] ?? 0), 0);
  const purposes = usages.flatMap((usage) => extendedKeyUsages[usage] ?? []);
  return [
    ...(bits > 0 ? [new x509.KeyUsagesExtension(bits, true)] : []),
    ...(purposes.length > 0 ? [new x509.ExtendedKeyUsageExtension(purposes)] : []),
  ];
}
