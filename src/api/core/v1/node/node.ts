import type { ResourceDefinition } from '../../../../apimachinery/resource-definition.ts';
import type { Node } from '../types.gen.ts';
import { nodeColumns } from './columns.ts';
import { setNodeDefaults, validateNode, validateNodeStatus, validateNodeUpdate } from './validation.ts';

export type { Node, Taint } from '../types.gen.ts';

export const nodeResource: ResourceDefinition<Node> = {
  group: '',
  version: 'v1',
  kind: 'Node',
  plural: 'nodes',
  singular: 'node',
  shortNames: ['no'],
  categories: [],
  namespaced: false,
  typeName: 'core.v1.Node',
  rules: {
    'core.v1.Node': { defaults: { spec: {} } },
    'core.v1.NodeSpec': { acts: 'podCIDR podCIDRs unschedulable taints' },
    'core.v1.Taint': {},
    'core.v1.NodeStatus': { choices: { phase: [] } },
    'core.v1.NodeAddress': {},
    'core.v1.NodeCondition': { choices: { status: ['True', 'False', 'Unknown'] } },
    'core.v1.NodeDaemonEndpoints': {},
    'core.v1.DaemonEndpoint': {},
    'core.v1.NodeSystemInfo': {
      acts: 'machineID systemUUID bootID kernelVersion osImage containerRuntimeVersion kubeletVersion kubeProxyVersion operatingSystem architecture',
    },
    'core.v1.ContainerImage': {},
  },
  strategy: {
    setDefaults: setNodeDefaults,
    validate: validateNode,
    validateUpdate: validateNodeUpdate,
    validateStatus: validateNodeStatus,
    keepsStatusOnCreate: true,
    countsGenerations: false,
  },
  hasStatus: true,
  columns: nodeColumns,
  selectableFields: { 'spec.unschedulable': (node) => String(node.spec.unschedulable ?? false) },
  deleteAnswers: 'status',
};
