import type { Plugin } from '../framework.ts';
import { policies, policyAnnotation, policyOf } from '../policies.ts';

const name = 'SchedulingPolicy';

/** Rejects all nodes for a pod that names an unknown policy. */
export const schedulingPolicy: Plugin = {
  name,
  preFilter({ pod }) {
    const asked = pod.metadata.annotations?.[policyAnnotation];
    if (asked === undefined || policyOf(pod)) return 'skip';
    const text = `annotation ${policyAnnotation}: ${JSON.stringify(asked)} does not exist; use one of ${policies.join(', ')}`;
    return { refused: { plugin: name, text, unresolvable: true } };
  },
  helps: () => false,
};
