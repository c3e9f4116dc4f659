/** Reads that tolerate the absence of a file. */

/** Resolves to the result of `reading`; to undefined if the file or a directory of its path is absent. */
export async function ifThere<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
