/** A copy of the built file that reports another version. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { systemExec } from '../../../src/os/exec.ts';
import { executable } from './cluster.ts';

/**
 * Writes a copy whose version ends with other characters, and resolves to its version. The version stands in
 * the file as plain text, so a text of the same length replaces it everywhere.
 */
export async function writeOtherVersion(path: string, letter: string): Promise<string> {
  const version = (await systemExec(executable, ['version'])).stdout.trim();
  const other = `${version.slice(0, -1)}${letter}`;
  const bytes = readFileSync(executable);
  let at = bytes.indexOf(version);
  if (at === -1) throw new Error(`${executable} does not contain its version ${version} as text`);
  for (; at !== -1; at = bytes.indexOf(version, at + version.length)) bytes.write(other, at);
  writeFileSync(path, bytes);
  chmodSync(path, 0o755);
  return other;
}
