/** Reads the certificates of a machine: in its data directory, and in kubeconfigs there and in /etc. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorMessage } from '../../base/log.ts';
import { type Kubeconfig, parseKubeconfig } from '../../client/kubeconfig.ts';
import { readBounded } from '../../os/bounded-file.ts';
import { certificatesOf } from '../../os/certificate-bundle.ts';
import { trustedFile } from '../master/front-proxy.ts';
import type { CertificateContent, FoundCertificate, Holder } from './check-plan.ts';

export interface CertificatePlaces {
  readonly dataDir: string;
  /** Directory of the configuration, which may hold kubeconfigs. */
  readonly configDirectory: string;
}

/**
 * Resolves to all certificates that were found, those of the authority first. Rejects with one line if a file
 * or directory exists and cannot be read.
 */
export async function findCertificates(places: CertificatePlaces): Promise<FoundCertificate[]> {
  const { dataDir, configDirectory } = places;
  const [pki, node] = [join(dataDir, 'pki'), join(dataDir, 'node')];
  const authorities = await trustedIn(
    [join(pki, 'ca.crt'), join(node, 'ca.crt')],
    join(dataDir, 'admin.conf'),
  );
  const proxy = join(pki, 'front-proxy');
  return [
    ...(await ofMaster(pki, authorities, 'authority')),
    ...(await ofMaster(
      proxy,
      await trustedIn([join(proxy, 'ca.crt'), join(proxy, trustedFile)]),
      'front-proxy',
    )),
    ...(await ofNode(node, authorities)),
    ...(await inKubeconfigs(dataDir, authorities, (name) => (name === 'admin.conf' ? 'master' : 'user'))),
    ...(await inKubeconfigs(configDirectory, authorities, () => 'user')),
  ];
}

/**
 * Resolves to the authorities of the cluster. During a rotation, the next authority of a master is only in
 * the master's kubeconfig.
 */
async function trustedIn(files: readonly string[], kubeconfig?: string): Promise<X509Certificate[]> {
  const config = kubeconfigIn((kubeconfig && (await textOf(kubeconfig))) ?? '', kubeconfig ?? '');
  const texts = [
    ...(await Promise.all(files.map(textOf))),
    ...Object.values(config?.clusters ?? {}).map((cluster) => decoded(cluster['certificate-authority-data'])),
  ];
  return texts.flatMap((text) => certificatesIn(text ?? ''));
}

/** Resolves to the certificates in a directory; `authority` is the kind of holder of `ca.crt` there. */
async function ofMaster(
  pki: string,
  authorities: readonly X509Certificate[],
  authority: Holder,
): Promise<FoundCertificate[]> {
  const names = (await namesIn(pki)).filter((name) => name.endsWith('.crt'));
  const found: FoundCertificate[] = [];
  for (const name of names.toSorted((a, b) => Number(b === 'ca.crt') - Number(a === 'ca.crt'))) {
    const path = join(pki, name);
    const key = (await textOf(path.replace(/crt$/, 'key'))) ?? '';
    const holder = name === 'ca.crt' ? authority : 'master';
    found.push({ path, holder, content: contentOf(await textOf(path), authorities, key) });
  }
  return found;
}

async function ofNode(node: string, authorities: readonly X509Certificate[]): Promise<FoundCertificate[]> {
  const found: FoundCertificate[] = [];
  for (const name of ['ca.crt', 'client.pem', 'serving.pem']) {
    const path = join(node, name);
    const text = await textOf(path);
    if (text === undefined) continue;
    if (name === 'ca.crt')
      found.push(
        ...allIn(text, authorities).map((content) => ({ path, holder: 'node-trust' as const, content })),
      );
    else found.push({ path, holder: 'node', content: contentOf(text, authorities, text) });
  }
  return found;
}

async function inKubeconfigs(
  directory: string,
  authorities: readonly X509Certificate[],
  holderOf: (name: string) => Holder,
): Promise<FoundCertificate[]> {
  const found: FoundCertificate[] = [];
  for (const name of (await namesIn(directory)).filter(isKubeconfigName))
    found.push(...(await inKubeconfig(join(directory, name), holderOf(name), authorities)));
  return found;
}

const isKubeconfigName = (name: string) => /\.(conf|kubeconfig)$/.test(name);

