/**
 * The pods that were last assigned to this node, so that a machine that restarts while the API server is
 * unreachable starts them again. The file is written whole and in one step; only root can read it.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { replaceFile } from '../../os/replace-file.ts';

export interface CheckpointContent {
  readonly podCIDR: string | undefined;
  readonly pods: readonly Pod[];
}

const format = 'minik8s-kubelet-checkpoint-1';

/** Returns undefined when the file does not exist; throws for a file that is not a checkpoint. */
export async function readCheckpoint(path: string): Promise<CheckpointContent | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { format: found, podCIDR, pods } = JSON.parse(text) as CheckpointContent & { format?: string };
    if (found !== format || !Array.isArray(pods)) throw new Error(`format ${found}`);
    return { podCIDR, pods };
  } catch (error) {
    throw new Error(`${path} is not a checkpoint of this version; remove the file to start without it`, {
      cause: error,
    });
  }
}

export async function writeCheckpoint(path: string, content: CheckpointContent): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await replaceFile(path, JSON.stringify({ format, ...content }), { mode: 0o600 });
}
