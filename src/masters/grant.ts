/** Adds a master that asks to join to the members of etcd, and lets it vote once it has caught up. */
import type { Clock } from '../base/clock.ts';
import { keepDoing } from '../base/keep-doing.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { KeyAndCertificate } from '../pki/x509.ts';
import type { EtcdMember, MembersRpc } from '../storage/etcd-members.ts';
import type { JoinAnswer, JoinRequest } from './join-messages.ts';
import { knownMembers, onceHealthy, type PeerTls } from './members.ts';
import { initialCluster, planJoin } from './plan/member-changes.ts';

/** A request that is rejected, with one line that says what to do. Nothing was changed. */
export class JoinRefusedError extends Error {
  override readonly name = 'JoinRefusedError';
}

/** A request that may be granted in a moment, without anybody's help. Nothing was changed. */
export class JoinBusyError extends Error {
  override readonly name = 'JoinBusyError';
}

export interface GrantOptions {
  readonly rpc: MembersRpc;
  readonly clock: Clock;
  readonly authority: KeyAndCertificate;
  readonly own: KeyAndCertificate;
  readonly log: Logger;
}

/** Rejects with JoinRefusedError or JoinBusyError, and with GrpcError if there is no majority. */
export async function grantJoin(
  { rpc, authority, own, clock, log }: GrantOptions,
  asked: JoinRequest,
): Promise<JoinAnswer> {
  const tls: PeerTls = { authority: authority.certificate, own, clock };
  const membership = await rpc.list();
  const { clusterId } = membership;
  const plan = planJoin(await knownMembers(membership, tls), clusterId, asked);
  if (plan.kind === 'refuse') throw new JoinRefusedError(plan.why);
  if (plan.kind === 'wait') throw new JoinBusyError(plan.why);
  if (plan.kind === 'is-member') {
    const member = { memberId: plan.memberId, name: asked.name };
    return { outcome: 'is-member', initialCluster: initialCluster(membership.members, member) };
  }
  for (const id of plan.replaced) await onceHealthy(clock, () => rpc.remove(id));
  const { members } = await onceHealthy(clock, () => rpc.addLearner(asked.peerUrl)).catch(busyWithLearner);
  const added = members.find(({ peerUrl }) => peerUrl === asked.peerUrl);
  if (!added) throw new Error('etcd did not list the member that it has added');
  log.info('a master joins', { master: asked.name, peer: asked.peerUrl });
  const memberId = added.id;
  return {
    ...{ outcome: 'added', clusterId, memberId, authority },
    initialCluster: initialCluster(members, { memberId, name: asked.name }),
  };
}

/** etcd adds one learner at a time; another master may have added one meanwhile. */
function busyWithLearner(error: unknown): never {
  if (!errorMessage(error).includes('too many learner members')) throw error;
  throw new JoinBusyError('another master is joining at the moment: try again');
}

const checkMs = 1_000;

export interface PromotionOptions {
  readonly rpc: MembersRpc;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with the members at each check. */
  readonly onMembers: (members: readonly EtcdMember[]) => Promise<void>;
}

/** Lets each learner vote once it has caught up. Runs on every master, until the signal aborts. */
export async function keepPromoting(
  { rpc, clock, log, onMembers }: PromotionOptions,
  signal: AbortSignal,
): Promise<void> {
  const ignore = (error: unknown) =>
    log.debug('the members of etcd could not be read', { error: errorMessage(error) });
  await keepDoing({ clock, signal, restMs: checkMs, onError: ignore }, async () => {
    const { members } = await rpc.list(true);
    await onMembers(members);
    for (const { id, name, isLearner } of members) {
      if (!isLearner || name === '') continue;
      try {
        await rpc.promote(id);
        log.info('a master has caught up, and votes now', { master: name });
      } catch (error) {
        log.debug('a master has not caught up yet', { master: name, error: errorMessage(error) });
      }
    }
  });
}
