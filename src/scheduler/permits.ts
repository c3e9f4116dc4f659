/**
 * Pods with a chosen node, which are bound as soon as every plugin's Permit allows it. Times are monotonic.
 */
import type { Pod } from '../api/core/v1/pod/pod.ts';
import type { ObjectKey } from '../apimachinery/meta.ts';
import type { Cluster, Plugin, Rejection } from './framework.ts';
import { podInfo } from './pod-info.ts';

interface Asked {
  readonly pod: Pod;
  readonly node: string;
  readonly since: number;
}

export type Answer =
  | { readonly kind: 'allowed'; readonly node: string }
  | { readonly kind: 'refused'; readonly refused: Rejection }
  /** Ask again after the next event, for the last time after `ms` milliseconds. */
  | { readonly kind: 'wait'; readonly ms: number };

export class Permits {
  readonly #plugins: readonly Plugin[];
  readonly #asked = new Map<ObjectKey, Asked>();

  constructor(plugins: readonly Plugin[]) {
    this.#plugins = plugins.filter(({ permit }) => permit !== undefined);
  }

  /** Keys of the waiting pods. */
  get keys(): Iterable<ObjectKey> {
    return this.#asked.keys();
  }

  has(key: ObjectKey): boolean {
    return this.#asked.has(key);
  }

  ask(key: ObjectKey, pod: Pod, node: string, now: number): void {
    this.#asked.set(key, { pod, node, since: now });
  }

  delete(key: ObjectKey): void {
    this.#asked.delete(key);
  }

  /** Returns the answer for a pod for which `ask` was called. */
  answer(key: ObjectKey, cluster: Cluster, now: number): { readonly pod: Pod; readonly answer: Answer } {
    const asked = this.#asked.get(key);
    if (!asked) throw new Error(`no permit was asked for ${key}`);
    return { pod: asked.pod, answer: this.#answer(asked, cluster, now) };
  }

  #answer({ pod, node: name, since }: Asked, cluster: Cluster, now: number): Answer {
    let ms = Number.POSITIVE_INFINITY;
    const node = cluster.node(name);
    // The binding itself reports that the node is gone.
    if (!node) return { kind: 'allowed', node: name };
    for (const plugin of this.#plugins) {
      const permission = plugin.permit?.(podInfo(pod), node, cluster) ?? 'allowed';
      if (permission === 'allowed') continue;
      if ('refused' in permission) return { kind: 'refused', refused: permission.refused };
      const left = since + permission.waitMs - now;
      const refused = { plugin: plugin.name, text: `${plugin.name} did not allow it in time` };
      if (left <= 0) return { kind: 'refused', refused };
      ms = Math.min(ms, left);
    }
    return ms === Number.POSITIVE_INFINITY ? { kind: 'allowed', node: name } : { kind: 'wait', ms };
  }
}
