/** Takes pods away, all at once: by eviction, which disruption budgets may hold up, or by deletion. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { isNotFound, StatusError } from '../apimachinery/status-error.ts';
import { sleep } from '../base/clock.ts';
import { errorMessage } from '../base/log.ts';
import { goDuration } from '../base/time.ts';
import { objectPath } from '../client/resource-path.ts';
import type { Cluster } from './cluster.ts';
import { type DryRun, dryRunSuffix } from './flags.ts';
import { followAll } from './follow.ts';
import type { Io } from './io.ts';
import { type Metadata, metadataOf } from './objects.ts';
import type { CollectionTarget } from './targets.ts';

export interface RemovalSettings {
  readonly evict: boolean;
  /** Undefined: each pod's own. */
  readonly gracePeriodSeconds: number | undefined;
  /** Undefined: without end. */
  readonly timeoutMs: number | undefined;
  readonly dryRun: DryRun;
}

/** kubectl's: how long a refused eviction waits for its next try. */
const retryMs = 5000;

interface Removal {
  readonly cluster: Cluster;
  readonly io: Io;
  readonly settings: RemovalSettings;
  readonly deadline: number;
  readonly presence: Presence;
  readonly pathOf: (pod: Metadata, subresource?: string) => string;
}

/** Resolves when all are gone or have failed, with what went wrong in kubectl's words. `collection` holds them. */
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
  const presence = new Presence(() => followAll(cluster, collection, { clock, timeoutMs: left() }));
  const pathOf = ({ name, namespace }: Metadata, subresource?: string) =>
    objectPath(collection.resource, name, namespace, subresource);
  const removal: Removal = { cluster, io, settings, deadline, presence, pathOf };
  if (!settings.evict) return deleteAll(removal, all);
  const results = await Promise.all(all.map((pod) => evict(removal, pod)));
  return results.filter((problem) => problem !== undefined);
}

/** Until the pod is gone; what went wrong otherwise. */
async function evict(removal: Removal, pod: Metadata): Promise<string | undefined> {
  const { cluster, io, settings, deadline } = removal;
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
    if (io.clock.now() >= deadline)
      return `error when evicting ${who}: global timeout reached: ${goDuration(settings.timeoutMs ?? 0)}`;
    try {
      await cluster.send('POST', removal.pathOf(pod, 'eviction'), body);
      break;
    } catch (error) {
      if (io.signal.aborted) throw error;
      if (isGone(error)) return undefined;
      const said = `error when evicting ${who}`;
      if (!isTooManyRequests(error)) return `${said}: ${errorMessage(error)}`;
      io.err(`${said} (will retry after 5s): ${errorMessage(error)}\n`);
      await sleep(io.clock, retryMs, io.signal);
    }
  }
  if (settings.dryRun === 'server') return undefined;
  if (!(await removal.presence.gone(pod.uid)))
    return `error when waiting for pod ${JSON.stringify(name)} in namespace ${JSON.stringify(namespace)} to terminate: ${outOfTime}`;
  io.out(`pod/${name} evicted\n`);
  return undefined;
}

async function deleteAll(
  { cluster, io, settings, presence, pathOf }: Removal,
  pods: readonly Metadata[],
): Promise<readonly string[]> {
  for (const pod of pods) {
    try {
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', ...deleteOptions(settings, pod) };
      await cluster.send('DELETE', pathOf(pod), body);
    } catch (error) {
      if (io.signal.aborted) throw error;
      if (!isGone(error)) return [errorMessage(error)];
    }
  }
  if (settings.dryRun === 'server') return [];
  for (const pod of pods) {
    if (!(await presence.gone(pod.uid))) return [outOfTime];
    io.out(`pod/${pod.name} deleted\n`);
  }
  return [];
}

const outOfTime = 'context deadline exceeded';

/** The pod that was looked at, not another that has taken its name since. */
const deleteOptions = ({ gracePeriodSeconds, dryRun }: RemovalSettings, { uid }: Metadata) => ({
  ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
  ...(dryRun === 'server' && { dryRun: ['All'] }),
  preconditions: { uid },
});

const isGone = (error: unknown) =>
  isNotFound(error) || (error instanceof StatusError && error.status.reason === 'Conflict');
const isTooManyRequests = (error: unknown) =>
  error instanceof StatusError && error.status.reason === 'TooManyRequests';

/** Which pods of a collection are there, by one watch that lasts as long as somebody waits. */
class Presence {
  readonly #states: () => AsyncGenerator<ReadonlyMap<string, JsonObject>>;
  readonly #waiting = new Map<string, (gone: boolean) => void>();
  #reading: Promise<void> | undefined;

  constructor(states: () => AsyncGenerator<ReadonlyMap<string, JsonObject>>) {
    this.#states = states;
  }

  /** Resolves with true once it is gone, with false when the time is over first; rejects when it can not be known. */
  async gone(uid: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.set(uid, resolve);
    this.#reading ??= this.#read();
    return Promise.race([promise, this.#reading.then(() => promise)]);
  }

  async #read(): Promise<void> {
    try {
      while (this.#waiting.size > 0) await this.#readOnce();
    } finally {
      this.#reading = undefined;
    }
  }

  async #readOnce(): Promise<void> {
    for await (const present of this.#states()) {
      for (const uid of this.#waiting.keys()) if (!present.has(uid)) this.#settle(uid, true);
      if (this.#waiting.size === 0) return;
    }
    for (const uid of this.#waiting.keys()) this.#settle(uid, false);
  }

  #settle(uid: string, gone: boolean): void {
    this.#waiting.get(uid)?.(gone);
    this.#waiting.delete(uid);
  }
}
