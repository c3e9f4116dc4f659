/**
 * Returns the result of the call, or undefined if it fails with a tolerated error, such as isAlreadyExists.
 */
export async function tolerate<T>(
  call: Promise<T>,
  ...kinds: readonly ((error: unknown) => boolean)[]
): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (kinds.some((is) => is(error))) return undefined;
    throw error;
  }
}
