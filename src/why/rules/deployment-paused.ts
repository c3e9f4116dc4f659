import { metadataOf, valueAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import type { Rule } from '../rule.ts';
import { replicasOf } from '../workload-facts.ts';

export const deploymentPaused: Rule = {
  kinds: ['deployments.apps'],
  symptom: 'A change of a Deployment has no effect.',
  cause: 'The Deployment is paused.',
  advice: 'Resume it.',
  find(deployment) {
    if (valueAt(deployment, 'spec', 'paused') !== true) return undefined;
    const { name, namespace } = metadataOf(deployment);
    const { wanted, updated } = replicasOf(deployment);
    if (updated >= wanted) return undefined;
    return {
      severity: 'waiting',
      says: `the rollout is paused: ${updated} of ${wanted} pods have the current template`,
      mend: [{ command: command`rollout resume deployment/${name}${inNamespace({ namespace })}` }],
    };
  },
};
