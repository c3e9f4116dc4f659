/** Placed pods, assumed or confirmed, indexed by uid, namespace, node and claims. */
import type { Pod } from '../api/core/v1/pod/pod.ts';
import type { PodInfo } from './node-info.ts';

export interface Placed {
  readonly info: PodInfo;
  readonly nodeName: string;
  /** True if the placement was decided and is not confirmed by the server yet. */
  readonly assumed: boolean;
}

export class PlacedPods {
  readonly #byUid = new Map<string, Placed>();
  readonly #byNamespace = new Groups<string>();
  readonly #byNode = new Groups<string>();
  readonly #byClaim = new Groups<string>();
  readonly #byPriority = new Groups<number>();

  get(uid: string): Placed | undefined {
    return this.#byUid.get(uid);
  }

  /** Lowest priority of the placed pods; infinite if there are none. */
  get lowestPriority(): number {
    let lowest = Number.POSITIVE_INFINITY;
    for (const priority of this.#byPriority.keys) if (priority < lowest) lowest = priority;
    return lowest;
  }

  get namespaces(): Iterable<string> {
    return this.#byNamespace.keys;
  }

  *in(namespace: string): Iterable<{ readonly pod: Pod; readonly node: string }> {
    for (const { info, nodeName } of this.#of(this.#byNamespace, namespace))
      yield { pod: info.pod, node: nodeName };
  }

  *on(nodeName: string): Iterable<PodInfo> {
    for (const { info } of this.#of(this.#byNode, nodeName)) yield info;
  }

  claimUsers(namespace: string, claim: string, exceptUid: string): number {
    let users = 0;
    for (const uid of this.#byClaim.of(`${namespace}/${claim}`)) if (uid !== exceptUid) users++;
    return users;
  }

  /** Adds or updates a pod. A known pod must be on the same node. */
  set(placed: Placed): void {
    const { uid } = placed.info.pod.metadata;
    const known = this.#byUid.has(uid);
    this.#byUid.set(uid, placed);
    if (known) return;
    for (const [groups, key] of this.#groupsOf(placed)) groups.add(key, uid);
    this.#byPriority.add(placed.info.priority, uid);
  }

  delete(uid: string): void {
    const placed = this.#byUid.get(uid);
    if (!placed) return;
    this.#byUid.delete(uid);
    for (const [groups, key] of this.#groupsOf(placed)) groups.delete(key, uid);
    this.#byPriority.delete(placed.info.priority, uid);
  }

  *#of(groups: Groups<string>, key: string): Iterable<Placed> {
    for (const uid of groups.of(key)) {
      const placed = this.#byUid.get(uid);
      if (placed) yield placed;
    }
  }

  *#groupsOf({ info, nodeName }: Placed): Iterable<readonly [Groups<string>, string]> {
    const { namespace = '' } = info.pod.metadata;
    yield [this.#byNamespace, namespace];
    yield [this.#byNode, nodeName];
    for (const claim of info.claims) yield [this.#byClaim, `${namespace}/${claim}`];
  }
}

/** Sets of uids by key; empty sets are removed. */
class Groups<K> {
  readonly #uids = new Map<K, Set<string>>();

  get keys(): Iterable<K> {
    return this.#uids.keys();
  }

  of(key: K): Iterable<string> {
    return this.#uids.get(key) ?? [];
  }

  add(key: K, uid: string): void {
    const uids = this.#uids.get(key);
    if (uids) uids.add(uid);
    else this.#uids.set(key, new Set([uid]));
  }

  delete(key: K, uid: string): void {
    const uids = this.#uids.get(key);
    uids?.delete(uid);
    if (uids?.size === 0) this.#uids.delete(key);
  }
}
