/**
 * The files under `<data-dir>/pki`: the cluster's own authority and every certificate that it signed. A file
 * is created when it is missing, when it expires soon or when the served hosts have changed. Keys have mode
 * 0600, and each file is replaced atomically, so that a crash leaves either the old pair or the new one.
 */
import { X509Certificate } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAddress } from '../base/addresses.ts';
import { type Current, replaceable } from '../base/current.ts';
import { takeFromOthers } from '../os/private-files.ts';
import { removeLeftDrafts, replaceFile } from '../os/replace-file.ts';
import { type Authorities, adopted, authoritiesOf, type RotationRecord } from './authority-rotation.ts';
import { belongTogether, isAuthority } from './key-pair.ts';
import type { CertificateRequest, KeyAndCertificate } from './x509.ts';

const day = 24 * 3600 * 1000;
/** Validity as in kubeadm: ten years for the authority, one year for leaves. */
const authorityDays = 3650;
const leafDays = 365;
/** Remaining validity, in days, below which a leaf is renewed. */
const renewDays = 60;
/** Certificates begin an hour in the past, for clients whose clock is behind. */
const backdate = 3600 * 1000;

export interface LeafRequest
  extends Pick<CertificateRequest, 'commonName' | 'organizations' | 'hosts' | 'usages'> {
  /** File name without extension. */
  readonly file: string;
  /**
   * True for a certificate that must be trusted by clients that know only the former authority: it is
   * replaced when the rotation of the authority ends.
   */
  readonly changesLast?: boolean;
}

export interface Credentials {
  /** The authority at the start of this process. */
  readonly authority: KeyAndCertificate;
  /** The authorities in use, which change while the authority is rotated. */
  readonly authorities: Current<Authorities>;
  /** Stores the authority of a rotation that has ended in the directory. */
  adopt(): Promise<void>;
  /** Returns the leaf of the request, from disk or newly signed. */
  leaf(request: LeafRequest): Promise<KeyAndCertificate>;
}

async function readFileIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'EISDIR') throw new Error(`${path} is a directory: remove it, and start minik8s again`);
    throw new Error(`cannot read ${path}`, { cause: error });
  }
}

/** Reads the two files; a missing file gives no property. */
async function readPair(directory: string, file: string): Promise<Partial<KeyAndCertificate>> {
  const [key, certificate] = await Promise.all([
    readFileIfThere(join(directory, `${file}.key`)),
    readFileIfThere(join(directory, `${file}.crt`)),
  ]);
  return { ...(key !== undefined && { key }), ...(certificate !== undefined && { certificate }) };
}

/** Returns the pair if it has both parts. */
const completePair = ({ key, certificate }: Partial<KeyAndCertificate>) =>
  key !== undefined && certificate !== undefined ? { key, certificate } : undefined;

/** Reads a leaf. A damaged pair counts as missing: a new one is created. */
async function readLeaf(directory: string, file: string): Promise<KeyAndCertificate | undefined> {
  const pair = completePair(await readPair(directory, file));
  return pair && belongTogether(pair) ? pair : undefined;
}

/** Returns true if the directory has a certificate, which an authority has signed. */
const hasCertificate = async (directory: string) =>
  (await readdir(directory)).some((file) => file.endsWith('.crt'));

/** The authority in the directory is damaged, or a part of it is missing. */
export class DamagedAuthorityError extends Error {
  override readonly name = 'DamagedAuthorityError';
  /** Description of the damage, without the advice. */
  readonly what: string;

  constructor(what: string, remedy?: string) {
    const advice = remedy ? `: ${remedy}` : ': restore both files from a backup, or remove both';
    super(
      `${what}${advice}; masters that share an etcd then take the authority from etcd, otherwise every node and user needs a new certificate`,
    );
    this.what = what;
  }
}

/**
 * Reads the authority. A damaged authority is never replaced with a new one, which would invalidate all
 * certificates of the cluster. A key without any certificate is left by a first start that was interrupted
 * before the authority was used.
 */
async function readAuthority(directory: string): Promise<KeyAndCertificate | undefined> {
  const found = await readPair(directory, 'ca');
  const isUnused = found.key === undefined || !(await hasCertificate(directory));
  if (found.certificate === undefined && isUnused) return undefined;
  const pair = completePair(found);
  if (pair && isAuthority(pair)) return pair;
  const [key, certificate] = ['key', 'crt'].map((ending) => join(directory, `ca.${ending}`));
  const missing = found.certificate === undefined ? certificate : key;
  const what = pair
    ? `${key} is not the key of the authority in ${certificate}, or one of the two is damaged`
    : `${missing} is missing`;
  throw new DamagedAuthorityError(what);
}

/** Writes a pair, key first: a certificate whose key is missing would look valid and be useless. */
async function writePair(directory: string, file: string, pair: KeyAndCertificate): Promise<void> {
  await replaceFile(join(directory, `${file}.key`), pair.key, { mode: 0o600 });
  await replaceFile(join(directory, `${file}.crt`), pair.certificate, { mode: 0o644 });
}

