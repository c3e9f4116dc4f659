/** Runs the user's editor on a temporary file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onAbort, signalStatus } from '../../base/abort.ts';
import { ExitError } from '../errors.ts';
import type { Io } from '../io.ts';

export interface EditedFile {
  readonly path: string;
  readonly text: string;
}

/**
 * Resolves to the contents of the file when the editor ends; rejects if the editor fails or cannot be run.
 * Ctrl-C is left to the editor, in which it may be an ordinary key. If this command is asked to end, so is
 * the editor; the file is kept if it was changed, and `err` says where.
 */
export async function editText(
  { env, signal, lendTerminal = (work) => work(), err }: EditorIo,
  text: string,
  extension: string,
): Promise<EditedFile> {
  // The directory is readable by the user only, since the object may be a Secret.
  const folder = await mkdtemp(join(env.TMPDIR || tmpdir(), 'ctl-edit-'));
  const path = join(folder, `object${extension}`);
  await writeFile(path, text, { mode: 0o600 });
  const editor = env.KUBE_EDITOR || env.EDITOR || 'vi';
  const [code, by] = await lendTerminal(() => runEditor(editor, path, env, signal));
  if (signal.aborted) {
    const changed = await readFile(path, 'utf8').catch(() => text);
    if (changed === text) await discard({ path });
    else err(storedText({ path }));
    throw signal.reason;
  }
  if (code === 0) return { path, text: await readFile(path, 'utf8') };
  await discard({ path });
  const problem = `there was a problem with the editor ${JSON.stringify(editor)}`;
  const interrupted = signalStatus('SIGINT');
  if (by === 'SIGINT' || code === interrupted)
    throw new ExitError(`${problem}: it was interrupted`, interrupted);
  throw new Error(`${problem}: it ended with ${code ?? by}`);
}

type EditorIo = Pick<Io, 'env' | 'signal' | 'lendTerminal' | 'err'>;

/** Resolves to the exit status of the editor, or to the signal that has ended it. */
async function runEditor(
  editor: string,
  path: string,
  env: Io['env'],
  signal: AbortSignal,
): Promise<readonly [number | null, NodeJS.Signals | null]> {
  // The editor may be a command with arguments, such as `code --wait`. It takes the place of the shell, so
  // that it gets the signal, unless its command is more than a program with arguments.
  const script = `${isProgram.test(editor) ? 'exec ' : ''}${editor} "$1"`;
  const child = spawn('/bin/sh', ['-c', script, 'sh', path], { stdio: 'inherit', env: { ...env } });
  const unlink = onAbort(signal, () => void child.kill('SIGTERM'));
  try {
    return (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  } finally {
    unlink();
  }
}

/** A program with arguments: no assignment of a variable in front, no list of commands. */
const isProgram = /^[^\s=;&|<>()`]+(\s[^;&|<>()`]*)?$/;

/** Returns the line that says where the changes of the user are. */
export const storedText = ({ path }: Pick<EditedFile, 'path'>): string =>
  `A copy of your changes has been stored to ${JSON.stringify(path)}\n`;

export const discard = ({ path }: Pick<EditedFile, 'path'>): Promise<void> =>
  rm(dirname(path), { recursive: true, force: true });
