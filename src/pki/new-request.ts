/** Creates requests for a certificate (PKCS #10). */
import { createPrivateKey, createPublicKey, type webcrypto } from 'node:crypto';
// The library keeps its decorators' metadata through this polyfill, which must load before it.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import {
  algorithm,
  type CertificateRequest,
  crypto,
  generateKeys,
  pemOfKey,
  subjectAlternativeNames,
  subjectOf,
} from './x509.ts';

export type RequestedSubject = Pick<CertificateRequest, 'commonName' | 'organizations' | 'hosts'>;

/** Returns a new private key (PKCS #8, PEM). */
export async function makeKey(): Promise<string> {
  return pemOfKey((await generateKeys()).privateKey);
}

/** Returns the request (PEM), signed with the key (PKCS #8, PEM). */
export async function makeRequest(key: string, subject: RequestedSubject): Promise<string> {
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: subjectOf(subject),
    keys: await keyPair(key),
    signingAlgorithm: algorithm,
    extensions: subjectAlternativeNames(subject.hosts),
  });
  return request.toString('pem');
}

async function keyPair(pem: string): Promise<webcrypto.CryptoKeyPair> {
  const privateKey = createPrivateKey(pem);
  const [pkcs8, spki] = [
    privateKey.export({ type: 'pkcs8', format: 'der' }),
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
  ];
  return {
    privateKey: await crypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign']),
    publicKey: await crypto.subtle.importKey('spki', spki, algorithm, true, ['verify']),
  };
}
