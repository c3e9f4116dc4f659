/** Index of pods by the node to which they are bound, shared by the controllers of nodes. */
import type { Pod } from '../../api/core/v1/pod/pod.ts';

export const podsByNode = 'pods.nodeName';

export const nodeNameOf = (pod: Pod): readonly string[] => (pod.spec.nodeName ? [pod.spec.nodeName] : []);
