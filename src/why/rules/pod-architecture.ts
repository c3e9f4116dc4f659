import { textAt } from '../../apimachinery/fields.ts';
import { containersOf, isDeleted, isReady, lastEnd, waitMessage } from '../pod-facts.ts';
import type { Rule } from '../rule.ts';
import { refOf } from '../snapshot.ts';

const wrong = /exec format error/i;

export const podArchitecture: Rule = {
  kinds: ['pods'],
  symptom: 'A container ends at once: exec format error.',
  cause: 'The image, or its program, is made for another processor architecture than that of the node.',
  advice: 'Build the image for the architecture of the nodes, or choose nodes by kubernetes.io/arch.',
  find(pod, seen) {
    if (isDeleted(pod) || isReady(pod)) return undefined;
    const container = containersOf(pod).find(
      (one) => wrong.test(waitMessage(one)) || wrong.test(lastEnd(one)?.message ?? ''),
    );
    if (!container) return undefined;
    const node = textAt(pod, 'spec', 'nodeName');
    const info = seen.get({ key: 'nodes', namespace: '', name: node });
    const architecture = textAt(info, 'status', 'nodeInfo', 'architecture');
    const image = textAt(container.spec, 'image');
    return {
      severity: 'broken',
      says: `the image ${image} of container ${container.name} is made for another processor architecture`,
      evidence: [
        lastEnd(container)?.message || waitMessage(container),
        ...(architecture ? [`the node ${node} has ${architecture}`] : []),
      ],
      mend: [
        {
          advice: `build ${image} for ${architecture || 'the architecture of the node'} (docker build --platform), or set nodeSelector kubernetes.io/arch`,
        },
      ],
      log: {
        pod: refOf('pods', pod),
        container: container.name,
        previous: lastEnd(container)?.isPrevious === true,
      },
    };
  },
};
