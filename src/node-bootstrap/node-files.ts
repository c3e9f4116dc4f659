/**
 * The files of a node's membership in `<data-dir>/node`, readable by their owner only:
 *
 *   ca.crt        the cluster's authorities
 *   former        hashes of authorities that were trusted before: the machine's configuration may name one
 *   request.key   the key of the first request, until it is answered: an interrupted start continues with it
 *   client.pem    key and certificate for the API server; the node has joined once this file exists
 *   serving.pem   key and certificate of the node's own server
 *
 * Each file is replaced atomically, so that a later start reads either the old file or the new one.
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { certificatesOf } from '../os/certificate-bundle.ts';
import { takeFromOthers } from '../os/private-files.ts';
import { removeLeftDrafts, replaceFile } from '../os/replace-file.ts';
import { authorityHash } from '../pki/authority-hash.ts';
import { belongTogether } from '../pki/key-pair.ts';
import type { KeyAndCertificate } from '../pki/x509.ts';

const hashesOf = (bundle: string) =>
  certificatesOf(bundle).map((certificate) => authorityHash(certificate.toString()));

export class NodeFiles {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  async prepare(): Promise<void> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    await removeLeftDrafts(this.directory);
    await takeFromOthers(this.directory, () => true);
  }

  authority(): Promise<string | undefined> {
    return this.#read('ca.crt');
  }

  /** Stores the authorities (PEM), and the hashes of those that they replace. */
  async writeAuthority(bundle: string): Promise<void> {
    const next = hashesOf(bundle);
    const replaced = hashesOf((await this.authority()) ?? '').filter((hash) => !next.includes(hash));
    const former = new Set([...(await this.formerAuthorities()), ...replaced]);
    if (replaced.length > 0) await this.#write('former', `${[...former].join('\n')}\n`);
    await this.#write('ca.crt', bundle);
  }

  /** Returns the hashes of authorities that were trusted before. */
  async formerAuthorities(): Promise<readonly string[]> {
    return ((await this.#read('former')) ?? '').split('\n').filter((hash) => hash !== '');
  }

  requestKey(): Promise<string | undefined> {
    return this.#read('request.key');
  }

  writeRequestKey(key: string): Promise<void> {
    return this.#write('request.key', key);
  }

  async removeRequestKey(): Promise<void> {
    await rm(join(this.directory, 'request.key'), { force: true });
  }

  /** Returns undefined if the pair is missing or unusable: a new one is requested then. */
  async pair(name: 'client' | 'serving'): Promise<KeyAndCertificate | undefined> {
    const text = await this.#read(`${name}.pem`);
    const key = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----/.exec(text ?? '')?.[0];
    const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/.exec(text ?? '')?.[0];
    if (key === undefined || certificate === undefined) return undefined;
    // A damaged file must not stop a node that can request another certificate.
    return belongTogether({ key, certificate }) ? { key, certificate } : undefined;
  }

  writePair(name: 'client' | 'serving', { key, certificate }: KeyAndCertificate): Promise<void> {
    return this.#write(`${name}.pem`, `${key.trim()}\n${certificate.trim()}\n`);
  }

  async #read(name: string): Promise<string | undefined> {
    try {
      return await readFile(join(this.directory, name), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Replaces a file; the returned promise resolves when the content is durable. */
  #write(name: string, content: string): Promise<void> {
    return replaceFile(join(this.directory, name), content, { mode: 0o600 });
  }
}
