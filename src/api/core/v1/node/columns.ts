import type { Column } from '../../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn, none, unknown } from '../../../columns.ts';
import type { Node } from '../types.gen.ts';

const rolePrefix = 'node-role.kubernetes.io/';

function status(node: Node): string {
  if (node.status?.phase === 'Pending') return 'Pending';
  const ready = node.status?.conditions?.find((condition) => condition.type === 'Ready');
  const readiness = ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown';
  return node.spec.unschedulable ? `${readiness},SchedulingDisabled` : readiness;
}

/** Returns the roles from `node-role.kubernetes.io/<role>` labels and the value of `kubernetes.io/role`. */
export function nodeRoles(node: Node): string[] {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(node.metadata.labels ?? {})) {
    if (key.startsWith(rolePrefix) && key.length > rolePrefix.length) roles.add(key.slice(rolePrefix.length));
    else if (key === 'kubernetes.io/role' && value) roles.add(value);
  }
  return [...roles].sort();
}

const address = (type: string) => (node: Node) =>
  node.status?.addresses?.find((candidate) => candidate.type === type)?.address ?? none;

export const nodeColumns: readonly Column<Node>[] = [
  nameColumn,
  {
    name: 'Status',
    type: 'string',
    description: 'Whether the node runs pods, and whether it takes new ones.',
    cell: status,
  },
  {
    name: 'Roles',
    type: 'string',
    description: 'The roles of the node, from its labels.',
    cell: (node) => nodeRoles(node).join(',') || none,
  },
  ageColumn,
  {
    name: 'Version',
    type: 'string',
    description: 'The version of the node agent.',
    cell: (node) => node.status?.nodeInfo?.kubeletVersion ?? '',
  },
  {
    name: 'Internal-IP',
    type: 'string',
    priority: 1,
    description: 'The address for other nodes.',
    cell: address('InternalIP'),
  },
  {
    name: 'External-IP',
    type: 'string',
    priority: 1,
    description: 'The address from outside the cluster, if the node has one.',
    cell: address('ExternalIP'),
  },
  {
    name: 'OS-Image',
    type: 'string',
    priority: 1,
    description: 'The operating system.',
    cell: (node) => node.status?.nodeInfo?.osImage || unknown,
  },
  {
    name: 'Kernel-Version',
    type: 'string',
    priority: 1,
    description: 'The version of the kernel.',
    cell: (node) => node.status?.nodeInfo?.kernelVersion || unknown,
  },
  {
    name: 'Container-Runtime',
    type: 'string',
    priority: 1,
    description: 'The container runtime and its version.',
    cell: (node) => node.status?.nodeInfo?.containerRuntimeVersion || unknown,
  },
];
