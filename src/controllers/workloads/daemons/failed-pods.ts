/**
 * Back-off of a DaemonSet for failed pods of a node: one second at first, doubled each time, at most 15
 * minutes.
 */
import type { DaemonSet } from '../../../api/apps/v1/daemon-set.ts';
import { type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import { backoffMs } from '../../../base/backoff.ts';

const usual = { initialMs: 1_000, maxMs: 15 * 60_000 };

interface Failures {
  readonly count: number;
  /** Time at which the last failed pod was replaced. */
  readonly at: number;
}

export class FailedPods {
  readonly #bySet = new Map<ObjectKey, { readonly spec: string; readonly nodes: Map<string, Failures> }>();

  /** Returns the milliseconds until the failed pod of the node may be replaced. */
  waitFor(set: DaemonSet, node: string, now: number): number {
    const last = this.#nodesOf(set).get(node);
    return last && !isForgotten(last, now) ? Math.max(0, last.at + backoffMs(usual, last.count) - now) : 0;
  }

  /** Records that the failed pod of the node is replaced now. */
  replaced(set: DaemonSet, node: string, now: number): void {
    const nodes = this.#nodesOf(set);
    const last = nodes.get(node);
    nodes.set(node, { count: last && !isForgotten(last, now) ? last.count + 1 : 1, at: now });
  }

  /** Forgets a set that was deleted. */
  forget(key: ObjectKey): void {
    this.#bySet.delete(key);
  }

  /**
   * Returns the failures of a set. Failures of another set of the name, or before a change of the spec, are
   * discarded.
   */
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

/** Returns true if the last failure is so long ago that the back-off starts again. */
const isForgotten = ({ at }: Failures, now: number) => now - at > 2 * usual.maxMs;
