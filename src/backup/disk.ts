/** The disk of a directory. */
import { statfs } from 'node:fs/promises';
import type { Disk } from './archive-limits.ts';

export const diskOf = (path: string): Disk => ({
  path,
  async freeBytes() {
    const { bavail, bsize } = await statfs(path);
    return bavail * bsize;
  },
});
