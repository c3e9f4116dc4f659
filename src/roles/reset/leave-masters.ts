/** A master of several leaves the others before its data are removed. */
import { join } from 'node:path';
import { type Clock, sleep } from '../../base/clock.ts';
import { errorMessage, silentLogger } from '../../base/log.ts';
import { etcdPeersOf, type OwnMember, otherMembersOf, readOwnMember } from '../../masters/member-folder.ts';
import { knownMembers, peerTlsOf } from '../../masters/members.ts';
import { planLeaving } from '../../masters/plan/member-changes.ts';
import { extractAsset } from '../../os/assets.ts';
import { startEmbeddedEtcd } from '../../storage/embedded-etcd.ts';
import { type EtcdMembership, type MembersRpc, openMembers } from '../../storage/etcd-members.ts';
import { etcdBinaryIn } from '../master/inside-etcd.ts';

/** Time within which a majority must answer, in milliseconds. */
const majorityMs = 30_000;
const retryMs = 300;

/**
 * Removes this master's member, with the help of the others: its etcd runs once more for that. Resolves to
 * false if there are no other masters. Rejects with one line if it cannot leave; the line names `force`, the
 * flag with which the removal continues.
 */
export async function leaveMasters(dataDir: string, clock: Clock, force: string): Promise<boolean> {
  const etcdDir = join(dataDir, 'etcd');
  const own = await readOwnMember(etcdDir);
  if (!own || otherMembersOf(own).length === 0) return false;
  const binary = etcdBinaryIn(dataDir);
  await extractAsset('etcd.zst', binary, 0o755);
  const tls = await peerTlsOf(etcdDir, own, clock);
  const etcd = await startEmbeddedEtcd({
    ...{ binary, earlierBinary: `${binary}-earlier`, dataDir: etcdDir, log: silentLogger, clock },
    ...{ peers: etcdPeersOf(etcdDir, own), signal: new AbortController().signal },
  });
  const rpc = openMembers((etcd.endpoints[0] ?? '').replace(/^unix:/, ''), clock);
  try {
    await untilLeft({ own, rpc, clock, trouble: () => etcd.trouble() }, async (membership) =>
      planLeaving(await knownMembers(membership, tls)),
    );
    return true;
  } catch (error) {
    throw new Error(
      `this master cannot leave the others (${errorMessage(error)}): start enough of them, or give ${force} and run minik8s masters remove ${own.name} on one of them`,
    );
  } finally {
    rpc.close();
    await etcd.stop();
  }
}

interface Leaving {
  readonly own: OwnMember;
  readonly rpc: MembersRpc;
  readonly clock: Clock;
  readonly trouble: () => string | undefined;
}

async function untilLeft(
  { own, rpc, clock, trouble }: Leaving,
  problemOf: (membership: EtcdMembership) => Promise<string | undefined>,
): Promise<void> {
  const deadline = clock.now() + majorityMs;
  // The others may have removed this member before, or its etcd may end before it has answered.
  const isRemoved = () => /was removed from the cluster/.test(trouble() ?? '');
  for (;;) {
    try {
      return await leaveOnce(own, rpc, problemOf);
    } catch (error) {
      if (isRemoved()) return;
      if (clock.now() >= deadline) throw error;
      await sleep(clock, retryMs);
    }
  }
}

async function leaveOnce(
  { memberId }: OwnMember,
  rpc: MembersRpc,
  problemOf: (membership: EtcdMembership) => Promise<string | undefined>,
): Promise<void> {
  const membership = await rpc.list();
  const problem = await problemOf(membership);
  if (problem !== undefined) throw new Error(problem);
  if (membership.members.some(({ id }) => id === memberId)) await rpc.remove(memberId);
}
