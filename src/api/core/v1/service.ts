import * as v from 'valibot';
import { checkDns1035Label } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import {
  conditionSchema,
  int32,
  intOrString,
  objectMetaSchema,
  stringMap,
  struct,
} from '../../../apimachinery/schema.ts';
import { serviceColumns } from './service-columns.ts';
import { keepAllocations, setServiceDefaults } from './service-defaults.ts';
import { validateServiceIngress } from './service-ingress.ts';
import { validateService, validateServiceUpdate } from './service-validation.ts';

const servicePort = struct({
  name: v.optional(v.string()),
  protocol: v.optional(v.picklist(['TCP', 'UDP', 'SCTP']), 'TCP'),
  port: int32(),
  /** Defaults to `port`. */
  targetPort: v.optional(intOrString()),
  nodePort: v.optional(int32()),
  /** What is spoken there; the endpoints repeat it. */
  appProtocol: v.optional(v.string()),
});

const serviceSchema = struct({
  apiVersion: v.literal('v1'),
  kind: v.literal('Service'),
  metadata: objectMetaSchema,
  spec: v.optional(
    struct({
      type: v.optional(v.picklist(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName']), 'ClusterIP'),
      selector: v.optional(stringMap()),
      /** 'None' makes a headless service. */
      clusterIP: v.optional(v.string()),
      clusterIPs: v.optional(v.array(v.string())),
      ports: v.optional(v.array(servicePort)),
      externalName: v.optional(v.string()),
      externalIPs: v.optional(v.array(v.string())),
      sessionAffinity: v.optional(v.picklist(['None', 'ClientIP']), 'None'),
      sessionAffinityConfig: v.optional(
        struct({ clientIP: v.optional(struct({ timeoutSeconds: v.optional(int32()) })) }),
      ),
      internalTrafficPolicy: v.optional(v.picklist(['Cluster', 'Local'])),
      externalTrafficPolicy: v.optional(v.picklist(['Cluster', 'Local'])),
      publishNotReadyAddresses: v.optional(v.boolean()),
      ipFamilies: v.optional(v.array(v.string())),
      ipFamilyPolicy: v.optional(v.string()),
    }),
    {},
  ),
  status: v.optional(
    struct({
      loadBalancer: v.optional(
        struct({
          ingress: v.optional(
            v.array(
              struct({
                ip: v.optional(v.string()),
                hostname: v.optional(v.string()),
                /** `Proxy`: what comes from there is addressed to a node, not to `ip`. */
                ipMode: v.optional(v.picklist(['VIP', 'Proxy'])),
              }),
            ),
          ),
        }),
        {},
      ),
      conditions: v.optional(v.array(conditionSchema)),
    }),
  ),
});

export type Service = v.InferOutput<typeof serviceSchema>;
export type ServicePort = v.InferOutput<typeof servicePort>;

export const serviceResource: ResourceDefinition<Service> = {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  singular: 'service',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  typeName: 'core.v1.Service',
  rules: {
    'core.v1.Service': { defaults: { spec: {} } },
    'core.v1.ServiceSpec': {
      acts: 'type selector clusterIP clusterIPs ports externalName externalIPs sessionAffinity sessionAffinityConfig internalTrafficPolicy externalTrafficPolicy publishNotReadyAddresses ipFamilies ipFamilyPolicy',
      defaults: { type: 'ClusterIP', sessionAffinity: 'None' },
      quiet: { allocateLoadBalancerNodePorts: [true] },
    },
    'core.v1.ServicePort': { defaults: { protocol: 'TCP' } },
    'core.v1.SessionAffinityConfig': {},
    'core.v1.ClientIPConfig': {},
    'core.v1.ServiceStatus': { defaults: { loadBalancer: {} } },
    'core.v1.LoadBalancerStatus': {},
    'core.v1.LoadBalancerIngress': { acts: 'ip hostname ipMode', choices: { ipMode: ['VIP', 'Proxy'] } },
  },
  strategy: {
    setDefaults: setServiceDefaults,
    prepareForCreate: (service) => {
      service.status = { loadBalancer: {} };
    },
    prepareForUpdate: keepAllocations,
    validate: validateService,
    validateUpdate: validateServiceUpdate,
    validateStatus: validateServiceIngress,
    checkName: checkDns1035Label,
    countsGenerations: false,
  },
  hasStatus: true,
  columns: serviceColumns,
  selectableFields: {
    'spec.clusterIP': (service) => service.spec.clusterIP ?? '',
    'spec.type': (service) => service.spec.type,
  },
  deleteAnswers: 'object',
};
