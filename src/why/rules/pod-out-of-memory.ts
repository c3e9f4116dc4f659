import { metadataOf, textAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace } from '../kinds.ts';
import { containersOf, isReadyForGood, lastEnd } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';
import { workloadOf } from '../workload.ts';

export const podOutOfMemory: Rule = {
  kinds: ['pods'],
  symptom: 'A container ends with OOMKilled (exit code 137).',
  cause: 'It used more memory than its limit, and the kernel ended it.',
  advice: 'Raise the limit, or make the program use less.',
  find(pod, seen) {
    if (isReadyForGood(pod, seen.nowMs)) return undefined;
    const container = containersOf(pod).find((one) => lastEnd(one)?.reason === 'OOMKilled');
    if (!container) return undefined;
    const limit = textAt(container.spec, 'resources', 'limits', 'memory');
    const workload = workloadOf(seen, pod);
    const { namespace } = metadataOf(pod);
    return {
      severity: 'broken',
      says: `container ${container.name} was killed: it used more memory than its limit${limit && ` of ${limit}`}`,
      evidence: [
        `container ${container.name}: OOMKilled, exit code 137, restarts: ${String(container.status.restartCount ?? 0)}`,
      ],
      mend: [
        workload
          ? {
              command: command`set resources ${workload.name}${inNamespace({ namespace })} -c ${container.name} --limits=memory=MORE`,
            }
          : { advice: `raise spec.containers[].resources.limits.memory of container ${container.name}` },
      ],
    };
  },
};
