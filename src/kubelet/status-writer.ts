/**
 * Writes pods' statuses: only what changed, only the newest, one write of a pod at a time. A change of readiness
 * or the end of a pod goes out at once; the rest waits a moment, so that a pod that starts in 100 ms costs one
 * write and not three.
 */

import { type Pod, podResource } from '../api/core/v1/pod.ts';
import { isTerminalPhase, podReady } from '../api/core/v1/pod-conditions.ts';
import type { PodStatus } from '../api/core/v1/types.gen.ts';
import { deepEqual } from '../apimachinery/equality.ts';
import { isConflict, isNotFound } from '../apimachinery/status-error.ts';
import { Backoff } from '../base/backoff.ts';
import type { Clock, Timer } from '../base/clock.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { Client } from '../client/client.ts';
import { notAfter } from '../client/resource-version.ts';
import { ownConditions } from './plan/pod-conditions.ts';

const coalesceMs = 250;
const retry = { initialMs: 500, maxMs: 10_000 };

interface Entry {
  readonly pod: Pod;
  wanted: PodStatus;
  /** What the server is known to have. */
  written: PodStatus | undefined;
  /** The newest copy of the server's that is known here. */
  version: string;
  /** The newest copy of the server's whose conditions of others `wanted` has. */
  basis: string;
  /** Another writer set the opposite readiness while a write of ours was under way. */
  contradicted: Pod | undefined;
  writing: Promise<void> | undefined;
  timer: Timer | undefined;
  readonly backoff: Backoff;
}

export class StatusWriter {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #entries = new Map<string, Entry>();
  #closed = false;

  constructor(client: Client, clock: Clock, log: Logger) {
    this.#client = client;
    this.#clock = clock;
    this.#log = log;
  }

  /** What is known of the server's copy comes from `pod` at first, then from the writes. */
  set(pod: Pod, status: PodStatus): void {
    const { uid } = pod.metadata;
    const entry = this.#entries.get(uid) ?? this.#add(pod);
    if (!notAfter(pod.metadata.resourceVersion, entry.basis)) entry.basis = pod.metadata.resourceVersion;
    const same = deepEqual(entry.wanted, status);
    if (same && (entry.writing || entry.timer || deepEqual(entry.written, status))) return;
    entry.wanted = status;
    entry.backoff.reset();
    const urgent =
      podReady({ status }) !== podReady({ status: entry.written }) ||
      isTerminalPhase(status.phase) ||
      pod.metadata.deletionTimestamp !== undefined;
    if (urgent) this.#write(uid, entry);
    else if (!entry.timer && !entry.writing) this.#writeAfter(uid, entry, coalesceMs);
  }

  /**
   * The server's copy as it changes. While nothing was heard of this node its pods were marked as not ready (the
   * control plane's node-lifecycle): then what is there is not what was written here, and the next `set` writes again.
   */
  observe(pod: Pod): void {
    const entry = this.#entries.get(pod.metadata.uid);
    if (!entry || notAfter(pod.metadata.resourceVersion, entry.version)) return;
    if (podReady(pod) === podReady({ status: entry.written })) return;
    if (entry.writing !== undefined) entry.contradicted = pod;
    else this.#contradict(entry, pod);
  }

