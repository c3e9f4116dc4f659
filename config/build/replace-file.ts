/** Files of a build appear whole: several builds may run at once, and one may be interrupted. */
import { rename, rm } from 'node:fs/promises';

/**
 * Calls `make` with a path beside `target`, and moves the result to `target`. Each build makes its own draft,
 * and the last one is kept.
 */
export async function replaceFile(target: string, make: (path: string) => Promise<void>): Promise<void> {
  const draft = `${target}.${process.pid}.new`;
  try {
    await make(draft);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
