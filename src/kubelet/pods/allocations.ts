/**
 * Resources that were allocated to pods after a resize. They are kept on disk, because the labels of
 * containers cannot change.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isRecord } from '../../apimachinery/equality.ts';
import { replaceFile } from '../../os/replace-file.ts';
import { type Allocation, readResources } from './plan/allocation.ts';

/** Returns the path of the allocation file, which is removed with the pod's other files. */
const fileIn = (podDirectory: string) => join(podDirectory, 'allocation.json');

/**
 * Returns the pod's allocation from disk; empty when the file is missing or invalid, and then the allocation
 * in each container's labels applies.
 */
export async function readAllocation(podDirectory: string): Promise<Allocation> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(fileIn(podDirectory), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return new Map();
    throw error;
  }
  if (!isRecord(value)) return new Map();
  return new Map(
    Object.entries(value).flatMap(([name, given]) => {
      const resources = readResources(JSON.stringify(given));
      return resources ? [[name, resources] as const] : [];
    }),
  );
}

export async function writeAllocation(podDirectory: string, allocation: Allocation): Promise<void> {
  const path = fileIn(podDirectory);
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  await replaceFile(path, JSON.stringify(Object.fromEntries(allocation)), { mode: 0o600 });
}
