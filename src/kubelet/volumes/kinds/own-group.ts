/**
 * Applies the group of a pod's files (fsGroup) to an existing volume (upstream: pkg/volume
 * SetVolumeOwnership).
 */
import { stat } from 'node:fs/promises';
import type { Exec } from '../../../os/exec.ts';

/** Mode bits of the group: the same access as the owner, and new files in directories get the group. */
const wantedMode = 0o2070;

/**
 * Sets the group with coreutils' tools, which move between directories by descriptors and change links
 * themselves, not their targets. The exception is the volume's own path, which an administrator may have made
 * a link. With OnRootMismatch nothing is done when the volume's own directory is already as it should be.
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
  // The volume's own directory comes last: when it is as it should be, so is the rest.
  await give(['-depth', '-type', 'd'], owner, ['chmod', 'g+rwxs', '--']);
}

/** Returns find's arguments that run the command on everything found, with many paths per run. */
const onEach = (command: readonly string[]) => ['-exec', ...command, '{}', '+'];
