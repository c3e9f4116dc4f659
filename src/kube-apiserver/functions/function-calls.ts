/** The calls of one function in this gateway: each gets a place at an instance, or waits for one in the order it came. */
import type { Fn } from '../../api/minik8s/v1/function.ts';
import { newStatusError, type StatusError } from '../../apimachinery/status-error.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { type Demand, demandOf } from './demand-plan.ts';
import { type Instance, Instances, refused } from './instances.ts';
import { LoadMeter } from './load-meter.ts';

/** How many calls of a function wait at most. */
export const mostWaiting = 1000;
/** Milliseconds that a call waits for an instance. */
export const longestWait = 60_000;
const retryAfterSeconds = 1;

export interface Call {
  /** Resolves with a place at an instance that was asked to take the call; rejects with a Status, or with what the call ended by. */
  place(): Promise<Instance>;
  /** The instance answers it. */
  taken(): void;
  /** The instance has not been given the call: it goes to the head of the line. */
  notTaken(): void;
  /** The call is over, however it ended. Who waits for a place is told `reason`. */
  end(reason?: unknown): void;
}

interface Waiting {
  readonly resolve: (instance: Instance) => void;
  readonly reject: (error: unknown) => void;
  readonly timer: Timer;
}

export interface FunctionCallsOptions {
  readonly clock: Clock;
  /** Called when there may be a new demand. */
  readonly onDemand: () => void;
}

export class FunctionCalls {
  readonly instances = new Instances();
  readonly #options: FunctionCallsOptions;
  #fn: Fn;
  #meter: LoadMeter;
  /** First come, first served. */
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

  /** The function has changed. */
  update(fn: Fn): void {
    const hasNewWindow = fn.spec.windowSeconds !== this.#fn.spec.windowSeconds;
    this.#fn = fn;
    if (hasNewWindow && this.#meter.underWay === 0) this.#meter = this.#newMeter();
  }

  /** Throws 503 when too many wait. */
  begin(): Call {
    const { clock, onDemand } = this.#options;
    if (this.#waiting.length >= mostWaiting) {
      throw unavailable(`${mostWaiting} calls of the function wait already`);
    }
    this.#meter.begin(clock.monotonic());
    let at: Instance | undefined;
    let isOver = false;
    let isFirst = true;
    let waiting: Waiting | undefined;
    let endedBy: { readonly reason: unknown } | undefined;
    // A DOMException takes a trace of the stack, which most calls have no use for: they have their place when
    // they end.
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

  /** Whether a call that came now would have a place at once. */
  get hasRoom(): boolean {
    return this.#waiting.length === 0 && this.#chooseNow() !== undefined;
  }

  /** Calls that have no place yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  get isIdle(): boolean {
    return this.#meter.underWay === 0;
  }

  /** Gives places to those who wait, as far as there are any. */
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

  /** Nobody will get a place any more, or not soon. */
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
      reject(unavailable(`no instance of the function was free within ${longestWait / 1000} s`));
    };
    const one = { resolve, reject, timer: this.#options.clock.after(longestWait, late) };
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
