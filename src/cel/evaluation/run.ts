/** Cost of an evaluation, as Kubernetes counts it, and a bound for the work that this cost does not cover. */
import { CostError } from '../error.ts';

/** Maximum cost of one evaluation, and the cost that is left for all evaluations of a request. */
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
/** Maximum length of what a messageExpression returns. */
export const maxMessageLength = 5 * 1024;

/**
 * Maximum steps of loops in functions: comparisons of nested lists, copies, characters. Upstream's cost
 * counts some of them as one.
 */
const maxWork = 1_000_000;

const exceeded = 'operation cancelled: actual cost limit exceeded';

/**
 * Cost, and steps of loops in functions, after which an evaluation in steps pauses: some milliseconds. A
 * pause is possible between two rounds of a loop.
 */
const sliceCost = 50_000;

/** One evaluation. */
export class Run {
  cost = 0;
  worked = 0;
  private readonly limit: number;
  /** Cost and work when the current slice began. */
  private began = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  spend(cost: number): void {
    this.cost += cost;
    if (this.cost > this.limit) throw new CostError(exceeded);
  }

  /** Returns true if the slice is used up. */
  get isDue(): boolean {
    return this.cost + this.worked - this.began > sliceCost;
  }

  /** Counts what was evaluated in earlier slices; a new slice begins. */
  goOnFrom(cost: number, worked: number): void {
    this.cost = cost;
    this.worked = worked;
    this.began = cost + worked;
  }

  work(steps: number): void {
    this.worked += steps;
    if (this.worked > maxWork) throw new CostError(exceeded);
  }
}