/** Resolves to the certificates of the clusters and users of a kubeconfig. */
async function inKubeconfig(
  path: string,
  holder: Holder,
  authorities: readonly X509Certificate[],
): Promise<FoundCertificate[]> {
  const config = kubeconfigIn((await textOf(path)) ?? '', path);
  if (!config) return [{ path, holder, content: undefined }];
  const found: FoundCertificate[] = [];
  for (const [name, cluster] of Object.entries(config.clusters)) {
    const text = await material(cluster['certificate-authority-data'], cluster['certificate-authority']);
    const entry = `cluster ${name}`;
    if (text !== undefined)
      found.push(...allIn(text, authorities).map((content) => ({ path, entry, holder, content })));
  }
  return [...found, ...(await usersIn(config, path, holder, authorities))];
}

async function usersIn(
  { users }: Kubeconfig,
  path: string,
  holder: Holder,
  authorities: readonly X509Certificate[],
): Promise<FoundCertificate[]> {
  const found: FoundCertificate[] = [];
  for (const [name, user] of Object.entries(users)) {
    const text = await material(user['client-certificate-data'], user['client-certificate']);
    const key = (await material(user['client-key-data'], user['client-key'])) ?? '';
    if (text !== undefined)
      found.push({ path, entry: `user ${name}`, holder, content: contentOf(text, authorities, key) });
  }
  return found;
}

/** Returns undefined for a text that is no kubeconfig. */
function kubeconfigIn(text: string, path: string): Kubeconfig | undefined {
  try {
    return parseKubeconfig(text, path);
  } catch {
    return undefined;
  }
}

const decoded = (data: string | undefined) =>
  data === undefined ? undefined : Buffer.from(data, 'base64').toString('utf8');

async function material(data: string | undefined, path: string | undefined): Promise<string | undefined> {
  return decoded(data) ?? (path === undefined ? undefined : textOf(path));
}

/** Returns the first certificate of a text; undefined if there is none that can be read. */
function certificateIn(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(text);
  } catch {
    return undefined;
  }
}

/** Returns the certificates of a bundle; none if one cannot be read. */
function certificatesIn(text: string): X509Certificate[] {
  try {
    return certificatesOf(text);
  } catch {
    return [];
  }
}

/**
 * Returns the content of each certificate of a bundle; a list with one undefined for a bundle without
 * certificates.
 */
function allIn(
  text: string,
  authorities: readonly X509Certificate[],
): readonly (CertificateContent | undefined)[] {
  const all = certificatesIn(text).map((certificate) => contentOf(certificate.toString(), authorities));
  return all.length > 0 ? all : [undefined];
}

function contentOf(
  text = '',
  authorities: readonly X509Certificate[],
  key?: string,
): CertificateContent | undefined {
  // A file of a node holds the key before the certificate.
  const certificate = certificateIn(text.slice(Math.max(0, text.indexOf('-----BEGIN CERTIFICATE-----'))));
  if (!certificate) return undefined;
  return {
    subject: partsOf(certificate.subject),
    names: namesOf(certificate),
    issuer: partsOf(certificate.issuer),
    notBefore: certificate.validFromDate.getTime(),
    notAfter: certificate.validToDate.getTime(),
    isOfCluster:
      authorities.length === 0
        ? undefined
        : authorities.some((authority) => certificate.verify(authority.publicKey)),
    fitsKey: key === undefined ? undefined : fits(certificate, key),
  };
}

const partsOf = (name: string) => (name ?? '').split('\n').filter((part) => part !== '');

const namesOf = ({ subjectAltName = '' }: X509Certificate) =>
  subjectAltName
    .split(', ')
    .map((name) => name.replace(/^(DNS|IP Address|URI|email):/, ''))
    .filter((name) => name !== '');

function fits(certificate: X509Certificate, key: string): boolean {
  try {
    return certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    return false;
  }
}

/** Maximum size of a file in bytes. Certificates and kubeconfigs have a few kilobytes. */
const maxBytes = 1024 * 1024;

/** Resolves to undefined if there is no such file. */
const textOf = (path: string) =>
  reading(path, async () => (await readBounded(path, { maxBytes })).toString('utf8'), undefined);

/** Resolves to an empty list if there is no such directory. */
const namesIn = (path: string) => reading(path, async () => (await readdir(path)).sort(), []);

async function reading<T, U>(path: string, read: () => Promise<T>, otherwise: U): Promise<T | U> {
  try {
    return await read();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return otherwise;
    const advice = code === 'EACCES' ? 'run this command as root' : errorMessage(error);
    throw new Error(`cannot read ${path}: ${advice}`);
  }
}
