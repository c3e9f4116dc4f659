/** The members as the plans need them: what etcd lists, and whether each answers. */
import { request } from 'node:https';
import { type Clock, sleep } from '../base/clock.ts';
import { errorMessage } from '../base/log.ts';
import type { KeyAndCertificate } from '../pki/x509.ts';
import type { EtcdMembership } from '../storage/etcd-members.ts';
import { type OwnMember, openPeerCredentials, peerLeaf } from './member-folder.ts';
import type { KnownMember } from './plan/member-changes.ts';

export interface PeerTls {
  /** PEM of the authority of etcd's peers. */
  readonly authority: string;
  readonly own: KeyAndCertificate;
  /** Clock of the time limit for an answer. */
  readonly clock: Clock;
}

/** Resolves to what a connection to the others needs; renews this member's certificate if it is due. */
export async function peerTlsOf(etcdDir: string, own: OwnMember, clock: Clock): Promise<PeerTls> {
  const credentials = await openPeerCredentials(etcdDir, () => clock.now());
  return { authority: credentials.authority.certificate, own: await credentials.leaf(peerLeaf(own)), clock };
}

const answerMs = 2_000;

/** Resolves to the members, and whether each answers. `tls` is undefined if there is only this one. */
export function knownMembers(
  { members, ownId }: EtcdMembership,
  tls: PeerTls | undefined,
): Promise<readonly KnownMember[]> {
  return Promise.all(
    members.map(async (member) => {
      const isOwn = member.id === ownId;
      return {
        ...member,
        isOwn,
        answers: isOwn || (tls !== undefined && (await answers(member.peerUrl, tls))),
      };
    }),
  );
}

/** Resolves to whether an etcd of these peers listens at the URL. */
export function answers(url: string, { authority, own, clock }: PeerTls): Promise<boolean> {
  return new Promise((resolve) => {
    if (!url.startsWith('https:')) return resolve(false);
    const asked = request(`${url}/version`, {
      ...{ ca: authority, cert: own.certificate, key: own.key, agent: false },
    });
    const limit = clock.after(answerMs, () => asked.destroy(new Error('no answer')));
    asked.once('close', () => limit.cancel());
    asked.once('error', () => resolve(false));
    asked.once('response', (response) => {
      resolve(response.statusCode === 200);
      response.resume();
    });
    asked.end();
  });
}

/** Timeout and interval in milliseconds: etcd changes its members once all have been connected for 5 s. */
const [healthyMs, retryMs] = [15_000, 500];

/** Repeats a change that etcd rejects because its members have not been connected for long enough. */
export async function onceHealthy<T>(clock: Clock, change: () => Promise<T>): Promise<T> {
  const deadline = clock.now() + healthyMs;
  for (;;) {
    try {
      return await change();
    } catch (error) {
      if (!/unhealthy cluster/.test(errorMessage(error)) || clock.now() >= deadline) throw error;
      await sleep(clock, retryMs);
    }
  }
}
