/** Removes pods, all at once: by eviction, which disruption budgets may delay, or by deletion. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { isNotFound, StatusError } from '../../apimachinery/status-error.ts';
import { type Clock, sleep, type Timer } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import { goDuration } from '../../base/time.ts';
import { objectPath } from '../../client/resource-path.ts';
import { type Activity, beginWork } from '../../terminal/live-lines.ts';
import { overdueAt } from '../../views/drain-plan.ts';
import type { Cluster } from '../connection/cluster.ts';
import { type DryRun, dryRunSuffix } from '../flags/flags.ts';
import type { Io } from '../io.ts';
import { followAll } from '../objects/follow.ts';
import type { CollectionTarget } from '../objects/object-target.ts';
import { type Metadata, metadataOf, recordsAt, textAt } from '../objects/objects.ts';

export interface RemovalSettings {
  readonly evict: boolean;
  /** Undefined for each pod's own grace period. */
  readonly gracePeriodSeconds: number | undefined;
  /** Timeout in milliseconds; undefined for none. */
  readonly timeoutMs: number | undefined;
  /** Do not wait for pods whose deletionTimestamp is older than this; undefined to wait for all. */
  readonly overdueSeconds: number | undefined;
  readonly dryRun: DryRun;
}

/** Interval in milliseconds at which a rejected eviction is retried, as by kubectl. */
const retryMs = 5000;

interface Removal {
  readonly cluster: Cluster;
  readonly io: Io;
  readonly settings: RemovalSettings;
  readonly deadline: number;
  readonly presence: Presence;
  readonly pathOf: (pod: Metadata, subresource?: string) => string;
}

/**
 * Resolves when every pod is gone or its removal has failed, to the errors in kubectl's words. `collection`
 * contains the pods.
 */
export async function removePods(
  cluster: Cluster,
  io: Io,
  collection: CollectionTarget,
  pods: readonly JsonObject[],
  settings: RemovalSettings,
): Promise<readonly string[]> {
  if (pods.length === 0) return [];
  const all = pods.map(metadataOf);
  if (settings.dryRun === 'client') {
    for (const pod of all) io.out(`evicting pod ${pod.namespace}/${pod.name}${dryRunSuffix.client}\n`);
    return [];
  }
  const deadline = settings.timeoutMs ? io.clock.now() + settings.timeoutMs : Number.POSITIVE_INFINITY;
  const { clock } = io;
  const left = () => (settings.timeoutMs ? Math.max(1, deadline - clock.now()) : undefined);
  const presence = new Presence(
    (signal) => followAll(cluster, collection, { clock, timeoutMs: left(), signal }),
    clock,
    settings.overdueSeconds,
  );
  const pathOf = ({ name, namespace }: Metadata, subresource?: string) =>
    objectPath(collection.resource, name, namespace, subresource);
  const removal: Removal = { cluster, io, settings, deadline, presence, pathOf };
  if (!settings.evict) return deleteAll(removal, all);
  const results = await Promise.all(all.map((pod) => evict(removal, pod)));
  return results.filter((problem) => problem !== undefined);
}

/** Resolves to undefined when the pod is gone, or to the message of the error that occurred. */
async function evict(removal: Removal, pod: Metadata): Promise<string | undefined> {
  const { io, settings, deadline } = removal;
  using work = beginWork(io.progress, `pod/${pod.name}`);
  const who = `pods/${JSON.stringify(pod.name)} -n ${JSON.stringify(pod.namespace)}`;
  const { name, namespace } = pod;
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace },
    deleteOptions: deleteOptions(settings, pod),
  };
  for (;;) {
    io.out(`evicting pod ${namespace}/${name}${dryRunSuffix[settings.dryRun]}\n`);
    if (io.clock.now() >= deadline) return `error when evicting ${who}: ${globalTimeout(settings)}`;
    const { accepted, error } = await requestEviction(removal, pod, body);
    if (accepted) break;
    if (isGone(error)) return undefined;
    const failed = `error when evicting ${who}`;
    if (!isTooManyRequests(error)) return `${failed}: ${errorMessage(error)}`;
    work.say(evictionRefusal(error));
    io.err(`${failed} (will retry after 5s): ${errorMessage(error)}\n`);
    await sleep(io.clock, retryMs, io.signal);
  }
  if (settings.dryRun === 'server') return undefined;
  return await untilEvicted(removal, pod, work);
}

/**
 * Returns why an eviction is rejected, such as `waits: The disruption budget web needs 2 healthy pods and has
 * 2 currently`: the cause of the answer, which names the budget, or else its message.
 */
export function evictionRefusal(error: unknown): string {
  const details = error instanceof StatusError ? error.status.details : undefined;
  const [cause] = recordsAt(details, 'causes').map((one) => textAt(one, 'message'));
  return `waits: ${cause || errorMessage(error)}`;
}

/** Resolves to the server's error if the eviction is not accepted. Rejects if the user interrupted. */
async function requestEviction(
  { cluster, io, pathOf }: Removal,
  pod: Metadata,
  body: JsonObject,
): Promise<{ readonly accepted: boolean; readonly error?: unknown }> {
  try {
    await cluster.send('POST', pathOf(pod, 'eviction'), body);
    return { accepted: true };
  } catch (error) {
    if (io.signal.aborted) throw error;
    return { accepted: false, error };
  }
}

