/** Test files that share a process: most of the time of a small file goes into loading what it tests. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Writes a test file that loads each of `files` in a suite named by its path: hooks of one file then run for its own tests alone.
 * `files` are relative to `root`.
 */
export function writeEntry(entry: string, files: readonly string[], root: string): void {
  const suites = files.map((file) => {
    const url = pathToFileURL(resolve(root, file)).href;
    return `describe(${JSON.stringify(file)}, () => import(${JSON.stringify(url)}));\n`;
  });
  mkdirSync(dirname(entry), { recursive: true });
  writeFileSync(entry, `import { describe } from 'node:test';\n${suites.join('')}`);
}
