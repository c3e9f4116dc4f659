import { isNamespaceTerminating, isNotFound } from '../apimachinery/status-error.ts';

/** Resolves to undefined if the object of the write has been deleted. */
export async function ifPresent<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Resolves to undefined if the namespace of the created object is terminating or deleted. */
export async function unlessNamespaceEnds<T>(creation: Promise<T>): Promise<T | undefined> {
  try {
    return await creation;
  } catch (error) {
    if (isNamespaceTerminating(error) || isNotFound(error)) return undefined;
    throw error;
  }
}
