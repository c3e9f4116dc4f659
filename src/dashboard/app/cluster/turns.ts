/** Long work in turns of some milliseconds, between which the page reacts to its user. */

/** Time after which a turn ends, in milliseconds. */
const turnMs = 8;

const { port1, port2 } = new MessageChannel();
const waiting: (() => void)[] = [];
port1.onmessage = () => waiting.shift()?.();

/** Resolves in a new task; timers would wait for four milliseconds each time. */
const nextTask = () =>
  new Promise<void>((resolve) => {
    waiting.push(resolve);
    port2.postMessage(undefined);
  });

export class Turn {
  #end = performance.now() + turnMs;

  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Lets the page react, and begins the next turn. */
  async next(): Promise<void> {
    await nextTask();
    this.#end = performance.now() + turnMs;
  }
}

/** Runs all steps in turns and returns the result; undefined as soon as it is no longer wanted. */
export async function inTurns<T>(
  steps: Generator<unknown, T, void>,
  isWanted: () => boolean = () => true,
): Promise<T | undefined> {
  const turn = new Turn();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (!turn.isOver) continue;
    await turn.next();
    if (!isWanted()) return undefined;
  }
}

/** Calls a function with each of the items; returns false if that was no longer wanted before the end. */
export async function eachInTurns<T>(
  items: readonly T[],
  work: (item: T) => unknown,
  isWanted: () => boolean,
): Promise<boolean> {
  return (await inTurns(steps(items, work), isWanted)) === true;
}

function* steps<T>(items: readonly T[], work: (item: T) => unknown): Generator<void, true, void> {
  for (const item of items) {
    work(item);
    yield;
  }
  return true;
}
