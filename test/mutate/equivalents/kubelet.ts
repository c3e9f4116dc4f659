import type { Equivalent } from '../equivalent.ts';

export const kubelet: readonly Equivalent[] = [
  {
    file: 'src/kubelet/plan/kernel-files.ts',
    line: 'return Number.isFinite(limit) && limit < 2 ** 60 ? limit : undefined;',
    change: 'Number.isFinite(limit) && limit < 2 ** 60 → (limit < 2 ** 60)',
    because: 'neither NaN nor Infinity is less than a number; a limit is never below zero',
  },
];
