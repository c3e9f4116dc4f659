import * as v from 'valibot';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import {
  conditionSchema,
  int32,
  int64,
  objectMetaSchema,
  quantity,
  struct,
  time,
} from '../../../apimachinery/schema.ts';
import { nodeColumns } from './node-columns.ts';
import { setNodeDefaults, validateNode, validateNodeStatus, validateNodeUpdate } from './node-validation.ts';

const taint = struct({
  key: v.string(),
  value: v.optional(v.string()),
  effect: v.picklist(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
  timeAdded: v.optional(time()),
});

const nodeSchema = struct({
  apiVersion: v.literal('v1'),
  kind: v.literal('Node'),
  metadata: objectMetaSchema,
  spec: v.optional(
    struct({
      podCIDR: v.optional(v.string()),
      podCIDRs: v.optional(v.array(v.string())),
      unschedulable: v.optional(v.boolean()),
      taints: v.optional(v.array(taint)),
    }),
    {},
  ),
  status: v.optional(
    struct({
      /** `Pending` while the machine waits for approval; no other value is ever written. */
      phase: v.optional(v.string()),
      capacity: v.optional(v.record(v.string(), quantity())),
      allocatable: v.optional(v.record(v.string(), quantity())),
      conditions: v.optional(v.array(conditionSchema)),
      addresses: v.optional(v.array(struct({ type: v.string(), address: v.string() }))),
      daemonEndpoints: v.optional(struct({ kubeletEndpoint: v.optional(struct({ Port: int32() })) })),
      nodeInfo: v.optional(
        struct({
          machineID: v.string(),
          systemUUID: v.string(),
          bootID: v.string(),
          kernelVersion: v.string(),
          osImage: v.string(),
          containerRuntimeVersion: v.string(),
          kubeletVersion: v.string(),
          kubeProxyVersion: v.string(),
          operatingSystem: v.string(),
          architecture: v.string(),
        }),
      ),
      images: v.optional(
        v.array(struct({ names: v.optional(v.array(v.string())), sizeBytes: v.optional(int64()) })),
      ),
    }),
  ),
});

export type Node = v.InferOutput<typeof nodeSchema>;
export type Taint = v.InferOutput<typeof taint>;

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
    'core.v1.NodeStatus': {},
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