/** Resolves to undefined when an evicted pod is gone, or to the message of the error that occurred. */
async function untilEvicted(
  { io, settings, presence }: Removal,
  { name, namespace, uid }: Metadata,
  work: Activity,
): Promise<string | undefined> {
  work.say('stopping');
  const end = await presence.end(uid);
  if (end === 'late')
    return `error when waiting for pod ${JSON.stringify(name)} in namespace ${JSON.stringify(namespace)} to terminate: ${outOfTime}`;
  io.out(end === 'gone' ? `pod/${name} evicted\n` : skipping(name, settings));
  return undefined;
}

const globalTimeout = ({ timeoutMs = 0 }: RemovalSettings) =>
  `global timeout reached: ${goDuration(timeoutMs)}`;

const skipping = (name: string, { overdueSeconds }: RemovalSettings) =>
  `pod ${JSON.stringify(name)} has DeletionTimestamp older than ${overdueSeconds} seconds, skipping\n`;

async function deleteAll(removal: Removal, pods: readonly Metadata[]): Promise<readonly string[]> {
  const { io, settings, presence } = removal;
  for (const pod of pods) {
    const problem = await deletePod(removal, pod);
    if (problem !== undefined) return [problem];
  }
  if (settings.dryRun === 'server') return [];
  for (const pod of pods) {
    using work = beginWork(io.progress, `pod/${pod.name}`);
    work.say('stopping');
    const end = await presence.end(pod.uid);
    if (end === 'late') return [outOfTime];
    io.out(end === 'gone' ? `pod/${pod.name} deleted\n` : skipping(pod.name, settings));
  }
  return [];
}

/** Resolves to the error of a deletion; undefined if the pod is deleted or already gone. */
async function deletePod(
  { cluster, io, settings, pathOf }: Removal,
  pod: Metadata,
): Promise<string | undefined> {
  try {
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', ...deleteOptions(settings, pod) };
    await cluster.send('DELETE', pathOf(pod), body);
    return undefined;
  } catch (error) {
    if (io.signal.aborted) throw error;
    return isGone(error) ? undefined : errorMessage(error);
  }
}

const outOfTime = 'context deadline exceeded';

/** The uid restricts the deletion to the pod that was checked, if another pod has its name by now. */
const deleteOptions = ({ gracePeriodSeconds, dryRun }: RemovalSettings, { uid }: Metadata) => ({
  ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
  ...(dryRun === 'server' && { dryRun: ['All'] }),
  preconditions: { uid },
});

const isGone = (error: unknown) =>
  isNotFound(error) || (error instanceof StatusError && error.status.reason === 'Conflict');
const isTooManyRequests = (error: unknown) =>
  error instanceof StatusError && error.status.reason === 'TooManyRequests';

/** Result of waiting for a pod: the pod is gone, it is overdue, or the command's timeout is over. */
type End = 'gone' | 'overdue' | 'late';

/**
 * Yields the pods of a collection by uid, now and after every change, until the signal aborts or the timeout
 * is over.
 */
type States = (signal: AbortSignal) => AsyncGenerator<ReadonlyMap<string, JsonObject>>;

/** The existing pods of a collection, from one watch that lasts as long as any caller waits. */
class Presence {
  readonly #states: States;
  readonly #clock: Clock;
  readonly #overdueSeconds: number | undefined;
  readonly #waiting = new Map<string, (end: End) => void>();
  readonly #timers = new Map<string, Timer>();
  /** The pods as they were last seen. */
  #present: ReadonlyMap<string, JsonObject> | undefined;
  #reading: Promise<void> | undefined;
  #nobodyWaits = new AbortController();

  constructor(states: States, clock: Clock, overdueSeconds: number | undefined) {
    this.#states = states;
    this.#clock = clock;
    this.#overdueSeconds = overdueSeconds;
  }

  /** Resolves to the result of waiting for a pod of the collection; rejects when the watch fails. */
  async end(uid: string): Promise<End> {
    const { promise, resolve } = Promise.withResolvers<End>();
    this.#waiting.set(uid, resolve);
    // The pod may be gone already from the last state that the watch reported.
    if (this.#present) this.#look(this.#present);
    this.#reading ??= this.#read();
    return Promise.race([promise, this.#reading.then(() => promise)]);
  }

  async #read(): Promise<void> {
    try {
      while (this.#waiting.size > 0) await this.#readOnce();
    } finally {
      this.#reading = undefined;
      this.#present = undefined;
    }
  }

  async #readOnce(): Promise<void> {
    this.#nobodyWaits = new AbortController();
    const { signal } = this.#nobodyWaits;
    for await (const present of this.#states(signal)) {
      this.#present = present;
      this.#look(present);
      if (signal.aborted) return;
    }
    if (signal.aborted) return;
    for (const uid of this.#waiting.keys()) this.#settle(uid, 'late');
  }

  #look(present: ReadonlyMap<string, JsonObject>): void {
    for (const uid of this.#waiting.keys()) {
      const pod = present.get(uid);
      if (pod) this.#settleWhenOverdue(uid, pod);
      else this.#settle(uid, 'gone');
    }
  }

  #settleWhenOverdue(uid: string, pod: JsonObject): void {
    this.#timers.get(uid)?.cancel();
    if (this.#overdueSeconds === undefined) return;
    const at = overdueAt(pod, this.#overdueSeconds);
    if (at === undefined) return;
    const leftMs = Math.max(0, at - this.#clock.now());
    this.#timers.set(
      uid,
      this.#clock.after(leftMs, () => this.#settle(uid, 'overdue')),
    );
  }

  #settle(uid: string, end: End): void {
    this.#timers.get(uid)?.cancel();
    this.#waiting.get(uid)?.(end);
    this.#waiting.delete(uid);
    if (this.#waiting.size === 0) this.#nobodyWaits.abort();
  }
}
