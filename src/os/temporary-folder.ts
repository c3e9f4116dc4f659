/** A folder of a command for its temporary files, such as copies of objects that only its user may read. */
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

/**
 * Makes a folder in `parent` whose name begins with `prefix`, with the mode 0700. It is removed when it is
 * disposed of, and when the process exits before, as `ctl` does once the reader of its output has gone.
 */
export async function makeTemporaryFolder(parent: string, prefix: string): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(parent, prefix));
  const options = { recursive: true, force: true } as const;
  const atExit = () => rmSync(path, options);
  process.once('exit', atExit);
  return {
    path,
    async [Symbol.asyncDispose]() {
      await rm(path, options);
      process.off('exit', atExit);
    },
  };
}
