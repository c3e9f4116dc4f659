import { isNotFound } from '../apimachinery/status-error.ts';

/** For writes to objects that may be gone by now, which is as good: resolves to undefined when they are. */
export async function ifPresent<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
