/**
 * Check before the first step that every place can be changed: a command that is refused there has done
 * nothing yet.
 */
import { existsSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { troubleAt } from '../os/file-trouble.ts';
import { changedPath } from './plan/changed-path.ts';
import type { Step } from './plan/step.ts';

/** Rejects with the first path whose directory, or the nearest one that exists, cannot be written. */
export async function requireWritablePlaces(steps: readonly Step[]): Promise<void> {
  for (const path of new Set(steps.map(changedPath).filter((each) => each !== undefined)))
    await access(existingAbove(path), constants.W_OK).catch((error) => {
      throw troubleAt(path, error);
    });
}

/** Returns the nearest directory above a path that exists. */
function existingAbove(path: string): string {
  const directory = dirname(path);
  return existsSync(directory) ? directory : existingAbove(directory);
}
