/** Cost of an evaluation, as Kubernetes counts it, and a bound for the work that this cost does not cover. */
import { CostError } from '../error.ts';

/** Maximum cost of one evaluation, and what is left for the others of the same request. */
export class Budget {
  /** Maximum cost of one evaluation. */
  readonly perCall: number;
  /** Cost that may still be spent. */
  remaining: number;

  constructor(remaining: number, perCall: number = perCallLimit) {
    this.remaining = remaining;
    this.perCall = perCall;
  }
}

/** Kubernetes' limits (k8s.io/apiserver/pkg/apis/cel). */
export const perCallLimit = 1_000_000;
export const requestLimit = 10_000_000;
export const matchConditionsLimit = 2_500_000;

/**
 * Maximum steps of loops in functions: comparisons of nested lists, copies, characters. Upstream's cost
 * counts some of them as one.
 */
const maxWork = 1_000_000;

const exceeded = 'operation cancelled: actual cost limit exceeded';

/** One evaluation. */
export class Run {
  cost = 0;
  private worked = 0;
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  spend(cost: number): void {
    this.cost += cost;
    if (this.cost > this.limit) throw new CostError(exceeded);
  }

  work(steps: number): void {
    this.worked += steps;
    if (this.worked > maxWork) throw new CostError(exceeded);
  }
}
