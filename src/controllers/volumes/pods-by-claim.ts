/** Index of pods by the claims that they use, shared by all volume controllers. */

import { claimNamesOf } from '../../api/core/v1/pod/claims.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { ObjectKey } from '../../apimachinery/meta.ts';

export const podsByClaim = 'pods by claim';

export const claimKeysOf = (pod: Pod): ObjectKey[] =>
  claimNamesOf(pod).map((name) => `${pod.metadata.namespace}/${name}`);
