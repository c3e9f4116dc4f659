/** Work in steps, so that the caller can yield to other requests between them. */
export type Steps<T> = Generator<void, T, void>;

/** Runs all steps without yielding and returns the result. */
export function inOneGo<T>(steps: Generator<unknown, T, void>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
