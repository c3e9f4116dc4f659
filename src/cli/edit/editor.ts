/** Runs the user's editor on a temporary file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Io } from '../io.ts';

export interface EditedFile {
  readonly path: string;
  readonly text: string;
}

/**
 * Resolves to the contents of the file when the editor ends; rejects if the editor fails or cannot be run.
 */
export async function editText(
  { env }: Pick<Io, 'env'>,
  text: string,
  extension: string,
): Promise<EditedFile> {
  // The directory is readable by the user only, since the object may be a Secret.
  const path = join(await mkdtemp(join(env.TMPDIR || tmpdir(), 'ctl-edit-')), `object${extension}`);
  await writeFile(path, text, { mode: 0o600 });
  const editor = env.KUBE_EDITOR || env.EDITOR || 'vi';
  // The editor may be a command with arguments, such as `code --wait`.
  const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', path], { stdio: 'inherit', env: { ...env } });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) {
    await discard({ path });
    throw new Error(`there was a problem with the editor ${JSON.stringify(editor)}: it ended with ${code}`);
  }
  return { path, text: await readFile(path, 'utf8') };
}

export const discard = ({ path }: Pick<EditedFile, 'path'>): Promise<void> =>
  rm(dirname(path), { recursive: true, force: true });
