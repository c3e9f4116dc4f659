/**
 * Function calls of the tasks of runs. Each call is placed at an instance, the instance is written to the
 * status of the run, and only then the call is sent. After a restart only the statuses remain: their calls
 * are sent again to the same instances, which execute each call once.
 */

import { StatusError } from '../../../apimachinery/status-error.ts';
import { backoffMs } from '../../../base/backoff.ts';
import type { Clock, Timer } from '../../../base/clock.ts';
import { errorMessage } from '../../../base/log.ts';
import type { RunEvent } from '../../../states-language/run/advance.ts';
import { type Command, pending } from '../../../states-language/run/commands.ts';
import type { RunState } from '../../../states-language/run/state.ts';
import type { CallOutcome, Place, PlacedCalls } from '../../functions/api/placed-calls.ts';
import { callErrors, eventOf, failed } from './call-outcome-plan.ts';
import type { CallMark } from './run-status-plan.ts';
import { Shares } from './shares.ts';

export type Task = Extract<Command, { type: 'startTask' }>;

export const tasksOf = (commands: readonly Command[]): Task[] =>
  commands.flatMap((one) => (one.type === 'startTask' ? [one] : []));

/** Returns the ids of the tasks for which the run with this state waits. */
export const waitedOf = (state: RunState): ReadonlySet<string> =>
  new Set(tasksOf(pending(state)).map(({ id }) => id));

export interface FunctionTasksOptions {
  readonly calls: PlacedCalls | undefined;
  readonly clock: Clock;
  /** Called when the run with this uid has something to store or can continue. */
  readonly wake: (run: string) => void;
  /** Called when a task of the run has to wait. */
  readonly report: (run: string, message: string) => void;
}

/**
 * Maximum number of concurrent calls of all runs; others wait for their turn. A single namespace gets fewer.
 */
const maxCalls = 500;
/** Pauses between attempts. */
const backoff = { initialMs: 100, maxMs: 10_000 };
/** Age in milliseconds that exceeds the age of any instance. */
const maxAge = 100 * 365 * 24 * 3_600_000;
/** Milliseconds that a call waits for a function that has no instance or cannot be built. */
const timeoutMs = 5 * 60_000;

type Phase = 'waiting' | 'placed' | 'sent' | 'ended';

interface Underway {
  readonly run: string;
  /** Namespace of the run. */
  readonly home: string;
  /** Namespace of the function. */
  readonly namespace: string;
  readonly task: Task;
  readonly abort: AbortController;
  readonly since: number;
  phase: Phase;
  place?: Place | undefined;
  mark?: CallMark | undefined;
  /** Time of the monotonic clock at which this process marked the call. */
  marked?: number;
  event?: RunEvent;
  holdsSlot: boolean;
  pauses: number;
  timer?: Timer;
}

export class FunctionTasks {
  readonly #options: FunctionTasksOptions;
  readonly #byRun = new Map<string, Map<string, Underway>>();
  readonly #slots = new Shares<Underway>(maxCalls);

  constructor(options: FunctionTasksOptions) {
    this.#options = options;
  }

  /** Returns the outcome of the task, or undefined while it is running. */
  eventOf(run: string, id: string): RunEvent | undefined {
    return this.#find(run, id)?.event;
  }

