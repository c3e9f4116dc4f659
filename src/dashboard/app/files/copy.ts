/** Copies of files from and to a container, by the tar of the container as `ctl cp` does. */
import { archiveEnd, memberHeader, padding } from '../../../formats/tar-archive.ts';
import type { ContainerPlace } from '../terminal/plan/channels.ts';
import { CollectedBytes } from './plan/collected-bytes.ts';
import { copyFault, lastPart, maxBytes, tooLarge } from './plan/copy-words.ts';
import { firstMember } from './plan/first-member.ts';
import { runProgram } from './program.ts';

export interface Copying {
  readonly place: ContainerPlace;
  readonly signal: AbortSignal;
  /** Called with the number of bytes that have been copied so far. */
  readonly onBytes: (bytes: number) => void;
}

export interface Downloaded {
  readonly name: string;
  readonly content: Blob;
}

/** Bytes of an archive that are searched for its first member; records of long names precede it. */
const headBytes = 64 * 1024;

/** Resolves to a file of the container, or to an archive of a directory. */
export async function download({ place, signal, onBytes }: Copying, path: string): Promise<Downloaded> {
  const output = new CollectedBytes(path, maxBytes);
  const { status, stderr } = await runProgram({
    ...{ place, signal, command: ['tar', 'cf', '-', path] },
    onOutput(bytes) {
      output.take(bytes);
      onBytes(output.size);
    },
  });
  const fault = copyFault(status, stderr);
  if (fault !== undefined) throw new Error(fault);
  const archive = new Blob(output.parts);
  const member = firstMember(new Uint8Array(await archive.slice(0, headBytes).arrayBuffer()));
  if (!member) throw new Error(`The tar of the container sent no archive of ${path}.`);
  if (member.type === 'symlink')
    throw new Error(`${path} is a symbolic link to ${member.target}: enter that path.`);
  if (member.type === 'other') throw new Error(`${path} is neither a file nor a directory.`);
  return member.type === 'file'
    ? { name: lastPart(path), content: archive.slice(member.offset, member.offset + member.size) }
    : { name: `${lastPart(path)}.tar`, content: archive };
}

/** Copies files into a directory of the container; files of the same name there are replaced. */
export async function upload(
  { place, signal, onBytes }: Copying,
  directory: string,
  files: readonly File[],
): Promise<void> {
  if (sizeOf(files) > maxBytes) throw new Error(tooLarge(files.map(({ name }) => name).join(', '), maxBytes));
  // -m: the files get the present time; -o: they belong to the user that the container runs as.
  const command = ['tar', '-xmof', '-', '-C', directory];
  const { status, stderr } = await runProgram({ place, signal, command, input: archiveOf(files, onBytes) });
  const fault = copyFault(status, stderr);
  if (fault !== undefined) throw new Error(fault);
}

export const sizeOf = (files: readonly File[]): number => files.reduce((sum, { size }) => sum + size, 0);

const pieceBytes = 128 * 1024;

async function* archiveOf(
  files: readonly File[],
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let sent = 0;
  for (const file of files) {
    const { name, size } = file;
    const modified = file.lastModified / 1000;
    yield memberHeader({ name, type: 'file', mode: 0o644, uid: 0, gid: 0, size, modified });
    for (let at = 0; at < size; at += pieceBytes) {
      const piece = new Uint8Array(await file.slice(at, at + pieceBytes).arrayBuffer());
      yield piece;
      sent += piece.length;
      onBytes(sent);
    }
    yield padding(size);
  }
  yield archiveEnd;
}
