/** Watches the event loop of the process it is in. */

export interface Stall {
  /** Of the epoch. */
  readonly from: number;
  readonly to: number;
  /** Milliseconds that this thread was running: the rest of the time was other processes', or spent waiting. */
  readonly own: number;
}

const everyMs = 10;

/** Tells of each time that the loop did not turn for longer than `limitMs`. */
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