  #contradict(entry: Entry, pod: Pod): void {
    entry.contradicted = undefined;
    entry.version = pod.metadata.resourceVersion;
    entry.written = pod.status ?? {};
  }

  /** Resolves when the newest status is with the server, or the pod is not there any more; rejects when it failed. */
  async flush(uid: string): Promise<void> {
    const entry = this.#entries.get(uid);
    if (!entry) return;
    await entry.writing;
    while (this.#entries.get(uid) === entry && !deepEqual(entry.wanted, entry.written)) {
      await this.#patch(uid, entry);
    }
  }

  forget(uid: string): void {
    this.#entries.get(uid)?.timer?.cancel();
    this.#entries.delete(uid);
  }

  /** Writes what waits, once, and stops. */
  async close(): Promise<void> {
    this.#closed = true;
    const entries = [...this.#entries];
    for (const [, entry] of entries) entry.timer?.cancel();
    await Promise.allSettled(entries.map(([uid]) => this.flush(uid)));
  }

  #add(pod: Pod): Entry {
    const written = pod.status;
    const entry: Entry = {
      pod,
      wanted: written ?? {},
      written,
      version: pod.metadata.resourceVersion,
      basis: pod.metadata.resourceVersion,
      contradicted: undefined,
      writing: undefined,
      timer: undefined,
      backoff: new Backoff(retry),
    };
    this.#entries.set(pod.metadata.uid, entry);
    return entry;
  }

  #writeAfter(uid: string, entry: Entry, ms: number): void {
    entry.timer?.cancel();
    entry.timer = this.#clock.after(ms, () => {
      entry.timer = undefined;
      this.#write(uid, entry);
    });
  }

  /** Starts writing unless a write is under way, which then goes on with the newest. */
  #write(uid: string, entry: Entry): void {
    if (entry.writing || this.#closed) return;
    entry.timer?.cancel();
    entry.timer = undefined;
    entry.writing = this.#writeNewest(uid, entry).finally(() => {
      entry.writing = undefined;
    });
  }

  async #writeNewest(uid: string, entry: Entry): Promise<void> {
    try {
      while (this.#entries.get(uid) === entry && !deepEqual(entry.wanted, entry.written)) {
        await this.#patch(uid, entry);
      }
    } catch (error) {
      const wait = entry.backoff.next();
      this.#log.warn('cannot write a pod status; trying again', {
        pod: `${entry.pod.metadata.namespace}/${entry.pod.metadata.name}`,
        error: errorMessage(error),
      });
      if (!this.#closed && this.#entries.get(uid) === entry) this.#writeAfter(uid, entry, wait);
    }
  }

  async #patch(uid: string, entry: Entry): Promise<void> {
    const { name, namespace = '' } = entry.pod.metadata;
    const { wanted } = entry;
    // Others set the conditions of its gates: of a list that one of them has changed meanwhile none may be lost.
    const shared = (entry.pod.spec.readinessGates ?? []).length > 0 && entry.basis !== '';
    const metadata = { uid, ...(shared && { resourceVersion: entry.basis }) };
    const body = { metadata, status: mergePatch(entry.written ?? {}, wanted) };
    try {
      const pod = await this.#client.resource(podResource).patch(name, namespace, 'merge', body, 'status');
      entry.version = pod.metadata.resourceVersion;
      entry.basis = entry.version;
    } catch (error) {
      if (shared && isConflict(error) && (await this.#rebase(uid, entry))) return;
      // The pod is deleted, or another has its name: nothing is left to report.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    entry.written = wanted;
    entry.backoff.reset();
    const { contradicted } = entry;
    if (contradicted && !notAfter(contradicted.metadata.resourceVersion, entry.version))
      this.#contradict(entry, contradicted);
    entry.contradicted = undefined;
  }

  /** Takes over what others have written meanwhile; false when this pod is not there any more. */
  async #rebase(uid: string, entry: Entry): Promise<boolean> {
    const { name, namespace = '' } = entry.pod.metadata;
    const { metadata, status = {} } = await this.#client.resource(podResource).get(name, namespace);
    if (metadata.uid !== uid) return false;
    entry.basis = metadata.resourceVersion;
    entry.written = status;
    const own = (entry.wanted.conditions ?? []).filter(({ type }) => ownConditions.has(type));
    const others = (status.conditions ?? []).filter(({ type }) => !ownConditions.has(type));
    entry.wanted = { ...entry.wanted, conditions: [...others, ...own] };
    return true;
  }
}

/** RFC 7386: the whole new value of each top-level field that changed, null for one that went. */
function mergePatch(before: PodStatus, after: PodStatus): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  const old = before as Record<string, unknown>;
  for (const [key, value] of Object.entries(after)) {
    if (!deepEqual(old[key], value)) patch[key] = value;
  }
  for (const key of Object.keys(old)) if (!(key in after)) patch[key] = null;
  return patch;
}
