/** Test files that share a process: most of the time of a small file goes into loading what it tests. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface Group {
  readonly name: string;
  /** Paths. */
  readonly files: readonly string[];
}

/**
 * One file for each group that loads its files, each in a suite: what a file does before each of its tests it does before no others.
 * `folder`: what the titles of the suites are relative to. `cache`: where the files are written, after what is there was removed.
 */
export function entriesOf(groups: readonly Group[], folder: string, cache: string): readonly string[] {
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  return groups.map(({ name, files }) => {
    const path = join(cache, `${name}.test.mjs`);
    const suites = files.map((file) => {
      const title = JSON.stringify(relative(folder, file));
      return `describe(${title}, () => import(${JSON.stringify(pathToFileURL(file).href)}));\n`;
    });
    writeFileSync(path, `import { describe } from 'node:test';\n${suites.join('')}`);
    return path;
  });
}
