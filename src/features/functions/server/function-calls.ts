/**
 * The calls of one function in this gateway: each gets a place at an instance, or waits for one in the order
 * of arrival.
 */

import { newStatusError, type StatusError } from '../../../apimachinery/status-error.ts';
import type { Clock, Timer } from '../../../base/clock.ts';
import type { Fn } from '../api/function.ts';
import { type Demand, demandOf } from './demand-plan.ts';
import { type Instance, Instances, refused } from './instances.ts';
import { LoadMeter } from './load-meter.ts';

/** Maximum number of waiting calls of a function. */
export const maxWaiting = 1000;
/** Timeout in milliseconds of the wait for an instance. */
export const maxWait = 60_000;
const retryAfterSeconds = 1;

export interface Call {
  /**
   * Resolves with a place at an instance; rejects with a Status, or with the reason for which the call ended.
   */
  place(): Promise<Instance>;
  /** Reports that the instance answers the call. */
  taken(): void;
  /** Reports that the instance did not get the call, which returns to the head of the queue. */
  notTaken(): void;
  /** Ends the call, whatever its result. A wait for a place is rejected with `reason`. */
  end(reason?: unknown): void;
}

interface Waiting {
  readonly resolve: (instance: Instance) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: Timer;
}

export interface FunctionCallsOptions {
  readonly clock: Clock;
  /** Called when the demand may have changed. */
  readonly onDemand: () => void;
}

export class FunctionCalls {
  readonly instances = new Instances();
  readonly #options: FunctionCallsOptions;
  #fn: Fn;
  #meter: LoadMeter;
  /** Queue, first come, first served. */
  #waiting: Waiting[] = [];
  #retry: Timer | undefined;

  constructor(fn: Fn, options: FunctionCallsOptions) {
    this.#fn = fn;
    this.#options = options;
    this.#meter = this.#newMeter();
  }

  get function(): Fn {
    return this.#fn;
  }

  /** Applies a change of the function. */
  update(fn: Fn): void {
    const hasNewWindow = fn.spec.windowSeconds !== this.#fn.spec.windowSeconds;
    this.#fn = fn;
    if (hasNewWindow && this.#meter.underWay === 0) this.#meter = this.#newMeter();
  }

  /** Registers a call. Throws 503 if too many calls wait. */
  begin(): Call {
    const { clock, onDemand } = this.#options;
    if (this.#waiting.length >= maxWaiting) {
      throw unavailable(`${maxWaiting} calls of the function wait already`);
    }
    this.#meter.begin(clock.monotonic());
    let at: Instance | undefined;
    let isOver = false;
    let isFirst = true;
    let waiting: Waiting | undefined;
    let endedBy: { readonly reason: unknown } | undefined;
    // Creating a DOMException captures a stack trace, which most calls do not need: they have their place
    // when they end.
    const whyOver = () => endedBy?.reason ?? new DOMException('the call is over', 'AbortError');
    const leave = () => {
      if (at) at.underWay -= 1;
      at = undefined;
    };
    const place = () =>
      new Promise<Instance>((resolve, reject) => {
        if (isOver) return reject(whyOver());
        const given = (instance: Instance) => {
          at = instance;
          resolve(instance);
        };
        const free = this.#waiting.length === 0 ? this.#chooseNow() : undefined;
        if (!free) {
          waiting = this.#wait(given, reject, isFirst);
          return;
        }
        free.underWay += 1;
        given(free);
      });
    onDemand();
    return {
      place,
      taken: () => {
        if (at) at.refusals = 0;
      },
      notTaken: () => {
        if (at) refused(at, clock.monotonic());
        leave();
        isFirst = false;
      },
      end: (reason) => {
        if (isOver) return;
        isOver = true;
        endedBy = { reason };
        if (waiting && this.#waiting.includes(waiting)) {
          this.#forget(waiting);
          waiting.reject(whyOver());
        }
        leave();
        this.#meter.end(clock.monotonic());
        this.dispatch();
      },
    };
  }

  demand(): Demand {
    return demandOf(this.#fn.spec, this.#meter, this.#options.clock.monotonic());
  }

  /** Returns whether a new call would get a place at once. */
  get hasRoom(): boolean {
    return this.#waiting.length === 0 && this.#chooseNow() !== undefined;
  }

  /** Number of calls that have no place yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  get isIdle(): boolean {
    return this.#meter.underWay === 0;
  }

  /** Assigns free places to waiting calls. */
  dispatch(): void {
    const { clock } = this.#options;
    const { concurrency } = this.#fn.spec;
    this.#retry?.cancel();
    this.#retry = undefined;
    while (this.#waiting.length > 0) {
      const now = clock.monotonic();
      const instance = this.instances.choose(concurrency, now);
      if (!instance) {
        const ms = this.instances.next(concurrency, now);
        if (ms !== undefined) this.#retry = clock.after(ms, () => this.dispatch());
        return;
      }
      const first = this.#waiting.shift();
      first?.timer.cancel();
      instance.underWay += 1;
      first?.resolve(instance);
    }
  }

  /** Rejects all waiting calls, because no place will be free soon. */
  refuseAll(error: StatusError): void {
    for (const { reject, timer } of this.#waiting.splice(0)) {
      timer.cancel();
      reject(error);
    }
  }

  #chooseNow(): Instance | undefined {
    return this.instances.choose(this.#fn.spec.concurrency, this.#options.clock.monotonic());
  }

  #wait(resolve: Waiting['resolve'], reject: Waiting['reject'], isFirst: boolean): Waiting {
    const late = () => {
      this.#forget(one);
      reject(unavailable(`no instance of the function was free within ${maxWait / 1000} s`));
    };
    const one = { resolve, reject, timer: this.#options.clock.after(maxWait, late) };
    if (isFirst) this.#waiting.push(one);
    else this.#waiting.unshift(one);
    this.dispatch();
    return one;
  }

  #forget(one: Waiting): void {
    one.timer.cancel();
    this.#waiting = this.#waiting.filter((other) => other !== one);
  }

  #newMeter(): LoadMeter {
    return new LoadMeter((this.#fn.spec.windowSeconds ?? 30) * 1000, this.#options.clock.monotonic());
  }
}

export const unavailable = (message: string) =>
  newStatusError('ServiceUnavailable', message, { retryAfterSeconds });
