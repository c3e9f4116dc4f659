/** The PriorityClasses that every cluster has. */

import { apiVersionOf } from '../../../apimachinery/resource-definition.ts';
import { systemClasses } from '../../core/v1/pod/priority.ts';
import type { FixedObject } from '../../fixed-object.ts';
import { priorityClassResource } from './priority-class.ts';
import type { PriorityClass } from './types.gen.ts';

const descriptions: Readonly<Record<string, string>> = {
  'system-cluster-critical': 'For pods that the cluster needs, on whichever node.',
  'system-node-critical': 'For pods that their node needs, and that may not move to another.',
};

export const systemPriorityClasses: readonly FixedObject<PriorityClass>[] = [...systemClasses].map(
  ([name, value]) => ({
    ref: priorityClassResource,
    draft: {
      apiVersion: apiVersionOf(priorityClassResource),
      kind: 'PriorityClass',
      metadata: { name },
      value,
      globalDefault: false,
      description: descriptions[name] ?? '',
      preemptionPolicy: 'PreemptLowerPriority',
    },
  }),
);
