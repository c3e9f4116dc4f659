/**
 * Writes pods' statuses: only changes, only the newest status, and one write per pod at a time. A change of
 * readiness or the end of a pod is written at once; other changes are delayed briefly, so that a pod that
 * starts in 100 ms costs one write and not three.
 */

import { isTerminalPhase, podReady } from '../../api/core/v1/pod/conditions.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import type { PodStatus } from '../../api/core/v1/types.gen.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import type { Condition } from '../../apimachinery/schema.ts';
import { isConflict, isNotFound } from '../../apimachinery/status-error.ts';
import { Backoff } from '../../base/backoff.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { errorMessage, type Logger } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import { notAfter } from '../../client/resource-version.ts';
import { isOwnCondition } from './plan/pod-conditions.ts';

const coalesceMs = 250;
const retry = { initialMs: 500, maxMs: 10_000 };

interface Entry {
  readonly pod: Pod;
  wanted: PodStatus;
  /** The status that the API server is known to have. */
  written: PodStatus | undefined;
  /** The newest resourceVersion of the API server's copy that is known here. */
  version: string;
  /** The pod as changed by another writer that set the opposite readiness during a write of this agent. */
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

  /** Sets the wanted status. The API server's copy is known from `pod` at first, then from the writes. */
  set(pod: Pod, all: PodStatus): void {
    const { uid } = pod.metadata;
    const entry = this.#entries.get(uid) ?? this.#add(pod);
    const status = ownPart(all);
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
   * Passes the API server's copy as it changes. While this node was unreachable, the control plane
   * (node-lifecycle) marked its pods as not ready: then the server's copy differs from what was written here,
   * and the next `set` writes again.
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
    entry.written = ownPart(pod.status ?? {});
  }

  /**
   * Resolves when the API server has the newest status, or the pod no longer exists; rejects when the write
   * failed.
   */
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

  /** Writes the pending statuses once, and stops. */
  async close(): Promise<void> {
    this.#closed = true;
    const entries = [...this.#entries];
    for (const [, entry] of entries) entry.timer?.cancel();
    await Promise.allSettled(entries.map(([uid]) => this.flush(uid)));
  }

  #add(pod: Pod): Entry {
    const written = pod.status && ownPart(pod.status);
    const entry: Entry = {
      pod,
      wanted: written ?? {},
      written,
      version: pod.metadata.resourceVersion,
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

  /** Starts a write unless one is in progress, which then continues with the newest status. */
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
    const status = statusPatch(entry.written ?? {}, wanted);
    try {
      if (Object.keys(status).length > 0) {
        const body = { metadata: { uid }, status };
        const pod = await this.#client
          .resource(podResource)
          .patch(name, namespace, 'strategic', body, 'status');
        entry.version = pod.metadata.resourceVersion;
      }
    } catch (error) {
      // The pod has been deleted, or another one has its name: nothing is left to report.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
    entry.written = wanted;
    entry.backoff.reset();
    const { contradicted } = entry;
    if (contradicted && !notAfter(contradicted.metadata.resourceVersion, entry.version))
      this.#contradict(entry, contradicted);
    entry.contradicted = undefined;
  }
}

/**
 * Returns the status without the conditions of other components, which stay unchanged in the API server's
 * copy.
 */
function ownPart(status: PodStatus): PodStatus {
  const { conditions, ...rest } = status;
  const own = conditions?.filter(isOwnCondition) ?? [];
  return own.length > 0 ? { ...rest, conditions: own } : rest;
}

/**
 * Returns a strategic merge patch: the whole new value of each changed field, null for a removed one. Only
 * changed conditions are included, so that a condition that another component sets at the same time is not
 * lost.
 */
function statusPatch(before: PodStatus, after: PodStatus): Record<string, unknown> {
  const patch = fieldsPatch(before as Record<string, unknown>, after);
  const conditions = conditionsPatch(before.conditions ?? [], after.conditions ?? []);
  if (conditions.length > 0) patch.conditions = conditions;
  else delete patch.conditions;
  return patch;
}

function fieldsPatch(old: Record<string, unknown>, after: PodStatus): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(after)) {
    if (deepEqual(old[key], value)) continue;
    patch[key] = mergedByKey.has(key) ? [{ $patch: 'replace' }, ...(value as unknown[])] : value;
  }
  for (const key of Object.keys(old)) if (!(key in after)) patch[key] = null;
  return patch;
}

/** Lists whose items a strategic merge keeps when they are not in the patch. */
const mergedByKey: ReadonlySet<string> = new Set(['hostIPs', 'podIPs']);

function conditionsPatch(before: readonly Condition[], after: readonly Condition[]): object[] {
  const old = new Map(before.map((condition) => [condition.type, condition]));
  const changed = after.filter((condition) => !deepEqual(condition, old.get(condition.type)));
  const gone = before.filter(({ type }) => !after.some((condition) => condition.type === type));
  return [
    // A field that is not in the patch keeps its value.
    ...changed.map((condition) => ({ ...nulls(old.get(condition.type) ?? {}), ...condition })),
    ...gone.map(({ type }) => ({ type, $patch: 'delete' })),
  ];
}

const nulls = (object: object) => Object.fromEntries(Object.keys(object).map((key) => [key, null]));
