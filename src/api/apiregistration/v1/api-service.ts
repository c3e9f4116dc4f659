/**
 * APIService: the server of one version of one group. Without `spec.service` it is this server; with it, the
 * requests are forwarded to an extension server.
 */
import { keepMeta } from '../../../apimachinery/meta.ts';
import { checkPathSegment } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { validateApiService, validateApiServiceStatus } from './api-service-validation.ts';
import type { APIService, APIServiceCondition } from './types.gen.ts';

export { apiServiceName } from './api-service-validation.ts';
export type { APIService } from './types.gen.ts';

export const availableOf = ({ status }: APIService): APIServiceCondition | undefined =>
  status?.conditions?.find(({ type }) => type === 'Available');

/** Returns the condition of an APIService of this server; `now` is RFC 3339. */
export const localCondition = (now: string): APIServiceCondition => ({
  type: 'Available',
  status: 'True',
  lastTransitionTime: now,
  reason: 'Local',
  message: 'Local APIServices are always available',
});

function availability(service: APIService): string {
  const { status = 'Unknown', reason = '' } = availableOf(service) ?? {};
  return status === 'True' || reason === '' ? status : `${status} (${reason})`;
}

export const apiServiceResource: ResourceDefinition<APIService> = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  kind: 'APIService',
  plural: 'apiservices',
  singular: 'apiservice',
  shortNames: [],
  categories: ['api-extensions'],
  namespaced: false,
  typeName: 'apiregistration.v1.APIService',
  rules: {
    'apiregistration.v1.APIService': { defaults: { spec: {} } },
    'apiregistration.v1.APIServiceSpec': { defaults: { groupPriorityMinimum: 0, versionPriority: 0 } },
    'apiregistration.v1.ServiceReference': { defaults: { port: 443 } },
    'apiregistration.v1.APIServiceStatus': {},
    'apiregistration.v1.APIServiceCondition': { defaults: { type: '', status: '' } },
  },
  strategy: {
    checkName: checkPathSegment,
    resetFields: { '': ['status'], status: ['metadata', 'spec'] },
    prepareForCreate: (service, { now }) => {
      service.status = service.spec.service ? {} : { conditions: [localCondition(now)] };
    },
    prepareForStatusUpdate: ({ metadata }, old) =>
      keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    validate: validateApiService,
    validateStatus: validateApiServiceStatus,
    countsGenerations: false,
    updatesNameVersion: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Service',
      type: 'string',
      description: 'The Service of the extension server, or Local.',
      cell: ({ spec: { service } }) => (service ? `${service.namespace}/${service.name}` : 'Local'),
    },
    {
      name: 'Available',
      type: 'string',
      description: 'Whether requests for the group and version can be answered.',
      cell: availability,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
