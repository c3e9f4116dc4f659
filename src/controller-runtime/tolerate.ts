/** The result of the call; undefined when it fails with one of the tolerated errors, such as isAlreadyExists. */
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
