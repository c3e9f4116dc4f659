/** Kubernetes' function of JSON patches. */
import { traversal } from '../cost/costs.ts';
import type { Declaration } from '../functions/overload.ts';
import { noSuchOverload } from '../values/value.ts';

export const jsonPatches: readonly Declaration[] = [
  [
    'jsonpatch.escapeKey(string): string',
    ([key]) => (typeof key === 'string' ? key.replaceAll('~', '~0').replaceAll('/', '~1') : noSuchOverload),
    traversal(0, { sized: true }),
  ],
];
