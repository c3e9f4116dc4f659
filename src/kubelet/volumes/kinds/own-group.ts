/** The group of a pod's files (fsGroup), given to a volume that is already there (upstream: pkg/volume SetVolumeOwnership). */
import { stat } from 'node:fs/promises';
import type { Exec } from '../../../base/exec.ts';

/** What the group may: all that the owner may, and in directories what is made is the group's. */
const wantedMode = 0o2070;

/**
 * By the tools of coreutils, which go from directory to directory by descriptors and change links, not what they lead to: but for the
 * volume's own path, which an administrator may have made a link. With OnRootMismatch nothing is done where the volume's own directory
 * is as it should be.
 */
export async function ownGroup(
  exec: Exec,
  path: string,
  group: number,
  policy: string | undefined,
): Promise<void> {
  const { gid, mode } = await stat(path);
  if (policy === 'OnRootMismatch' && gid === group && (mode & wantedMode) === wantedMode) return;
  const owner = ['chgrp', '-h', '--', String(group)];
  const give = (which: readonly string[], ...commands: (readonly string[])[]) =>
    exec('find', [`${path}/.`, '-xdev', '!', '-type', 'l', ...which, ...commands.flatMap(onEach)], {
      lengthy: true,
    });
  await give(['-type', 'f'], owner, ['chmod', 'g+rw', '--']);
  await give(['!', '-type', 'f', '!', '-type', 'd'], owner);
  // The volume's own directory last: with it as it should be the rest is, too.
  await give(['-depth', '-type', 'd'], owner, ['chmod', 'g+rwxs', '--']);
}

/** The command with all that `find` finds, so many at a time. */
const onEach = (command: readonly string[]) => ['-exec', ...command, '{}', '+'];
