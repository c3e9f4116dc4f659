/** Programs of Kubernetes, built from its published Go modules. */
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { systemExec } from '../../src/os/exec.ts';
import { type GoModule, moduleFile } from './module-file.ts';

/** Folder of the built programs, with a folder for each version. */
export const programsCache =
  process.env.MINIK8S_CONFORMANCE_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'minik8s-conformance');

export interface Recipe {
  readonly name: string;
  /** The arguments of `go` that make a program of that name. */
  readonly args: readonly string[];
  /** Note to print before the build begins. */
  readonly note?: string;
}

/**
 * Builds programs of a version of Kubernetes in a temporary folder, and moves each to its place when it is
 * complete, so that two processes may build at the same time. `say` gets a line for each step; `alsoTake`
 * gets the folder of Kubernetes' source. Rejects with Go's first line if a program cannot be built.
 */
export async function buildPrograms(
  version: string,
  recipes: readonly Recipe[],
  say: (line: string) => void,
  alsoTake?: (source: string) => Promise<void>,
): Promise<void> {
  const directory = join(programsCache, version);
  await mkdir(directory, { recursive: true });
  const work = await mkdtemp(join(programsCache, 'build-'));
  const env = { ...process.env, GOTOOLCHAIN: 'local', CGO_ENABLED: '0', GOFLAGS: '-mod=mod -buildvcs=false' };
  const go = (...args: string[]) =>
    systemExec('nice', ['-n', '10', 'go', ...args], { cwd: work, env, lengthy: true });
  try {
    say(`programs: fetching Kubernetes ${version}`);
    const download = await go('mod', 'download', '-json', `k8s.io/kubernetes@v${version}`);
    const source = JSON.parse(download.stdout) as { readonly Dir: string; readonly GoMod: string };
    await alsoTake?.(source.Dir);
    const upstream = JSON.parse((await go('mod', 'edit', '-json', source.GoMod)).stdout) as GoModule;
    await writeFile(join(work, 'go.mod'), moduleFile(version, upstream));
    for (const { name, args, note } of recipes) {
      say(`programs: building ${name}${note ? `, ${note}` : ''}`);
      await go(...args);
      await rename(join(work, name), join(directory, name));
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
