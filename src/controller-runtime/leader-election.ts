/**
 * Elects one leader among several processes by a Lease (client-go tools/leaderelection). A lease is judged by
 * how long ago this process saw it change, never by the times written in it, so clocks need not agree.
 *
 * `lead` gets a signal that aborts as soon as leadership is lost or can no longer be proved, which is
 * `renewDeadlineMs` after the last renewal was begun: before any other process may take the lease. A process
 * that was frozen detects the loss late. `lead` therefore also gets the number of its term, by which the
 * store can reject its writes (storage/term.ts). The lease is released only after `lead` has ended.
 * Candidates watch the lease and take it at once.
 */

import { type Lease, leaseResource } from '../api/coordination/v1/lease.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../apimachinery/status-error.ts';
import { onAbort } from '../base/abort.ts';
import { type Clock, pause, rfc3339Micro } from '../base/clock.ts';
import { keepDoing } from '../base/keep-doing.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Client, ResourceClient } from '../client/client.ts';
import { type ReflectorSink, runReflector } from '../client/reflector.ts';
import { notAfter } from '../client/resource-version.ts';

export interface LeaderElectionConfig {
  readonly namespace: string;
  readonly name: string;
  /** Name that is unique to this process, such as `<host>_<uuid>`. */
  readonly identity: string;
  /** Milliseconds that candidates wait after the last renewal that they observed; default 15 s. */
  readonly leaseDurationMs?: number;
  /**
   * Milliseconds that a leader continues without a renewal. Must be shorter than the lease duration; default
   * 10 s.
   */
  readonly renewDeadlineMs?: number;
  /** Milliseconds between renewals, and between attempts while the server does not answer; default 2 s. */
  readonly retryPeriodMs?: number;
}

export interface Leadership {
  /**
   * Number of the term: the resourceVersion of the lease when it was acquired. Later terms have greater
   * numbers, also with another holder. Unlike `leaseTransitions` it grows even if the lease is deleted and
   * created again.
   */
  readonly term: number;
  /** Ends the leadership in the same way as the loss of the lease. */
  readonly giveUp: (why: string) => void;
}

export interface LeaderElectionOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly config: LeaderElectionConfig;
  /** Work of the leader. Must end soon after its signal aborts. */
  readonly lead: (signal: AbortSignal, leadership: Leadership) => Promise<void>;
}

/** Competes for leadership, again after each loss, until the signal aborts; then releases the lease. */
export async function runLeaderElection(options: LeaderElectionOptions, signal: AbortSignal): Promise<void> {
  await new Elector(options, signal).run();
}

/**
 * Maximum delay of a candidate that sees a free lease, so that candidates do not request it at the same
 * moment.
 */
const spreadMs = 200;

type Attempt =
  | { readonly held: true; readonly term: number }
  | { readonly held: false; readonly why: string; readonly lost: boolean };

class Elector {
  readonly #options: LeaderElectionOptions;
  readonly #config: Required<LeaderElectionConfig>;
  readonly #signal: AbortSignal;
  readonly #leases: ResourceClient<Lease>;
  readonly #log: Logger;
  #observed: Lease | undefined;
  #observedAt = 0;
  /** Newest resourceVersion seen, either of the lease or of its deletion. */
  #version = '';
  /** Ends the wait for the lease. */
  #freed: (() => void) | undefined;
  /** Renewal that was begun last. */
  #renewal: Promise<unknown> = Promise.resolve();

