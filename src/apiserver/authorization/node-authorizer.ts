/**
 * What a node agent (`system:node:NAME` in system:nodes) may do: read what runs pods, write its own Node, its
 * own Lease, the status of pods bound to it, and events. Names inside a body are admission's business
 * (admission/node-restriction.ts).
 */
import { nodeNameOf } from '../user.ts';
import type { AccessRequest, Authorizer, Verb } from './authorizer.ts';

type ResourceAccess = Extract<AccessRequest, { type: 'resource' }>;

/** The node a pod is bound to: '' when it is not bound, undefined when there is no such pod. */
export type PodNodeLookup = (namespace: string, name: string) => Promise<string | undefined>;

interface NodeRule {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly Verb[];
  readonly when: 'always' | 'own name' | 'own lease' | 'bound pod';
}

const read: readonly Verb[] = ['get', 'list', 'watch'];

const rules: readonly NodeRule[] = [
  {
    group: '',
    resources: ['pods', 'services', 'nodes', 'configmaps', 'secrets', 'namespaces'],
    verbs: read,
    when: 'always',
  },
  { group: 'discovery.k8s.io', resources: ['endpointslices'], verbs: read, when: 'always' },
  { group: '', resources: ['nodes'], verbs: ['create'], when: 'always' },
  { group: '', resources: ['nodes', 'nodes/status'], verbs: ['update', 'patch'], when: 'own name' },
  { group: '', resources: ['pods/status'], verbs: ['update', 'patch'], when: 'bound pod' },
  { group: '', resources: ['pods'], verbs: ['delete'], when: 'bound pod' },
  { group: '', resources: ['pods/eviction'], verbs: ['create'], when: 'bound pod' },
  { group: '', resources: ['events'], verbs: ['create', 'update', 'patch'], when: 'always' },
  { group: 'events.k8s.io', resources: ['events'], verbs: ['create', 'update', 'patch'], when: 'always' },
  {
    group: 'coordination.k8s.io',
    resources: ['leases'],
    verbs: ['get', 'create', 'update', 'patch', 'delete'],
    when: 'own lease',
  },
];

export function nodeAuthorizer(nodeOfPod: PodNodeLookup): Authorizer {
  const conditions: Record<
    NodeRule['when'],
    (request: ResourceAccess, node: string) => boolean | Promise<boolean>
  > = {
    always: () => true,
    'own name': (request, node) => request.name === node,
    'own lease': ({ namespace, name, verb }, node) =>
      namespace === 'kube-node-lease' && (name === node || (verb === 'create' && name === '')),
    // A pod that is gone is not found, which tells the agent more than a refusal.
    'bound pod': async ({ namespace, name }, node) => ((await nodeOfPod(namespace, name)) ?? node) === node,
  };
  return async (request) => {
    const node = nodeNameOf(request.user);
    if (node === undefined || request.type !== 'resource') return false;
    for (const rule of rules) {
      const matches =
        rule.group === request.group &&
        rule.resources.includes(request.resource) &&
        rule.verbs.includes(request.verb);
      if (matches && (await conditions[rule.when](request, node))) return true;
    }
    return false;
  };
}
