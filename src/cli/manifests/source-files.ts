/** The files of a function, from a folder or a zip archive. */
import { isUtf8 } from 'node:buffer';
import { lstat, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { unzipSync } from 'fflate';
import { errorMessage } from '../../base/log.ts';
import { readBounded } from '../../os/bounded-file.ts';

export interface Source {
  /** Text by path. */
  readonly files: Record<string, string>;
  /** Base64 by path, for files that are not text. */
  readonly binaryFiles: Record<string, string>;
}

/** Folders of tools that no program needs: libraries are installed when the function is built. */
const leftOut: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', '.venv', '__pycache__', 'node_modules']);

/** Maximum size of all files in bytes; it exceeds the server's maximum. */
const maxBytes = 4_000_000;

/**
 * Reads a folder or an archive. Rejects other files, links, and files that exceed the limit of a function.
 * `where` is the flag or field with the path, `owner` the object that uses the files, both for messages;
 * `single` accepts a file of another type as the only file.
 */
export async function readSource(
  path: string,
  where = '--from',
  { single = false, owner = 'function' } = {},
): Promise<Source> {
  const source: Source = { files: {}, binaryFiles: {} };
  let left = maxBytes;
  const add = (name: string, content: Uint8Array) => {
    left -= content.length;
    if (left < 0) throw new Error(tooLarge(owner));
    const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
    if (isUtf8(bytes)) source.files[name] = bytes.toString('utf8');
    else source.binaryFiles[name] = bytes.toString('base64');
  };
  const read = (file: string) => readBounded(file, { maxBytes, tooLong: new Error(tooLarge(owner)) });
  const found = await lstat(path).catch(() => undefined);
  if (!found) throw new Error(`${where}: there is no file or folder ${path}`);
  try {
    if (found.isDirectory()) await readFolder(path, '', read, add);
    else if (found.isFile() && /\.zip$/i.test(path)) readArchive(await read(path), add, owner);
    else if (found.isFile() && single) add(basename(path), await read(path));
    else throw new Error('it is neither a folder nor a .zip archive');
  } catch (error) {
    throw new Error(`${where}: cannot read ${path}: ${errorMessage(error)}`, { cause: error });
  }
  return source;
}

const tooLarge = (owner: string) => `it has more than ${maxBytes} bytes; a ${owner} may have 1000000`;

type Read = (path: string) => Promise<Buffer>;
type Add = (name: string, content: Uint8Array) => void;

async function readFolder(folder: string, prefix: string, read: Read, add: Add): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (leftOut.has(entry.name)) continue;
    const path = join(folder, entry.name);
    const name = prefix + entry.name;
    if (entry.isDirectory()) await readFolder(path, `${name}/`, read, add);
    else if (entry.isFile()) add(name, await read(path));
    // The target of a link may be any file of this machine.
    else throw new Error(`${path} is a link or no file; put the file itself there`);
  }
}

function readArchive(archive: Buffer, add: Add, owner: string): void {
  let size = 0;
  const isWanted = (file: { name: string; originalSize: number }) => {
    size += file.originalSize;
    if (size > maxBytes) throw new Error(tooLarge(owner));
    return !file.name.endsWith('/') && !file.name.split('/').some((part) => leftOut.has(part));
  };
  for (const [name, content] of Object.entries(unzipSync(archive, { filter: isWanted }))) add(name, content);
}