  constructor(options: LeaderElectionOptions, signal: AbortSignal) {
    this.#options = options;
    this.#config = {
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
      ...options.config,
    };
    if (this.#config.renewDeadlineMs >= this.#config.leaseDurationMs) {
      throw new Error('leader election: the renew deadline must be shorter than the lease');
    }
    this.#signal = signal;
    this.#leases = options.client.resource(leaseResource);
    this.#log = options.log.named('leader-election');
  }

  async run(): Promise<void> {
    const watching = this.#watch();
    await keepDoing({ clock: this.#options.clock, signal: this.#signal }, () => this.#stand());
    await watching;
  }

  /**
   * Tries to acquire the lease, and leads as long as it is held. Returns the milliseconds until the next
   * attempt, which also follow a leadership, because the reason for its end may persist.
   */
  async #stand(): Promise<number> {
    const { clock, random } = this.#options;
    const { renewDeadlineMs, retryPeriodMs } = this.#config;
    const begun = clock.now();
    const attempt = await orAborted(this.#attempt(), this.#signal);
    // A late answer proves that this process had the lease, not that it still has it.
    const isProved = clock.now() < begun + renewDeadlineMs;
    if (attempt?.held && isProved) await this.#lead(begun, attempt.term);
    if (attempt && !attempt.held && attempt.lost) {
      await this.#untilFree();
      return random.next() * spreadMs;
    }
    // client-go waits up to 1.2 times longer, so that candidates do not collide.
    return retryPeriodMs * (1 + random.next() * 1.2);
  }

  #watch(): Promise<void> {
    const { clock, random } = this.#options;
    const { namespace, name } = this.#config;
    const sink: ReflectorSink<Lease> = {
      replace: ([lease]) => lease && this.#observe(lease),
      apply: ({ type, object }) => (type === 'DELETED' ? this.#deleted(object) : this.#observe(object)),
    };
    const scope = { namespace, fieldSelector: `metadata.name=${name}` };
    const options = { resource: this.#leases, scope, sink, clock, random, log: this.#log };
    return runReflector(options, this.#signal);
  }

  /** Waits until the lease has no holder or its holder has not renewed it in time. */
  async #untilFree(): Promise<void> {
    const { clock } = this.#options;
    const over = new AbortController();
    const unlink = onAbort(this.#signal, () => over.abort());
    this.#freed = () => over.abort();
    while (!over.signal.aborted && this.#observed?.spec.holderIdentity) {
      const left = this.#observedAt + this.#config.leaseDurationMs - clock.now();
      if (left <= 0) break;
      await pause(clock, left, over.signal);
    }
    this.#freed = undefined;
    unlink();
  }

  async #lead(acquiredAt: number, term: number): Promise<void> {
    const { name, identity } = this.#config;
    this.#log.info('became the leader', { lease: name, identity, term });
    const leading = new AbortController();
    const unlink = onAbort(this.#signal, () => leading.abort(this.#signal.reason));
    const work = this.#work(leading, term);
    const lost = await this.#renew(leading, acquiredAt);
    unlink();
    await work;
    if (lost) return;
    await this.#untilRenewed();
    await this.#release();
  }

  /**
   * Waits for a renewal in progress, which would make the release a conflict or acquire the lease again after
   * it. The wait ends after `retryPeriodMs`, in case the renewal hangs.
   */
  async #untilRenewed(): Promise<void> {
    const over = new AbortController();
    const patience = pause(this.#options.clock, this.#config.retryPeriodMs, over.signal);
    await Promise.race([this.#renewal, patience]);
    over.abort();
  }

  /** Runs `lead` and ends the leadership when it returns, including a return of its own accord. */
  async #work(leading: AbortController, term: number): Promise<void> {
    const giveUp = (why: string) => {
      if (leading.signal.aborted) return;
      this.#log.warn('giving up the leadership', { lease: this.#config.name, why });
      leading.abort(new DOMException(`leadership given up: ${why}`, 'AbortError'));
    };
    try {
      await this.#options.lead(leading.signal, { term, giveUp });
    } catch (error) {
      this.#log.error('the work of the leader failed', { error: errorMessage(error) });
    } finally {
      leading.abort(new DOMException('leading has ended', 'AbortError'));
    }
  }

  /** Renews the lease until `leading` aborts. Aborts `leading` and returns true if leadership is lost. */
  async #renew(leading: AbortController, acquiredAt: number): Promise<boolean> {
    const { clock } = this.#options;
    const { retryPeriodMs, renewDeadlineMs } = this.#config;
    let lost = false;
    const lose = (why: string) => {
      if (leading.signal.aborted) return;
      lost = true;
      this.#log.warn('lost the leadership', { lease: this.#config.name, why });
      leading.abort(new DOMException(`leadership lost: ${why}`, 'AbortError'));
    };
    const deadline = (since: number) =>
      clock.after(since + renewDeadlineMs - clock.now(), () =>
        lose('the lease could not be renewed in time'),
      );
    // The deadline is separate from the attempts, so that an attempt that hangs cannot outlive it.
    let timer = deadline(acquiredAt);
    const turns = { clock, signal: leading.signal, restMs: retryPeriodMs, restsFirst: true };
    await keepDoing(turns, async () => {
      const begun = clock.now();
      const renewal = this.#attempt();
      this.#renewal = renewal;
      const attempt = await orAborted(renewal, leading.signal);
      if (attempt?.held) {
        timer.cancel();
        timer = deadline(begun);
      } else if (attempt?.lost) lose(attempt.why);
    });
    timer.cancel();
    return lost;
  }

  /**
   * Acquires or renews the lease. Never rejects. `lost`: another process holds the lease, which ends a
   * leadership at once.
   */
  async #attempt(): Promise<Attempt> {
    try {
      return await this.#acquireOrRenew();
    } catch (error) {
      // Another process wrote first; the second attempt shows whether that process holds the lease.
      if (!isConflict(error) && !isAlreadyExists(error)) return this.#notHeld(error);
      if (this.#signal.aborted) return this.#notHeld(error);
    }
    try {
      return await this.#acquireOrRenew();
    } catch (error) {
      return this.#notHeld(error);
    }
  }

  #notHeld(error: unknown): Attempt {
    const why = errorMessage(error);
    this.#log.debug('the lease could not be written', { error: why });
    return { held: false, lost: false, why };
  }

  async #acquireOrRenew(): Promise<Attempt> {
    const { namespace, name, identity, leaseDurationMs } = this.#config;
    const { clock } = this.#options;
    const lease = await this.#read();
    if (!lease) {
      const spec = { ...this.#claim(), acquireTime: rfc3339Micro(clock.now()), leaseTransitions: 0 };
      const metadata = { namespace, name };
      const made = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec } as const;
      return this.#held(await this.#leases.create(made));
    }
    this.#observe(lease);
    const { holderIdentity: holder, leaseTransitions: transitions = 0, acquireTime } = lease.spec;
    const ours = holder === identity;
    if (holder && !ours && clock.now() < this.#observedAt + leaseDurationMs) {
      return { held: false, lost: true, why: `${holder} holds the lease` };
    }
    const spec = {
      ...lease.spec,
      ...this.#claim(),
      acquireTime: ours && acquireTime ? acquireTime : rfc3339Micro(clock.now()),
      leaseTransitions: ours ? transitions : transitions + 1,
    };
    return this.#held(await this.#leases.update({ ...lease, spec }));
  }

  #held(lease: Lease): Attempt {
    this.#observe(lease);
    return { held: true, term: Number(lease.metadata.resourceVersion) };
  }

  #claim() {
    const { identity, leaseDurationMs } = this.#config;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDurationMs / 1_000),
      renewTime: rfc3339Micro(this.#options.clock.now()),
    };
  }

  async #read(): Promise<Lease | undefined> {
    try {
      return await this.#leases.get(this.#config.name, this.#config.namespace);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /**
   * Records a version of the lease. A version may arrive twice and late, by a read and by the watch; only a
   * newer version is recorded.
   */
  #observe(lease: Lease): void {
    const { resourceVersion } = lease.metadata;
    if (notAfter(resourceVersion, this.#version)) return;
    this.#version = resourceVersion;
    this.#observed = lease;
    this.#observedAt = this.#options.clock.now();
    if (!lease.spec.holderIdentity) this.#freed?.();
  }

  #deleted({ metadata: { resourceVersion } }: Lease): void {
    if (notAfter(resourceVersion, this.#version)) return;
    this.#version = resourceVersion;
    this.#observed = undefined;
    this.#freed?.();
  }

  async #release(): Promise<void> {
    const lease = this.#observed;
    const { clock } = this.#options;
    if (!lease || lease.spec.holderIdentity !== this.#config.identity) return;
    const now = rfc3339Micro(clock.now());
    const spec = {
      ...lease.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: now,
      acquireTime: now,
    };
    try {
      await this.#leases.update({ ...lease, spec });
      this.#log.info('released the leadership', { lease: this.#config.name });
    } catch (error) {
      this.#log.warn('the lease could not be released; others wait until it expires', {
        error: errorMessage(error),
      });
    }
  }
}

/** Resolves to undefined if the signal aborts first; the later outcome of the promise is ignored. */
function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const unlink = onAbort(signal, () => resolve(undefined));
    promise.then(resolve, reject).finally(unlink);
  });
}
