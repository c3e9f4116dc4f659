/**
 * Pods that ask for the same fare alike until something changes: of a thousand of one set that fit nowhere, one is looked at and the
 * others are told the same.
 */
import type { Pod } from '../api/core/v1/pod.ts';
import { explainDecision, type Said } from './explain.ts';
import type { Unschedulable } from './schedule-one.ts';
import { requestOf } from './waiting-pods.ts';

export interface Failure {
  readonly decision: Unschedulable;
  readonly said: Said;
}

export class KnownFailures {
  readonly #byRequest = new Map<string, Failure>();
  #generation = -1;

  /** `generation`: of what the decision looks at. */
  get(pod: Pod, generation: number): Failure | undefined {
    return generation === this.#generation ? this.#byRequest.get(requestOf(pod)) : undefined;
  }

  /** Where others go for the pod the next one fares otherwise: that is not kept. */
  add(pod: Pod, decision: Unschedulable, generation: number, nodes: number): Failure {
    const failure = { decision, said: explainDecision(decision, nodes) };
    if (this.#generation !== generation) {
      this.#byRequest.clear();
      this.#generation = generation;
    }
    const { remedy } = decision;
    if (!remedy || remedy.kind === 'none') this.#byRequest.set(requestOf(pod), failure);
    return failure;
  }
}
