/**
 * The authority of the front proxy, and the certificate with which this master calls extension servers. The
 * authority signs nothing else: extension servers let a holder of its certificate act as any user. They must
 * not accept a certificate of the cluster's authority, which users have too. All masters read the authority
 * from etcd, where it is stored outside `/registry/`, like the one that masters share.
 */
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { type Current, replaceable } from '../../base/current.ts';
import { inBackground } from '../../base/in-background.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { quoted } from '../../base/shell-words.ts';
import { replaceFile } from '../../os/replace-file.ts';
import {
  type AgreeOnAuthority,
  DamagedAuthorityError,
  newAuthority,
  openCredentials,
} from '../../pki/credentials.ts';
import type { KeyAndCertificate } from '../../pki/x509.ts';
import type { Store } from '../../storage/store.ts';
import { CertificateManager } from '../certificate-manager.ts';
import type { Settings } from '../settings/setting-table.ts';
import { AuthorityRotation } from './authority-rotation.ts';
import { followAuthorities } from './cluster-credentials.ts';
import { offerAuthority, readAuthority } from './shared-authority.ts';

const places = { authority: '/pki/front-proxy', rotation: '/pki/front-proxy-rotation' };

const frontProxyName = 'front-proxy-client';

export interface FrontProxy {
  /** Certificates (PEM) of the authorities that extension servers trust. */
  readonly authority: Current<string>;
  readonly client: Current<KeyAndCertificate>;
  /** Name in the certificate, which extension servers require. */
  readonly name: string;
  /**
   * Carries out a step of the rotation for this authority too. Leaves the authority as it is if the rotation
   * began in a version without a front proxy.
   */
  rotate(step: Parameters<AuthorityRotation['step']>[0]): Promise<void>;
}

export interface FrontProxyOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: Settings<'data-dir'>;
  readonly store: Store;
}

/** Opens the authority, and follows its changes until the stack is disposed. */
export async function openFrontProxy(
  { settings, store, clock, log }: FrontProxyOptions,
  started: AsyncDisposableStack,
): Promise<FrontProxy> {
  const directory = join(settings['data-dir'], 'pki', 'front-proxy');
  const now = () => clock.now();
  const make = () => newAuthority(now(), 'front-proxy-ca');
  const rotation = await AuthorityRotation.open(store, () => true, places);
  const credentials = await openCredentials(
    directory,
    now,
    storedAuthority(store, make),
    rotation.record,
  ).catch((error) => {
    throw error instanceof DamagedAuthorityError ? fromStore(error, directory) : error;
  });
  const certificateManager = new CertificateManager(credentials);
  const client = await certificateManager.leaf({
    file: frontProxyName,
    commonName: frontProxyName,
    usages: ['client'],
  });
  const authority = replaceable(credentials.authorities.value.trusted);
  await keepTrusted(directory, authority, log, started);
  followAuthorities({ credentials, rotation, authority, certificateManager, log });
  void inBackground(started, (until) => certificateManager.run({ clock, log }, until));
  void inBackground(started, (until) => rotation.follow({ clock, log }, until));
  return {
    authority,
    client,
    name: frontProxyName,
    async rotate(step) {
      await rotation.step(step, { nodes: [], own: credentials.authorities.value.server, make });
    },
  };
}

/** Returns the error with another remedy: no backup contains this folder, since etcd has the authority. */
const fromStore = ({ what }: DamagedAuthorityError, directory: string): Error =>
  new Error(
    `${what}: run rm -r ${quoted(directory)}, and start minik8s again, which takes this authority from etcd`,
  );

/** Name of the file with the trusted authorities, which `certs check` reads during a rotation. */
export const trustedFile = 'trusted.pem';

/** Writes the trusted authorities into a file now, and after each change until the stack is disposed. */
async function keepTrusted(
  directory: string,
  authority: Current<string>,
  log: Logger,
  started: AsyncDisposableStack,
): Promise<void> {
  const write = () => replaceFile(join(directory, trustedFile), authority.value, { mode: 0o644 });
  await write();
  let writing = Promise.resolve();
  const stop = authority.onChange(() => {
    writing = writing.then(write).catch((error: unknown) => {
      log.error('the trusted authorities could not be written', { error: errorMessage(error) });
    });
  });
  started.defer(async () => {
    stop();
    await writing;
  });
}

/** Prefers the authority in etcd to the one in the directory, which may be of an earlier cluster. */
const storedAuthority =
  (store: Store, make: () => Promise<KeyAndCertificate>): AgreeOnAuthority =>
  async (own) =>
    (await readAuthority(store, places.authority)) ??
    (await offerAuthority(store, own ?? (await make()), places.authority));
