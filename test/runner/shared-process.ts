/**
 * Test files that share a process, because most of the time of a small file is spent loading the tested code.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Writes a test file that loads each of `files` in a suite with its path as the name, so that hooks of a file
 * run only for its own tests. `files` are relative to `root`.
 */
export function writeEntry(entry: string, files: readonly string[], root: string): void {
  const suites = files.map((file) => {
    const url = pathToFileURL(resolve(root, file)).href;
    return `describe(${JSON.stringify(file)}, () => import(${JSON.stringify(url)}));\n`;
  });
  mkdirSync(dirname(entry), { recursive: true });
  writeFileSync(entry, `import { describe } from 'node:test';\n${suites.join('')}`);
}
