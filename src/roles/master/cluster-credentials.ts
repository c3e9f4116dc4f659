/** The credentials of the cluster: its authorities, and the certificates of this master. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { type Replaceable, replaceable } from '../../base/current.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { quoted } from '../../base/shell-words.ts';
import { type Credentials, DamagedAuthorityError, openCredentials } from '../../pki/credentials.ts';
import type { Store } from '../../storage/store.ts';
import type { CertificateManager } from '../certificate-manager.ts';
import type { Settings } from '../settings/setting-table.ts';
import { AuthorityRotation } from './authority-rotation.ts';
import { withBackup } from './mending.ts';
import { authorityIn } from './shared-authority.ts';

export interface ClusterCredentialsOptions {
  readonly settings: Settings<'data-dir' | 'backup-dir'>;
  readonly store: Store;
  readonly clock: Clock;
  /** Returns whether other masters may take the authority from the store. */
  readonly isShared: () => boolean;
}

/**
 * Opens the credentials. A single master has the authority in its directory; masters that share an etcd read
 * the authority from etcd.
 */
export async function openClusterCredentials({
  settings,
  store,
  clock,
  isShared,
}: ClusterCredentialsOptions) {
  const directory = join(settings['data-dir'], 'pki');
  const shared = isShared() ? authorityIn(store, directory) : undefined;
  if (!shared) await requireFolder(settings, directory);
  const rotation = await AuthorityRotation.open(store, isShared);
  const credentials = await openCredentials(directory, () => clock.now(), shared, rotation.record).catch(
    async (error) => {
      throw shared ? error : await withBackup(error, settings);
    },
  );
  return { credentials, rotation, authority: replaceable(credentials.authorities.value.trusted) };
}

/**
 * Rejects if a master has run here and the folder of its authority is missing, for example because it was not
 * copied to a new disk: a new authority would invalidate all certificates of the cluster.
 */
async function requireFolder(
  settings: ClusterCredentialsOptions['settings'],
  directory: string,
): Promise<void> {
  if (existsSync(directory) || !existsSync(join(settings['data-dir'], 'admin.conf'))) return;
  const what = `${directory} is missing, but a master has run here`;
  const remedy = `restore the folder from a backup, or create an empty one (mkdir ${quoted(directory)})`;
  throw await withBackup(new DamagedAuthorityError(what, remedy), settings);
}

export interface FollowOptions {
  readonly credentials: Credentials;
  readonly rotation: AuthorityRotation;
  /** Certificates (PEM) that this master and its clients trust. */
  readonly authority: Replaceable<string>;
  readonly certificateManager: CertificateManager;
  readonly log: Logger;
}

/**
 * Follows changes of the authorities: issues certificates again, and changes the trust. The former authority
 * is trusted until the API server has a certificate of the next authority. The next authority is trusted
 * before it signs anything.
 */
export function followAuthorities(options: FollowOptions): void {
  let following = Promise.resolve();
  options.credentials.authorities.onChange(() => {
    following = following.then(() => follow(options));
  });
}

/** Never rejects. */
async function follow(options: FollowOptions): Promise<void> {
  const { credentials, rotation, certificateManager, log } = options;
  if (rotation.record.value?.phase !== 'finish') trust(options);
  try {
    await credentials.adopt();
  } catch (error) {
    log.error('the authority could not be stored', { error: errorMessage(error) });
  }
  await certificateManager.renewAll(log);
  trust(options);
}

function trust({ credentials, authority }: FollowOptions): void {
  const { trusted } = credentials.authorities.value;
  if (trusted !== authority.value) authority.replace(trusted);
}
