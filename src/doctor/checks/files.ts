/** Checks of the permissions of minik8s' own files. Pure. */
import { quoted } from '../../base/shell-words.ts';
import { type Check, fault, ok } from '../finding.ts';
import type { Situation } from '../situation.ts';

export interface OwnFile {
  readonly path: string;
  /** Permission bits. */
  readonly mode: number;
  /** Permission bits that it should have at most. */
  readonly most: number;
}

export const fileChecks: readonly Check<readonly OwnFile[], Situation>[] = [
  {
    name: 'permissions',
    find(files) {
      const open = files.filter(({ mode, most }) => (mode & ~most) !== 0);
      if (open.length === 0)
        return files.length > 0 ? [ok(`${files.length} files with keys are closed to others`)] : [];
      return open.map(({ path, mode, most }) =>
        fault(
          `${path} has the permissions ${octal(mode)}`,
          'other users of this machine can read or replace keys of the cluster',
          `chmod ${octal(most)} ${quoted(path)}`,
          { kind: 'mode', path, mode: most },
        ),
      );
    },
  },
];

const octal = (mode: number): string => mode.toString(8);
