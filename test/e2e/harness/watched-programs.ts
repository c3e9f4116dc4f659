/** Programs that log their callers, for a process that finds them first on its PATH. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { makeDirectory } from './belongings.ts';

export interface WatchedPrograms {
  /** The PATH for the watched process. */
  readonly path: string;
  /**
   * Returns the names of the programs that were started since the last call, each with the name of its
   * caller: `ip sh`.
   */
  seen(): string[];
}

export function watchPrograms(names: readonly string[]): WatchedPrograms {
  const directory = makeDirectory('minik8s-watched-');
  const bin = join(directory, 'bin');
  const log = join(directory, 'seen');
  mkdirSync(bin);
  writeFileSync(log, '');
  for (const name of names) {
    const program = execFileSync('which', [name], { encoding: 'utf8' }).trim();
    const note = `read parent </proc/$PPID/comm; echo "${name} $parent" >>${log}`;
    writeFileSync(join(bin, name), `#!/bin/sh\n${note}\nexec ${program} "$@"\n`, { mode: 0o755 });
  }
  let told = 0;
  return {
    path: `${bin}${delimiter}${process.env.PATH}`,
    seen() {
      const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean);
      const fresh = lines.slice(told);
      told = lines.length;
      return [...new Set(fresh)].sort();
    },
  };
}