/**
 * Returns true if the pair matches the request, is signed by the authority, and is valid now and long
 * enough.
 */
export function isCurrent(
  pair: KeyAndCertificate,
  authority: KeyAndCertificate,
  request: LeafRequest,
  now: number,
): boolean {
  const certificate = new X509Certificate(pair.certificate);
  const subject = new Set(certificate.subject.split('\n'));
  const names = [...(request.organizations ?? []).map((o) => `O=${o}`), `CN=${request.commonName}`];
  const serves = (host: string) =>
    isAddress(host) ? certificate.checkIP(host) : certificate.checkHost(host);
  return (
    certificate.verify(new X509Certificate(authority.certificate).publicKey) &&
    // A certificate of the future was issued while the clock of this machine was ahead.
    Date.parse(certificate.validFrom) <= now &&
    Date.parse(certificate.validTo) - now > renewDays * day &&
    names.length === subject.size &&
    names.every((name) => subject.has(name)) &&
    (request.hosts ?? []).every((host) => serves(host) !== undefined)
  );
}

/**
 * Returns the next authority of a rotation that has ended if only its key was written, before the process was
 * killed.
 */
async function unfinishedAdoption(
  directory: string,
  record: RotationRecord | undefined,
): Promise<KeyAndCertificate | undefined> {
  if (record?.phase !== 'finish') return undefined;
  const { key, certificate } = await readPair(directory, 'ca');
  return key === record.next.key && certificate !== record.next.certificate ? record.next : undefined;
}

/**
 * Determines the authority of a cluster with several masters. `own` is the one in this directory, `make`
 * creates a new one; rejects when `own` is not the cluster's.
 */
export type AgreeOnAuthority = (
  own: KeyAndCertificate | undefined,
  make: () => Promise<KeyAndCertificate>,
) => Promise<KeyAndCertificate>;

const ownOrNew: AgreeOnAuthority = async (own, make) => own ?? (await make());

/**
 * Opens the directory; creates the authority on first use unless other masters have one. `now` is in
 * milliseconds.
 */
export async function openCredentials(
  directory: string,
  now: () => number,
  agree: AgreeOnAuthority = ownOrNew,
  rotation: Current<RotationRecord | undefined> = replaceable(undefined),
): Promise<Credentials> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
    throw new DamagedAuthorityError(`${directory} is not a directory`);
  });
  await removeLeftDrafts(directory);
  await takeFromOthers(directory, (name) => name.endsWith('.key'));
  const { issueCertificate } = await import('./x509.ts');
  const unfinished = await unfinishedAdoption(directory, rotation.value);
  const stored = unfinished ?? (await readAuthority(directory));
  const own = stored && adopted(stored, rotation.value);
  let base = await agree(own, () => newAuthority(now()));
  if (unfinished || base.certificate !== stored?.certificate) await writePair(directory, 'ca', base);
  const authorities = replaceable(authoritiesOf(base, rotation.value));
  rotation.onChange((record) => {
    base = adopted(base, record);
    authorities.replace(authoritiesOf(base, record));
  });
  return {
    authority: base,
    authorities,
    adopt: () => writePair(directory, 'ca', base),
    async leaf(request) {
      const { signer, server } = authorities.value;
      const issuer = request.changesLast ? server : signer;
      const existing = await readLeaf(directory, request.file);
      if (existing && isCurrent(existing, issuer, request, now())) return existing;
      const validity = { notBefore: now() - backdate, notAfter: now() + leafDays * day };
      const pair = await issueCertificate(issuer, { ...request, ...validity });
      await writePair(directory, request.file, pair);
      return pair;
    },
  };
}

/** Creates an authority, by default one of the cluster; `now` is in milliseconds. */
export async function newAuthority(now: number, name = 'minik8s'): Promise<KeyAndCertificate> {
  const { createAuthority } = await import('./x509.ts');
  return createAuthority(name, now - backdate, now + authorityDays * day);
}

/**
 * Returns what is wrong with the clock of this machine, or with the authority, if it is not valid now;
 * `now` is in milliseconds. Clients whose clocks are right reject what such a master presents, or it
 * rejects theirs.
 */
export function authorityProblem(certificate: string, now: number): string | undefined {
  const { validFrom, validTo } = new X509Certificate(certificate);
  const [first, last] = [new Date(validFrom), new Date(validTo)];
  const clock = `the clock of this machine says ${new Date(now).toISOString()}`;
  const whoFails = 'certificates issued now are not valid for other machines';
  if (now < first.getTime())
    return `${clock}, before the cluster's authority was made (${first.toISOString()}): ${whoFails}; set it (timedatectl set-ntp true) and restart minik8s`;
  if (now > last.getTime())
    return `${clock}, and the cluster's authority was valid until ${last.toISOString()}: ${whoFails}; set the clock, or make a new authority: stop minik8s, remove ca.crt and ca.key from the folder pki of its data directory, and start it`;
  return undefined;
}
