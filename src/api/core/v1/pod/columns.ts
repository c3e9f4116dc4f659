import { humanDuration } from '../../../../apimachinery/age.ts';
import type { Column } from '../../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn, none } from '../../../columns.ts';
import type { Pod } from '../types.gen.ts';
import { podCondition } from './conditions.ts';
import { summarizePod } from './summary.ts';

export const podColumns: readonly Column<Pod>[] = [
  nameColumn,
  {
    name: 'Ready',
    type: 'string',
    description: 'Containers that are ready, of all containers of the pod.',
    cell: (pod) => {
      const { readyContainers, totalContainers } = summarizePod(pod);
      return `${readyContainers}/${totalContainers}`;
    },
  },
  {
    name: 'Status',
    type: 'string',
    description: 'The phase of the pod, or the reason why it is not running.',
    cell: (pod) => summarizePod(pod).reason,
  },
  {
    name: 'Restarts',
    type: 'string',
    description: 'Number of restarts of the containers, and the time since the last one.',
    cell: (pod, now) => {
      const { restarts, lastRestart } = summarizePod(pod);
      if (restarts === 0 || lastRestart === undefined) return `${restarts}`;
      return `${restarts} (${humanDuration(now - lastRestart)} ago)`;
    },
  },
  ageColumn,
  {
    name: 'IP',
    type: 'string',
    priority: 1,
    description: 'The address of the pod.',
    cell: (pod) => pod.status?.podIPs?.[0]?.ip || pod.status?.podIP || none,
  },
  {
    name: 'Node',
    type: 'string',
    priority: 1,
    description: 'The node that the pod is bound to.',
    cell: (pod) => pod.spec.nodeName || none,
  },
  {
    name: 'Nominated Node',
    type: 'string',
    priority: 1,
    description: 'The node that the pod is nominated for while other pods are preempted there.',
    cell: (pod) => pod.status?.nominatedNodeName || none,
  },
  {
    name: 'Readiness Gates',
    type: 'string',
    priority: 1,
    description: 'Readiness gates: conditions that are true, out of all.',
    cell: readinessGates,
  },
];

function readinessGates(pod: Pod): string {
  const gates = pod.spec.readinessGates ?? [];
  if (gates.length === 0) return none;
  const met = gates.filter((gate) => podCondition(pod, gate.conditionType)?.status === 'True');
  return `${met.length}/${gates.length}`;
}
