/**
 * Stages of the tests: the folders of their files, the number of parallel processes, and the files that share
 * a process.
 */
import { globSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';

export interface Stage {
  readonly name: string;
  /** Test files, relative to the repository. */
  readonly files: string;
  /** Number of processes that run at once, however busy the machine is. */
  readonly concurrency: number;
  /** Number of processes that run at once while processors are idle; `concurrency` if it is left out. */
  readonly maxConcurrency?: number;
  /** Maximum duration of one test. */
  readonly testTimeoutMs: number;
  /** Maximum duration of a process. */
  readonly processTimeoutMs: number;
  /** Maximum time between the end of the last test and that of its process; two minutes if it is left out. */
  readonly lingerMs?: number;
  /** Maximum number of files of one folder in a process; 1 gives each file a process of its own. */
  readonly filesInProcess: number;
  /** Maximum expected duration of the files that share a process, in seconds. */
  readonly secondsInProcess: number;
  /** Assumed duration of a file without a stored time, in seconds per kilobyte. */
  readonly secondsPerKilobyte: number;
}

export const stages: readonly Stage[] = [
  {
    name: 'unit',
    files: 'test/unit/**/*.test.ts',
    concurrency: 2,
    testTimeoutMs: 60_000,
    // The hundreds of files of a folder share a process; on a busy machine it runs for minutes.
    processTimeoutMs: 900_000,
    filesInProcess: Number.POSITIVE_INFINITY,
    secondsInProcess: Number.POSITIVE_INFINITY,
    secondsPerKilobyte: 0.03,
  },
  {
    name: 'conformance',
    files: 'test/conformance/**/*.test.ts',
    concurrency: 3,
    testTimeoutMs: 300_000,
    processTimeoutMs: 300_000,
    filesInProcess: 1,
    secondsInProcess: Number.POSITIVE_INFINITY,
    secondsPerKilobyte: 1.5,
  },
  {
    name: 'integration',
    files: 'test/integration/**/*.test.ts',
    // On average a file keeps half a processor busy.
    concurrency: 4,
    maxConcurrency: 6,
    testTimeoutMs: 300_000,
    processTimeoutMs: 900_000,
    // Enough files to share the loading, and few enough to keep several processes busy until the end.
    filesInProcess: 12,
    secondsInProcess: 45,
    secondsPerKilobyte: 0.4,
  },
  {
    name: 'e2e',
    files: 'test/e2e/**/*.test.ts',
    // These tests mostly wait, for example for the end of a lease or the start of an engine.
    concurrency: 4,
    maxConcurrency: 7,
    testTimeoutMs: 480_000,
    processTimeoutMs: 900_000,
    filesInProcess: 1,
    secondsInProcess: Number.POSITIVE_INFINITY,
    secondsPerKilobyte: 6,
  },
  {
    name: 'vm',
    files: 'test/vm/*.test.ts',
    // The emulated processors of one test keep all processors of this machine busy.
    concurrency: 1,
    testTimeoutMs: 600_000,
    processTimeoutMs: 3_600_000,
    filesInProcess: 1,
    secondsInProcess: Number.POSITIVE_INFINITY,
    secondsPerKilobyte: 30,
  },
];

export class UnknownTests extends Error {}

/** Returns the folder by which tests can be selected: `apiserver` for test/unit/apiserver/rest/x.test.ts. */
export function folderOf(stage: Stage, file: string): string {
  const base = stage.files.slice(0, stage.files.indexOf('*'));
  const parts = file.slice(base.length).split('/');
  return parts.length > 1 ? (parts[0] ?? '') : '';
}

/**
 * Returns the files of a stage, relative to `root` and sorted, or those that `names` select: folders of the
 * stage by name or path, or paths of test files, which may be in any folder. Throws UnknownTests for a name
 * that is neither.
 */
export function filesOf(stage: Stage, names: readonly string[], root: string, cwd: string): string[] {
  const all = globSync(stage.files, { cwd: root })
    .map((file) => file.split(sep).join('/'))
    .sort();
  if (names.length === 0) return all;
  const chosen = names.map((name) => {
    const path = `${relative(root, resolve(cwd, name)).split(sep).join('/')}/`;
    const inFolder = all.filter((file) => folderOf(stage, file) === name || file.startsWith(path));
    return inFolder.length > 0 ? inFolder : globSync(resolve(cwd, name)).map((path) => relative(root, path));
  });
  const unknown = names.filter((_, index) => !chosen[index]?.some((file) => /\.test\.m?[jt]s$/.test(file)));
  if (unknown.length > 0) {
    const folders = [...new Set(all.map((file) => folderOf(stage, file)))].filter(Boolean);
    const places = folders.length > 0 ? `; its folders are: ${folders.join(' ')}` : '';
    throw new UnknownTests(`no test file or folder of ${stage.name} tests: ${unknown.join(', ')}${places}`);
  }
  return [...new Set(chosen.flat())];
}
