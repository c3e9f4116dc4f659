/** What the call comes to; undefined when it fails in one of the ways that are as good, such as isAlreadyExists. */
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
