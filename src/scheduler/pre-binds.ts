/**
 * Carries out the writes that plugins require before a pod is bound to its chosen node, and waits for their
 * effect.
 */
import type { KubeObject, ObjectKey } from '../apimachinery/meta.ts';
import { isConflict } from '../apimachinery/status-error.ts';
import type { Client } from '../client/client.ts';
import { ifPresent } from '../controller-runtime/if-present.ts';
import { tolerate } from '../controller-runtime/tolerate.ts';
import type { Cluster, Plugin, Rejection, Update } from './framework.ts';
import type { NodeInfo, PodInfo } from './node-info.ts';

/** Timeout in milliseconds after which a pod is scheduled again (upstream's bindTimeoutSeconds). */
const patienceMs = 600_000;

interface Waiting {
  readonly since: number;
  /** Versions of the objects that were written here, by uid. */
  readonly written: Map<string, string>;
}

export type PreBound =
  | { readonly kind: 'done' }
  | { readonly kind: 'refused'; readonly refused: Rejection }
  /** Repeat the step after the next event, and for the last time after `ms` milliseconds. */
  | { readonly kind: 'wait'; readonly ms: number };

export class PreBinds {
  readonly #client: Client;
  readonly #plugins: readonly Plugin[];
  readonly #waiting = new Map<ObjectKey, Waiting>();

  constructor(client: Client, plugins: readonly Plugin[]) {
    this.#client = client;
    this.#plugins = plugins.filter(({ preBind }) => preBind !== undefined);
  }

  delete(key: ObjectKey): void {
    this.#waiting.delete(key);
  }

  /** Runs the next step. Rejects if the server does not answer; the step can then be repeated. */
  async step(key: ObjectKey, pod: PodInfo, node: NodeInfo, cluster: Cluster, now: number): Promise<PreBound> {
    for (const plugin of this.#plugins) {
      const wanted = plugin.preBind?.(pod, node, cluster);
      if (wanted === undefined || wanted === 'done') continue;
      if ('refused' in wanted) return { kind: 'refused', refused: wanted.refused };
      return this.#writeAll(key, plugin, wanted.updates, now);
    }
    return { kind: 'done' };
  }

  async #writeAll(
    key: ObjectKey,
    plugin: Plugin,
    updates: readonly Update[],
    now: number,
  ): Promise<PreBound> {
    const waiting = this.#waiting.get(key) ?? { since: now, written: new Map() };
    this.#waiting.set(key, waiting);
    const left = waiting.since + patienceMs - now;
    const refuse = (text: string): PreBound => ({
      kind: 'refused',
      refused: { plugin: plugin.name, text },
    });
    if (left <= 0) return refuse('binding volumes: timed out waiting for the condition');
    for (const update of updates)
      if (!(await this.#write(update, waiting.written)))
        return refuse(`binding volumes: provisioning failed for ${update.object.metadata.name}`);
    return { kind: 'wait', ms: left };
  }

  /** Writes an object. Returns false if it was written before and the write has been reverted. */
  async #write({ resource, object }: Update, written: Map<string, string>): Promise<boolean> {
    const { uid, resourceVersion } = object.metadata;
    const before = written.get(uid);
    // The cache does not show the write yet.
    if (before !== undefined && BigInt(resourceVersion) < BigInt(before)) return true;
    if (before !== undefined) return false;
    // A concurrent change arrives as an event, which repeats the step.
    const done = await ifPresent(
      tolerate(this.#client.resource<KubeObject>(resource).update(object), isConflict),
    );
    if (done) written.set(uid, done.metadata.resourceVersion);
    return true;
  }
}
