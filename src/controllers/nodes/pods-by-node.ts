/** The index of pods by the node they are bound to, shared by the controllers that look after nodes. */
import type { Pod } from '../../api/core/v1/pod.ts';

export const podsByNode = 'pods.nodeName';

export const nodeNameOf = (pod: Pod): readonly string[] => (pod.spec.nodeName ? [pod.spec.nodeName] : []);
