/** Waits for the correction of settings that were rejected, where each start would reject them again. */
import { watch } from 'node:fs';

/** Directory of the configuration files. */
const usualDirectory = '/etc/minik8s';

/**
 * Resolves at the first change of an entry of the directory, such as a file that is saved; at once if the
 * directory cannot be watched.
 */
export function untilCorrected(directory = usualDirectory): Promise<void> {
  return new Promise((resolve) => {
    try {
      const watcher = watch(directory, () => {
        watcher.close();
        resolve();
      });
      watcher.once('error', () => resolve());
    } catch {
      resolve();
    }
  });
}
