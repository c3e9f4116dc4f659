/** Files that the flags of generators name, read from the disk. */
import { readdirSync, statSync } from 'node:fs';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { readBytesSync } from '../../os/bounded-file.ts';
import type { SourceFiles } from './generator.ts';

export const sourceFiles: SourceFiles = {
  read: (path) => attempt(path, () => readBytesSync(path)),
  list: (path) =>
    attempt(path, () => {
      if (!statSync(path).isDirectory()) return undefined;
      const entries = readdirSync(path, { withFileTypes: true });
      return entries.flatMap((entry) => (entry.isFile() ? [entry.name] : [])).sort();
    }),
};

function attempt<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(`error reading ${path}: ${problemOf(error)}`);
  }
}

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
};

function problemOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return problems[code] ?? errorMessage(error);
}
