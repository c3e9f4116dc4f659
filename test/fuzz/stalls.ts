/** Watches the event loop of its own process. */

export interface Stall {
  /** Beginning, in milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** Milliseconds of CPU time of this thread; the rest was other processes' time, or waiting. */
  readonly own: number;
}

const everyMs = 10;

/** Reports each time that the loop did not turn for longer than `limitMs`. */
export function watchStalls(limitMs: number, tell: (stall: Stall) => void): void {
  const cpu = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  let last = performance.now();
  let used = cpu();
  setInterval(() => {
    const now = performance.now();
    const nowUsed = cpu();
    if (now - last > limitMs) {
      const { timeOrigin } = performance;
      tell({ from: timeOrigin + last, to: timeOrigin + now, own: nowUsed - used });
    }
    last = now;
    used = nowUsed;
  }, everyMs).unref();
}
