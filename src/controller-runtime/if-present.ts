import { isNamespaceTerminating, isNotFound } from '../apimachinery/status-error.ts';

/** For writes to objects that may be deleted by now: resolves to undefined then. */
export async function ifPresent<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** For creations: resolves to undefined in a namespace that is terminating or deleted. */
export async function unlessNamespaceEnds<T>(creation: Promise<T>): Promise<T | undefined> {
  try {
    return await creation;
  } catch (error) {
    if (isNamespaceTerminating(error) || isNotFound(error)) return undefined;
    throw error;
  }
}
