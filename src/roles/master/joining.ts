/** The first start of a further master: it asks a master of the cluster to add it to the members of etcd. */
import { access, mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { askToJoin } from '../../masters/join-client.ts';
import type { JoinAnswer } from '../../masters/join-messages.ts';
import { untilAdmitted } from '../../masters/join-patience.ts';
import {
  type OwnMember,
  openPeerCredentials,
  readOwnMember,
  writeOwnMember,
} from '../../masters/member-folder.ts';
import { discoverAuthority } from '../../node-bootstrap/authority-discovery.ts';
import { authorityHash } from '../../pki/authority-hash.ts';
import { dataOf } from '../../storage/first-data.ts';
import type { PartSettings } from '../settings/setting-table.ts';
import { sharedValues } from './shared-settings.ts';

export interface JoiningOptions {
  readonly settings: PartSettings<'control plane'>;
  /** Name and URL of this master's member. */
  readonly name: string;
  readonly peerUrl: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Timeout of the discovery for a master that is a member already: the other masters may be starting at the
 * same time.
 */
const shortPatienceMs = 2_000;

/**
 * Resolves to this master's member of etcd; to undefined if this machine has, or begins, a cluster of its
 * own. A member that the cluster does not have any more joins anew, with its former data moved aside. Rejects
 * with one line if this machine cannot join.
 */
export async function ownMember(
  options: JoiningOptions,
  signal: AbortSignal,
): Promise<OwnMember | undefined> {
  const { settings, log } = options;
  const etcdDir = join(settings['data-dir'], 'etcd');
  const existing = await readOwnMember(etcdDir);
  const servers = settings.join;
  if (servers === undefined) return existing;
  const own = await ownAuthorityHash(settings['data-dir']);
  if (existing === undefined && (await isOfThisCluster(settings, etcdDir, own))) return undefined;
  const { token, 'ca-cert-hash': hash } = settings;
  if (existing && (token === undefined || hash === undefined)) return existing;
  const joining = { ...options, servers, ...requireToken(settings, own), etcdDir, existing };
  if (existing === undefined) return joinNow(joining, signal);
  try {
    return await joinNow(joining, signal);
  } catch (error) {
    signal.throwIfAborted();
    log.info('this master did not join again, and continues as the member that it already is', {
      reason: errorMessage(error),
    });
    return existing;
  }
}

type JoinSettings = JoiningOptions['settings'];

/**
 * Resolves to whether the directory has data of the cluster to join, and no member: a master that was
 * recovered, or restored, has begun the cluster anew. Rejects for data of another cluster.
 */
async function isOfThisCluster(
  settings: JoinSettings,
  etcdDir: string,
  own: string | undefined,
): Promise<boolean> {
  if (!(await isThere(dataOf(etcdDir)))) return false;
  if (own !== undefined && own === settings['ca-cert-hash']) return true;
  throw new Error(
    `there is a cluster in ${settings['data-dir']} already: run minik8s reset to remove it, or give another --data-dir`,
  );
}

/**
 * Throws if the token or the hash is missing, or if `own`, the hash of the authority here, is another one.
 */
function requireToken({ token, 'ca-cert-hash': hash, 'data-dir': dataDir }: JoinSettings, own?: string) {
  if (token === undefined || hash === undefined) {
    const missing = token === undefined ? 'token (MINIK8S_TOKEN)' : '--ca-cert-hash';
    throw new UsageError(
      `this machine is no master yet and no ${missing} is given: run minik8s token create --master on a master, and its output here`,
    );
  }
  if (own !== undefined && own !== hash)
    throw new Error(
      `${join(dataDir, 'pki')} holds the certificate authority ${own}, not ${hash}: run minik8s reset to leave that cluster, or give another --data-dir`,
    );
  return { token, hash };
}

interface JoinNow extends JoiningOptions {
  readonly servers: readonly string[];
  readonly token: string;
  readonly hash: string;
  readonly etcdDir: string;
  readonly existing: OwnMember | undefined;
}

async function joinNow(options: JoinNow, signal: AbortSignal): Promise<OwnMember> {
  const { servers, token, hash, existing, settings, name, peerUrl, clock, log } = options;
  const warn = (message: string) => log.warn(message);
  const patience = existing && { patienceMs: shortPatienceMs };
  const authority = await discoverAuthority({ servers, hash, clock, warn, ...patience }, signal);
  const earlier = existing && { clusterId: existing.clusterId, memberId: existing.memberId };
  const request = { name, peerUrl, settings: sharedValues(settings), ...(earlier && { earlier }) };
  const ask = () => askToJoin({ servers, authority, token, request, clock }, signal);
  const answer = await untilAdmitted(ask, { clock, log }, signal);
  if (answer.outcome === 'added') return begin(options, answer);
  if (existing === undefined)
    throw new Error('a master answered that this machine is a member, but it has no data: try again');
  // The members may have changed before this one has started for the first time.
  return { ...existing, name, initialCluster: answer.initialCluster };
}

/** Stores what the new member needs. A start that is interrupted before the end joins again. */
async function begin(
  { etcdDir, name, peerUrl, clock, log }: JoinNow,
  { authority, initialCluster, clusterId, memberId }: Extract<JoinAnswer, { outcome: 'added' }>,
): Promise<OwnMember> {
  if (await isThere(etcdDir)) {
    const aside = `${etcdDir}.before-join-${clock.now()}`;
    await rename(etcdDir, aside);
    log.warn('the former data of etcd are kept; delete them when you like', { directory: aside });
  }
  await mkdir(etcdDir, { recursive: true, mode: 0o700 });
  await openPeerCredentials(etcdDir, () => clock.now(), authority);
  const member = { name, peerUrl, clusterId, memberId, initialCluster };
  await writeOwnMember(etcdDir, member);
  log.info('this machine joins the masters', { master: name, peer: peerUrl });
  return member;
}

async function ownAuthorityHash(dataDir: string): Promise<string | undefined> {
  const path = join(dataDir, 'pki/ca.crt');
  return (await isThere(path)) ? authorityHash(await readFile(path, 'utf8')) : undefined;
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
