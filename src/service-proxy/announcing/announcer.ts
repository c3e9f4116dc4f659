/**
 * Answers in the local network for addresses of the pool, one node for each address: the one that holds the
 * Lease of the address. A holder renews its Leases each second; when it is silent for two, another node takes
 * over and announces that by gratuitous ARP. While the API server does not answer, a holder continues: either
 * no other node can take over, or the announcement of the node that did silences this one in the kernel.
 */
import { type Lease, leaseResource } from '../../api/coordination/v1/lease.ts';
import { nodeResource } from '../../api/core/v1/node/node.ts';
import {
  addressOfLease,
  poolLeaseNamespace,
  poolLeaseScope,
  serviceOfLease,
} from '../../api/core/v1/service/pool-lease.ts';
import { type Service, serviceResource } from '../../api/core/v1/service/service.ts';
import { type EndpointSlice, endpointSliceResource } from '../../api/discovery/v1/endpoint-slice.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { isConflict, isNotFound } from '../../apimachinery/status-error.ts';
import { unlessAborted } from '../../base/abort.ts';
import { sleep } from '../../base/clock.ts';
import { keepDoing, Wake } from '../../base/keep-doing.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import { rfc3339Micro } from '../../base/time.ts';
import type { Client } from '../../client/client.ts';
import type { Informer, InformerFactory, Lister } from '../../client/informer.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import type { RuleKeeper } from '../../os/rule-watch.ts';
import { bySlice } from '../proxier.ts';
import { fixedChains, type HeldAddress } from './announcement-rules.ts';
import { isCandidate, rankOf } from './candidates.ts';
import { Announcements, type AnnouncementsOptions } from './kernel.ts';
import { heldBy, holderOf, isFirst, type LeaseStep, planLease } from './lease-plan.ts';

export interface AnnouncerOptions extends AnnouncementsOptions {
  readonly client: Client;
  /** Informers of Services and EndpointSlices, which the caller starts. */
  readonly informers: InformerFactory;
  /** Informers of the metadata of Nodes, which the caller starts. */
  readonly nodeInformers: InformerFactory;
  /** Informers of the Leases of addresses: an older master does not let nodes read them. */
  readonly leaseInformers: InformerFactory;
  readonly events: Pick<EventRecorder, 'event'>;
  /** Reports rules that another program has deleted; undefined where they are not watched. */
  readonly rules: RuleKeeper | undefined;
  readonly nodeName: string;
  readonly log: Logger;
}

/** Milliseconds between confirmations in the kernel. */
const confirmEveryMs = 700;
/** Milliseconds after which the kernel no longer answers without a confirmation. */
const confirmMs = 2000;
/** The same for a cluster of one node: no other node takes over while the agent restarts. */
const aloneConfirmMs = 60_000;
const conflictMs = 30_000;
const retryMs = 1000;
const handOverMs = 1000;
/** Milliseconds for which an address is announced with each renewal. */
const newMs = 10_000;

/** Another machine with an address of a load balancer. */
export interface RivalMachine {
  readonly address: string;
  /** Its hardware address. */
  readonly machine: string;
  /** Key of the Service with the address. */
  readonly service: string;
}

interface Seen {
  readonly lease: Lease;
  /** Time at which this node saw its holder or its renewal change. */
  readonly at: number;
}

export class Announcer {
  readonly #options: AnnouncerOptions;
  readonly #kernel: Announcements;
  readonly #services: Lister<Service>;
  readonly #slices: Lister<EndpointSlice>;
  readonly #nodes: Informer<KubeObject>;
  readonly #leases: Informer<Lease>;
  readonly #seen = new Map<string, Seen>();
  readonly #held = new Map<string, HeldAddress>();
  /** Times of the first announcements of held addresses. */
  readonly #announcedAt = new Map<string, number>();
  /** Addresses with a request that runs. */
  readonly #busy = new Set<string>();
  /** Addresses of other machines: the machine, and the time until which this node does not try again. */
  readonly #blocked = new Map<string, { readonly owner: string; readonly until: number }>();
  readonly #wake = new Wake();
  readonly #confirmWake = new Wake();
  /** The round that runs; never rejects. */
  #round: Promise<unknown> = Promise.resolve();
  #isPrepared = false;

