/**
 * Unbound pods that wait on a node for the eviction of others. Their room is not available to pods of a lower
 * priority.
 */
import type { PodInfo } from './node-info.ts';

export class Nominations {
  readonly #byUid = new Map<string, { readonly pod: PodInfo; readonly node: string }>();
  readonly #byNode = new Map<string, Map<string, PodInfo>>();

  /** Returns the nominated node of the pod with that uid, or undefined. */
  nodeOf(uid: string): string | undefined {
    return this.#byUid.get(uid)?.node;
  }

  on(node: string): Iterable<PodInfo> {
    return this.#byNode.get(node)?.values() ?? [];
  }

  get size(): number {
    return this.#byUid.size;
  }

  set(pod: PodInfo, node: string): void {
    const { uid } = pod.pod.metadata;
    this.delete(uid);
    this.#byUid.set(uid, { pod, node });
    const there = this.#byNode.get(node);
    if (there) there.set(uid, pod);
    else this.#byNode.set(node, new Map([[uid, pod]]));
  }

  /** Removes the nomination and returns its node. */
  delete(uid: string): string | undefined {
    const node = this.#byUid.get(uid)?.node;
    if (node === undefined) return undefined;
    this.#byUid.delete(uid);
    const there = this.#byNode.get(node);
    there?.delete(uid);
    if (there?.size === 0) this.#byNode.delete(node);
    return node;
  }
}
