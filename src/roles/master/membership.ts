/**
 * The membership of a master with the embedded etcd. A single master becomes the first of several while it
 * runs, when another one joins: its etcd is opened to peers, and its controllers become candidates.
 */
import { unlessAborted } from '../../base/abort.ts';
import { addressKind } from '../../base/addresses.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { LaterShared } from '../../control-plane/run-controllers.ts';
import { grantJoin, JoinRefusedError, keepPromoting } from '../../masters/grant.ts';
import type { JoinAnswer, JoinRequest } from '../../masters/join-messages.ts';
import { LeaderContact } from '../../masters/leader-contact.ts';
import {
  etcdPeersOf,
  type OwnMember,
  openPeerCredentials,
  peerLeaf,
  writeOwnMember,
} from '../../masters/member-folder.ts';
import { initialCluster, planJoin } from '../../masters/plan/member-changes.ts';
import type { Credentials } from '../../pki/credentials.ts';
import type { KeyAndCertificate } from '../../pki/x509.ts';
import { type EtcdMember, type MembersRpc, openMembers } from '../../storage/etcd-members.ts';
import type { Store } from '../../storage/store.ts';
import { CertificateManager } from '../certificate-manager.ts';
import { requireFreePort } from '../preflight.ts';
import type { PartSettings } from '../settings/setting-table.ts';
import type { InsideEtcd } from './inside-etcd.ts';
import { publishAuthority } from './shared-authority.ts';
import { differences, publishSettings, sharedValues } from './shared-settings.ts';

export interface MembershipOptions {
  readonly settings: PartSettings<'control plane'>;
  readonly advertiseAddress: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** This member among several, with its certificate. */
interface Opened {
  readonly own: OwnMember;
  readonly credentials: Credentials;
}

export class Membership {
  readonly #options: MembershipOptions;
  readonly #inside: InsideEtcd;
  readonly #rpc: MembersRpc;
  readonly #contact: LeaderContact;
  readonly #begins = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  readonly #opened = Promise.withResolvers<Opened>();
  #member: Opened | undefined;
  /** Members as they were stored last. */
  #cluster = '';

  constructor(options: MembershipOptions, inside: InsideEtcd) {
    this.#options = options;
    this.#inside = inside;
    this.#rpc = openMembers(inside.socket, options.clock);
    this.#contact = new LeaderContact(this.#rpc, options.clock);
    this.#member = inside.member;
    if (inside.member) {
      this.#begins.abort();
      this.#opened.resolve(inside.member);
    }
  }

  /** True if other masters may write to the etcd of this one. Never becomes false again. */
  get isShared(): boolean {
    return this.#begins.signal.aborted;
  }

  /** Returns, in one line, why etcd cannot serve at the moment; undefined if it can. */
  trouble(): string | undefined {
    return this.#inside.etcd.trouble() ?? this.#contact.problem;
  }

  /** Value of the control plane's option of this name. */
  get sharesStore(): boolean | LaterShared {
    return this.isShared || { begins: this.#begins.signal, onEnded: this.#ended.resolve };
  }

  /** Adds a master. Rejects with JoinRefusedError if it may not join. One call at a time. */
  async grant(store: Store, authority: KeyAndCertificate, asked: JoinRequest): Promise<JoinAnswer> {
    const { clock, log, settings } = this.#options;
    const flags = differences(sharedValues(settings), asked.settings);
    if (flags !== undefined)
      throw new JoinRefusedError(`the masters run with ${flags}: use the same flags on the new one`);
    const { own, credentials } = this.#member ?? (await this.#open(store, authority, asked));
    const leaf = await credentials.leaf(peerLeaf(own));
    return grantJoin({ rpc: this.#rpc, authority: credentials.authority, own: leaf, clock, log }, asked);
  }

  /** Makes this master, which is alone, the first of several. */
  async #open(store: Store, authority: KeyAndCertificate, asked: JoinRequest): Promise<Opened> {
    const { settings, advertiseAddress, clock, log } = this.#options;
    const { etcd, directory, name, peerUrl } = this.#inside;
    await this.#requireRoom(asked);
    const credentials = await openPeerCredentials(directory, () => clock.now());
    await credentials.leaf(peerLeaf({ name, peerUrl }));
    await publishAuthority(store, authority);
    await publishSettings(store, settings);
    log.info('this master becomes the first of several', { master: name, peer: peerUrl });
    this.#begins.abort();
    await this.#ended.promise;
    const { clusterId, ownId: memberId } = await this.#rpc.list();
    await this.#rpc.update(memberId, peerUrl);
    const own = { name, peerUrl, clusterId, memberId, initialCluster: `${name}=${peerUrl}` };
    await writeOwnMember(directory, own);
    this.#member = { own, credentials };
    await etcd.openToPeers(etcdPeersOf(directory, own));
    log.info('etcd listens for other masters', { address: advertiseAddress });
    this.#opened.resolve(this.#member);
    return this.#member;
  }

  /**
   * Rejects with JoinRefusedError if other masters cannot reach this one, if the port for them is in use, or
   * if the plan refuses the request.
   */
  async #requireRoom(asked: JoinRequest): Promise<void> {
    const { settings, advertiseAddress } = this.#options;
    const { name, peerUrl } = this.#inside;
    if (addressKind(advertiseAddress) === 'loopback')
      throw new JoinRefusedError(
        `the first master is reached only at ${advertiseAddress}: start it with --node-ip or --bind-address of an address that the others reach`,
      );
    const own = { ...{ id: '0', name, peerUrl }, isLearner: false, isOwn: true, answers: true };
    const plan = planJoin([own], '0', { name: asked.name, peerUrl: asked.peerUrl });
    if (plan.kind === 'refuse') throw new JoinRefusedError(plan.why);
    await requireFreePort(advertiseAddress, settings['etcd-peer-port'], 'etcd-peer-port').catch((error) => {
      throw new JoinRefusedError(`the first master cannot listen for others: ${errorMessage(error)}`);
    });
  }

  /** Once there may be several masters: promotes learners, and renews this member's certificate. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    try {
      const { own, credentials } = await unlessAborted(signal, this.#opened.promise);
      await this.#correctUrl(own).catch((error) =>
        log.warn('the address of this master was not changed in etcd', { error: errorMessage(error) }),
      );
      const certificates = new CertificateManager(credentials);
      await certificates.leaf(peerLeaf(own));
      await Promise.all([
        keepPromoting(
          { rpc: this.#rpc, clock, log, onMembers: (members) => this.#keep(own, members) },
          signal,
        ),
        certificates.run({ clock, log }, signal),
        this.#contact.run(signal),
      ]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#rpc.close();
    }
  }

  /** Stores the list of members, for a recovery after the loss of the others. */
  async #keep(own: OwnMember, members: readonly EtcdMember[]): Promise<void> {
    if (!members.some(({ id }) => id === own.memberId)) return;
    const cluster = initialCluster(members, own);
    if (cluster === this.#cluster) return;
    await writeOwnMember(this.#inside.directory, { ...own, initialCluster: cluster });
    this.#cluster = cluster;
  }

  /** Corrects the member's URL in etcd: the address of this machine may have changed since the last start. */
  async #correctUrl({ peerUrl }: OwnMember): Promise<void> {
    const { members, ownId } = await this.#rpc.list(true);
    const listed = members.find(({ id }) => id === ownId);
    if (listed && listed.peerUrl !== peerUrl) await this.#rpc.update(ownId, peerUrl);
  }
}