  constructor(options: AnnouncerOptions) {
    const { informers, nodeInformers, leaseInformers } = options;
    this.#options = options;
    this.#kernel = new Announcements(options);
    this.#services = informers.informerFor(serviceResource).lister;
    this.#slices = informers.informerFor(endpointSliceResource).lister;
    this.#nodes = nodeInformers.informerFor<KubeObject>({ ...nodeResource, part: 'metadata' });
    this.#leases = leaseInformers.informerFor(leaseResource, poolLeaseScope);
    const wake = () => this.#wake.call();
    const handler = { onAdd: wake, onUpdate: wake, onDelete: wake };
    informers.informerFor(serviceResource).addEventHandler(handler);
    informers.informerFor(endpointSliceResource).addEventHandler(handler);
    this.#nodes.addEventHandler(handler);
    this.#leases.addEventHandler({
      onAdd: (lease) => this.#saw(lease),
      onUpdate: (lease) => this.#saw(lease),
      onDelete: (lease) => this.#gone(addressOfLease(lease)),
    });
    options.rules?.keep({
      what: 'announced addresses',
      owns: (chain) => this.#isPrepared && fixedChains.has(chain),
      restore: () => {
        this.#kernel.doubtTables();
        this.#confirmWake.call();
      },
    });
  }

  /** Runs until the signal aborts; the informers of Services and EndpointSlices have synced. */
  async run(signal: AbortSignal): Promise<void> {
    const { leaseInformers, clock } = this.#options;
    try {
      await leaseInformers.start(signal);
      await unlessAborted(signal, this.#nodes.synced);
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    const shared = { clock, signal, restMs: retryMs };
    await Promise.all([
      keepDoing({ ...shared, wake: this.#wake, onError: this.#report }, () => this.#look()),
      keepDoing({ ...shared, wake: this.#confirmWake, onError: this.#report }, () => this.#confirm()),
    ]);
    await leaseInformers.stopped();
    await this.#handOver();
  }

  /** Resolves to other machines of the local network with addresses of load balancers. */
  async rivals(): Promise<readonly RivalMachine[]> {
    const blocking = [...this.#blocked].map(([address, { owner }]) => ({ address, machine: owner }));
    const found = this.#held.size === 0 ? [] : await this.#kernel.rivals();
    return [...blocking, ...found].flatMap(({ address, machine }) => {
      const lease = this.#seen.get(address)?.lease;
      return lease ? [{ address, machine, service: serviceOfLease(lease) }] : [];
    });
  }

  readonly #report = (error: unknown, { isNew }: { readonly isNew: boolean }): void => {
    if (!isNew) return;
    const message = 'addresses of load balancers are not announced by this node';
    this.#options.log.error(message, { error: errorMessage(error) });
  };

  /** Records a state of a Lease, from a watch or from the answer of a write, whichever is newer. */
  #saw(lease: Lease): void {
    const address = addressOfLease(lease);
    const before = this.#seen.get(address);
    if (before && versionOf(before.lease) > versionOf(lease)) return;
    const isSame =
      before?.lease.spec.renewTime === lease.spec.renewTime &&
      before &&
      holderOf(before.lease) === holderOf(lease);
    this.#seen.set(address, { lease, at: isSame ? before.at : this.#options.clock.now() });
    if (holderOf(lease) !== this.#options.nodeName) this.#drop(address);
    this.#wake.call();
  }

  #gone(address: string): void {
    this.#seen.delete(address);
    this.#drop(address);
    this.#wake.call();
  }

  #drop(address: string): void {
    this.#announcedAt.delete(address);
    if (this.#held.delete(address)) this.#confirmWake.call();
  }

  /** Makes the step of each Lease; resolves to the milliseconds until the next one is due. */
  async #look(): Promise<number> {
    if (this.#seen.size === 0) return Number.POSITIVE_INFINITY;
    if (!this.#isPrepared) {
      const { nodeName } = this.#options;
      const own = [...this.#seen].filter(([, { lease }]) => holderOf(lease) === nodeName);
      await this.#kernel.prepare(own.map(([address]) => address));
      this.#isPrepared = true;
      for (const [address] of own) await this.#hold(address);
    }
    let next = Number.POSITIVE_INFINITY;
    for (const [address, seen] of this.#seen) {
      if (this.#busy.has(address)) continue;
      const step = this.#stepOf(address, seen);
      if (step.step === 'wait') next = Math.min(next, step.ms);
      else void this.#make(address, seen, step.step);
    }
    return next;
  }

  #stepOf(address: string, { lease, at }: Seen): LeaseStep {
    const { clock, nodeName } = this.#options;
    const now = clock.now();
    const blockedMs = (this.#blocked.get(address)?.until ?? 0) - now;
    if (blockedMs > 0) return { step: 'wait', ms: blockedMs };
    const holder = holderOf(lease);
    const others = this.#nodes.lister.list().map(({ metadata }) => metadata.name);
    const rivals = others.filter((name) => name !== holder);
    return planLease({
      node: nodeName,
      lease,
      age: now - at,
      isCandidate: this.#mayHold(address, lease),
      rank: rankOf(address, nodeName, rivals),
    });
  }

  #mayHold(address: string, lease: Lease): boolean {
    const key = serviceOfLease(lease);
    return isCandidate({
      address,
      service: this.#services.get(key),
      slices: this.#slices.byIndex(bySlice, key),
      node: this.#nodes.lister.get(this.#options.nodeName),
    });
  }

  async #make(address: string, seen: Seen, step: 'acquire' | 'renew' | 'release'): Promise<void> {
    this.#busy.add(address);
    try {
      if (step === 'release') this.#drop(address);
      if (step === 'acquire') await this.#acquire(address, seen);
      else await this.#write(seen.lease, step === 'renew');
      if (step === 'renew') await this.#keepAnnounced(address);
    } catch (error) {
      await this.#failed(address, seen, error);
    } finally {
      this.#busy.delete(address);
      this.#wake.call();
    }
  }

  /**
   * Takes a Lease that no node renews. The Lease is read first, since a watch may be behind. The owner of the
   * address is looked for only at first: later the address is known to be free.
   */
  async #acquire(address: string, seen: Seen): Promise<void> {
    const { client, nodeName } = this.#options;
    const current = await client.resource(leaseResource).get(seen.lease.metadata.name, poolLeaseNamespace);
    this.#saw(current);
    if (versionOf(current) !== versionOf(seen.lease)) return;
    const link = await this.#kernel.linkOf(address);
    if (isFirst(current) && (await this.#isTaken(address, link, current))) return;
    await this.#write(current, true);
    const held = this.#seen.get(address);
    if (held && holderOf(held.lease) === nodeName) await this.#hold(address);
  }

  async #isTaken(address: string, link: string, lease: Lease): Promise<boolean> {
    const { client, clock, nodeName } = this.#options;
    const owner = await this.#kernel.ownerOf(address, link);
    if (owner === undefined) return false;
    // Another node may have taken the Lease meanwhile, and it is the one that answers.
    const current = await client.resource(leaseResource).get(lease.metadata.name, poolLeaseNamespace);
    this.#saw(current);
    if (!isFirst(current)) return true;
    this.#blocked.set(address, { owner, until: clock.now() + conflictMs });
    const message = `another machine (${owner}) on ${link} of node ${nodeName} has the address ${address}: give the Service another address, or take it from the machine`;
    this.#say(lease, 'Warning', 'AddressInUse', message);
    return true;
  }

  async #hold(address: string): Promise<void> {
    const { nodeName } = this.#options;
    const seen = this.#seen.get(address);
    if (!seen || !this.#mayHold(address, seen.lease)) return;
    const held = { address, link: await this.#kernel.linkOf(address) };
    this.#held.set(address, held);
    this.#blocked.delete(address);
    await this.#confirm();
    await this.#kernel.announce(held);
    this.#confirmWake.call();
    if (!this.#held.has(address)) return;
    this.#announcedAt.set(address, this.#options.clock.now());
    const message = `node ${nodeName} answers for ${address} on ${held.link}`;
    this.#say(seen.lease, 'Normal', 'AddressAnnounced', message);
  }

  /**
   * Announces an address again while it is new. A first announcement may have failed, and the kernel of a
   * former holder whose agent has died may announce the address once more, after this node.
   */
  async #keepAnnounced(address: string): Promise<void> {
    const held = this.#held.get(address);
    const since = this.#announcedAt.get(address);
    if (!held || since === undefined) return this.#hold(address);
    if (this.#options.clock.now() - since < newMs) await this.#kernel.announce(held);
  }

  #say(lease: Lease, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const service = this.#services.get(serviceOfLease(lease));
    if (service) this.#options.events.event(service, type, reason, message);
  }

  /** Renews the Lease, or releases it. */
  async #write(lease: Lease, isHeld: boolean): Promise<void> {
    const { client, clock, nodeName } = this.#options;
    const next = heldBy(lease, isHeld ? nodeName : undefined, rfc3339Micro(clock.now()));
    this.#saw(await client.resource(leaseResource).update(next));
  }

  async #failed(address: string, seen: Seen, error: unknown): Promise<void> {
    const { client, clock, log } = this.#options;
    if (isNotFound(error)) return this.#gone(address);
    const leases = client.resource(leaseResource);
    if (isConflict(error)) {
      await leases.get(seen.lease.metadata.name, poolLeaseNamespace).then(
        (lease) => this.#saw(lease),
        () => undefined,
      );
      return;
    }
    log.warn('the Lease of an address was not written', { address, error: errorMessage(error) });
    // Without an API server no holder could have renewed its Lease: its silence begins anew.
    const now = this.#seen.get(address);
    if (now) this.#seen.set(address, { ...now, at: clock.now() });
  }

  /** Brings the held addresses to the kernel, one round at a time. */
  #confirm(): Promise<number> {
    const round = this.#round.then(() => this.#confirmOnce());
    this.#round = round.catch(() => undefined);
    return round;
  }

  async #confirmOnce(): Promise<number> {
    const held = [...this.#held.values()];
    if (this.#isPrepared) await this.#kernel.confirm(held, this.#isAlone() ? aloneConfirmMs : confirmMs);
    return held.length > 0 ? confirmEveryMs : Number.POSITIVE_INFINITY;
  }

  #isAlone = (): boolean => this.#nodes.lister.list().length <= 1;

  /** Releases the Leases, for another node to take over at once. The kernel answers until then. */
  async #handOver(): Promise<void> {
    if (this.#isAlone()) return;
    const held = [...this.#held.keys()].flatMap((address) => this.#seen.get(address) ?? []);
    const written = Promise.allSettled(held.map(({ lease }) => this.#write(lease, false)));
    await Promise.race([written, sleep(this.#options.clock, handOverMs)]);
  }
}

const versionOf = ({ metadata }: Lease): number => Number(metadata.resourceVersion);
