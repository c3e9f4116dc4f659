/**
 * Remembers failed decisions. Pods with equal requests get the same result until the cluster changes: of a
 * thousand unschedulable pods of one set, one is evaluated and the others get its result.
 */
import type { Pod } from '../api/core/v1/pod/pod.ts';
import { type Explanation, explainDecision } from './explain.ts';
import type { Unschedulable } from './schedule-one.ts';
import { requestOf } from './waiting-pods.ts';

export interface Failure {
  readonly decision: Unschedulable;
  readonly explanation: Explanation;
}

export class KnownFailures {
  readonly #byRequest = new Map<string, Failure>();
  #generation = -1;

  /** Returns the known failure. `generation` is the generation of the snapshot. */
  get(pod: Pod, generation: number): Failure | undefined {
    return generation === this.#generation ? this.#byRequest.get(requestOf(pod)) : undefined;
  }

  /**
   * Adds a failure. A failure with a remedy that evicts pods is not kept, because the next pod gets another
   * result.
   */
  add(pod: Pod, decision: Unschedulable, generation: number, nodes: number): Failure {
    const failure = { decision, explanation: explainDecision(decision, nodes) };
    if (this.#generation !== generation) {
      this.#byRequest.clear();
      this.#generation = generation;
    }
    const { remedy } = decision;
    if (!remedy || remedy.kind === 'none') this.#byRequest.set(requestOf(pod), failure);
    return failure;
  }
}
