/** A copy of the built file that reports another version. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { systemExec } from '../../../src/os/exec.ts';
import { executable } from './cluster.ts';

/**
 * Writes a copy whose version ends with another character, and resolves to its version. `renames` are
 * further texts to replace, such as the name of a setting, which the copy then rejects.
 */
export async function writeOtherVersion(
  path: string,
  letter: string,
  renames: Readonly<Record<string, string>> = {},
): Promise<string> {
  const version = (await systemExec(executable, ['version'])).stdout.trim();
  const other = `${version.slice(0, -1)}${letter}`;
  const bytes = readFileSync(executable);
  for (const [from, to] of Object.entries({ [version]: other, ...renames })) replaceAll(bytes, from, to);
  writeFileSync(path, bytes);
  chmodSync(path, 0o755);
  return other;
}

/** Replaces a text that is stored uncompressed in the file by a text of the same length. */
function replaceAll(bytes: Buffer, from: string, to: string): void {
  let at = bytes.indexOf(from);
  if (at === -1 || from.length !== to.length) throw new Error(`${executable}: ${from} cannot become ${to}`);
  for (; at !== -1; at = bytes.indexOf(from, at + from.length)) bytes.write(to, at);
}
