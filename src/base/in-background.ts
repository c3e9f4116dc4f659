/**
 * Runs a task until the stack is disposed. Returns the task's own promise, for callers that must detect its
 * end.
 */
export function inBackground(
  stack: AsyncDisposableStack,
  run: (until: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const running = run(stop.signal);
  running.catch(() => undefined);
  stack.defer(async () => {
    stop.abort();
    await running;
  });
  return running;
}
