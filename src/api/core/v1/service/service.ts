import { checkDns1035Label } from '../../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../../apimachinery/resource-definition.ts';
import type { Service } from '../types.gen.ts';
import { serviceColumns } from './columns.ts';
import { keepAllocations, setBothClusterIPs, setServiceDefaults } from './defaults.ts';
import { validateServiceIngress } from './ingress.ts';
import { validateService, validateServiceUpdate } from './validation.ts';
import { serviceWarnings } from './warnings.ts';

export type { Service, ServicePort } from '../types.gen.ts';

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
      acts: 'type allocateLoadBalancerNodePorts loadBalancerClass loadBalancerIP loadBalancerSourceRanges healthCheckNodePort selector clusterIP clusterIPs ports externalName externalIPs sessionAffinity sessionAffinityConfig internalTrafficPolicy externalTrafficPolicy trafficDistribution publishNotReadyAddresses ipFamilies ipFamilyPolicy',
      defaults: { type: 'ClusterIP', sessionAffinity: 'None' },
      choices: { ipFamilyPolicy: ['SingleStack', 'PreferDualStack', 'RequireDualStack'] },
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
      if (service.spec.type !== 'ExternalName') setBothClusterIPs(service);
      service.status = { loadBalancer: {} };
    },
    prepareForUpdate: keepAllocations,
    validate: validateService,
    validateUpdate: validateServiceUpdate,
    validateStatus: validateServiceIngress,
    warnings: serviceWarnings,
    checkName: checkDns1035Label,
    countsGenerations: false,
    createsOnUpdate: true,
  },
  hasStatus: true,
  columns: serviceColumns,
  selectableFields: {
    'spec.clusterIP': (service) => service.spec.clusterIP ?? '',
    'spec.type': (service) => service.spec.type,
  },
  deleteAnswers: 'object',
};
