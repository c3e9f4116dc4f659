/** Runs a part until the stack is unwound. The promise is the part's own, for whoever must know that it ended. */
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