  /** Returns the marks of placed calls, which are sent once the marks are stored. */
  marksOf(run: string): readonly CallMark[] {
    const own = [...(this.#byRun.get(run)?.values() ?? [])];
    return own.flatMap(({ phase, mark }) => (phase === 'placed' && mark ? [mark] : []));
  }

  /** Places the call of a task that is about to be stored, if an instance is available at once. */
  async placeAtOnce(run: string, namespace: string, task: Task): Promise<void> {
    const { calls } = this.#options;
    if (this.#find(run, task.id) || !calls || !this.#slots.isFree(namespace)) return;
    const one = this.#new(run, namespace, task);
    if (!hasRoom(calls, one)) return;
    one.holdsSlot = this.#slots.enter(namespace, one);
    this.#add(one);
    await this.#place(one);
  }

  /** Starts a task that is stored in the status of its run. `mark` is set if its call may have been sent. */
  ensure(run: string, namespace: string, task: Task, mark: CallMark | undefined): void {
    const known = this.#find(run, task.id);
    if (known?.phase === 'placed') {
      if (mark && known.mark?.instance === mark.instance && known.mark.time === mark.time) this.#send(known);
      return;
    }
    if (known) return;
    const one = this.#new(run, namespace, task);
    one.mark = mark;
    this.#add(one);
    this.#queue(one);
  }

  /** Records the outcome of a task that is not a call, or whose call is not made. */
  settle(run: string, namespace: string, task: Task, event: RunEvent): void {
    this.forget(run, task.id);
    const one = this.#new(run, namespace, task);
    this.#add(one);
    this.#end(one, event);
  }

  /** Forgets a task that was cancelled or whose outcome is stored. */
  forget(run: string, id: string): void {
    const known = this.#find(run, id);
    if (!known) return;
    const own = this.#byRun.get(run);
    own?.delete(id);
    if (own?.size === 0) this.#byRun.delete(run);
    this.#finish(known);
  }

  keepOnly(run: string, ids: ReadonlySet<string>): void {
    for (const id of [...(this.#byRun.get(run)?.keys() ?? [])]) if (!ids.has(id)) this.forget(run, id);
  }

  forgetRun(run: string): void {
    for (const id of [...(this.#byRun.get(run)?.keys() ?? [])]) this.forget(run, id);
  }

  stop(): void {
    for (const run of [...this.#byRun.keys()]) this.forgetRun(run);
  }

  #find(run: string, id: string): Underway | undefined {
    return this.#byRun.get(run)?.get(id);
  }

  #new(run: string, namespace: string, task: Task): Underway {
    return {
      run,
      home: namespace,
      namespace: task.resource.namespace ?? namespace,
      task,
      abort: new AbortController(),
      since: this.#options.clock.monotonic(),
      phase: 'waiting',
      holdsSlot: false,
      pauses: 0,
    };
  }

  #add(one: Underway): void {
    const own = this.#byRun.get(one.run) ?? new Map<string, Underway>();
    this.#byRun.set(one.run, own.set(one.task.id, one));
  }

  #queue(one: Underway): void {
    if (!this.#slots.enter(one.home, one)) return;
    one.holdsSlot = true;
    if (one.mark) this.#send(one);
    else void this.#place(one);
  }

  #finish(one: Underway): void {
    one.timer?.cancel();
    one.abort.abort(new DOMException('the task is over', 'AbortError'));
    one.place?.release();
    one.place = undefined;
    this.#slots.forget(one.home, one);
    if (!one.holdsSlot) return;
    one.holdsSlot = false;
    const next = this.#slots.leave(one.home);
    if (next) this.#queue(next);
  }

  #end(one: Underway, event: RunEvent): void {
    one.phase = 'ended';
    one.event = event;
    this.#finish(one);
    this.#options.wake(one.run);
  }

  async #place(one: Underway): Promise<void> {
    const { calls, clock, wake } = this.#options;
    const { signal } = one.abort;
    one.mark = undefined;
    one.phase = 'waiting';
    try {
      if (!calls) throw new Error('this server cannot call functions');
      const place = await calls.place(placedOf(one), signal);
      if (signal.aborted) {
        place.release();
        return;
      }
      one.place = place;
      one.phase = 'placed';
      one.mark = { id: one.task.id, instance: place.instance, time: new Date(clock.now()).toISOString() };
      one.marked = clock.monotonic();
      wake(one.run);
    } catch (error) {
      if (!signal.aborted) this.#noPlace(one, error);
    }
  }

  #noPlace(one: Underway, error: unknown): void {
    const { id, resource } = one.task;
    const why = errorMessage(error);
    if (error instanceof StatusError && error.status.code === 404) {
      this.#end(one, failed(id, callErrors.notFound, why));
      return;
    }
    if (this.#options.clock.monotonic() - one.since > timeoutMs) {
      this.#end(one, failed(id, callErrors.unavailable, why));
      return;
    }
    if (one.pauses === 0)
      this.#options.report(one.run, `task ${id} waits for function ${resource.name}: ${why}`);
    this.#later(one, () => void this.#place(one));
  }

  #send(one: Underway): void {
    one.phase = 'sent';
    void this.#sent(one);
  }

  async #sent(one: Underway): Promise<void> {
    const { calls } = this.#options;
    const { signal } = one.abort;
    const { mark, place } = one;
    if (!calls || !mark) return;
    one.place = undefined;
    let outcome: CallOutcome;
    try {
      outcome = await calls.send(
        {
          ...placedOf(one),
          instance: mark.instance,
          place,
          ageMs: this.#ageOf(one, mark),
          body: JSON.stringify(one.task.input),
        },
        signal,
      );
    } catch (error) {
      outcome = { type: 'unclear', why: errorMessage(error) };
    }
    if (signal.aborted) return;
    const event = eventOf(one.task.id, outcome);
    if (event) this.#end(one, event);
    else if (outcome.type === 'notMade') this.#later(one, () => void this.#place(one));
    else this.#later(one, () => this.#send(one));
  }

  /**
   * Returns the age of a call in milliseconds. A time in the future comes from another clock; the call may
   * then be of any age.
   */
  #ageOf({ marked }: Underway, mark: CallMark): number {
    const { clock } = this.#options;
    if (marked !== undefined) return clock.monotonic() - marked;
    const age = clock.now() - Date.parse(mark.time);
    return age >= 0 ? age : maxAge;
  }

  #later(one: Underway, then: () => void): void {
    const ms = backoffMs(backoff, ++one.pauses);
    one.phase = one.mark ? 'sent' : 'waiting';
    one.timer = this.#options.clock.after(ms, then);
  }
}

const placedOf = ({ run, namespace, task }: Underway) => ({
  namespace,
  function: task.resource.name,
  id: `${run}.${task.id}`,
});

/** Returns true if an instance has room. Errors are ignored here, because the call itself reports them. */
function hasRoom(calls: PlacedCalls, one: Underway): boolean {
  try {
    return calls.hasRoom(placedOf(one));
  } catch {
    return false;
  }
}
