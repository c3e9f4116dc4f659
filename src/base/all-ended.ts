/** Promises that are awaited together. */

/**
 * Resolves to the results of all promises, or rejects with the first error. Unlike Promise.all, it waits
 * until all of them have ended, so that nothing runs on after an error.
 */
export async function allEnded<T extends readonly unknown[]>(
  promises: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  await Promise.allSettled(promises);
  return (await Promise.all(promises)) as T;
}
