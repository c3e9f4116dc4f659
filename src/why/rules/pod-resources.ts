import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { isRejectedFor, unscheduledOf } from '../rejections.ts';
import type { Mend, Rule } from '../rule.ts';
import { workloadOf } from '../workload.ts';

export const podResources: Rule = {
  kinds: ['pods'],
  symptom: 'A pod stays Pending: Insufficient cpu, memory or another resource.',
  cause: 'No node has as much free as the containers request.',
  advice: 'Request less, remove other pods, or join another node.',
  find(pod, seen) {
    const unscheduled = unscheduledOf(pod);
    if (!unscheduled || !isRejectedFor(unscheduled, /^Insufficient|\d Insufficient|Too many pods/))
      return undefined;
    const short = unscheduled.nearest.filter((reason) => textAt(reason, 'resource') !== '');
    const lacks = short.map(
      (reason) =>
        `${textAt(reason, 'resource')} (requested ${textAt(reason, 'requested')}, free ${textAt(reason, 'free')})`,
    );
    const node = unscheduled.nearestNode;
    const workload = workloadOf(seen, pod);
    const free = short
      .filter((reason) => ['cpu', 'memory'].includes(textAt(reason, 'resource')))
      .map((reason) => `${textAt(reason, 'resource')}=${textAt(reason, 'free')}`);
    const mend: Mend[] =
      workload && free.length > 0
        ? [
            {
              command: command`set resources ${workload.name} -n ${metadataOf(pod).namespace} --requests=${free.join(',')}`,
              about: 'at most this; the sum over its containers counts',
            },
          ]
        : [{ advice: 'lower spec.containers[].resources.requests of the pod' }];
    return {
      severity: 'broken',
      says:
        lacks.length > 0
          ? `no node has enough for it; ${node} lacks the least: ${lacks.join(', ')}`
          : 'no node has enough free for its requests',
      evidence: unscheduled.evidence,
      mend: [...mend, { advice: 'or join another node: minik8s token create --print-install-command' }],
    };
  },
};
