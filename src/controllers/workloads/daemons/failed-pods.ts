/** How long a DaemonSet leaves a pod that failed on a node: a second at first, twice as long each time, a quarter of an hour at most. */
import type { DaemonSet } from '../../../api/apps/v1/daemon-set.ts';
import { type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import { backoffMs } from '../../../base/backoff.ts';

const usual = { initialMs: 1_000, maxMs: 15 * 60_000 };

interface Failures {
  readonly count: number;
  /** When the last of them was replaced. */
  readonly at: number;
}

export class FailedPods {
  readonly #bySet = new Map<ObjectKey, { readonly spec: string; readonly nodes: Map<string, Failures> }>();

  /** Milliseconds until the failed pod of the node may be replaced. */
  waitFor(set: DaemonSet, node: string, now: number): number {
    const last = this.#nodesOf(set).get(node);
    return last && !isForgotten(last, now) ? Math.max(0, last.at + backoffMs(usual, last.count) - now) : 0;
  }

  /** The failed pod of the node is replaced now. */
  replaced(set: DaemonSet, node: string, now: number): void {
    const nodes = this.#nodesOf(set);
    const last = nodes.get(node);
    nodes.set(node, { count: last && !isForgotten(last, now) ? last.count + 1 : 1, at: now });
  }

  /** When the set is gone. */
  forget(key: ObjectKey): void {
    this.#bySet.delete(key);
  }

  /** What failed of another set of the name, or before its spec was changed, says nothing. */
  #nodesOf(set: DaemonSet): Map<string, Failures> {
    const { uid, generation } = set.metadata;
    const spec = `${uid} ${generation}`;
    const known = this.#bySet.get(objectKey(set));
    if (known?.spec === spec) return known.nodes;
    const nodes = new Map<string, Failures>();
    this.#bySet.set(objectKey(set), { spec, nodes });
    return nodes;
  }
}

/** A node whose pods did not fail for long begins anew. */
const isForgotten = ({ at }: Failures, now: number) => now - at > 2 * usual.maxMs;
