/**
 * ComponentStatus reports the health of the scheduler, the controllers and etcd. Upstream has deprecated it;
 * old clients still request it.
 */
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { nameColumn } from '../../columns.ts';
import type { ComponentStatus } from './types.gen.ts';

/** Returns a function for the cell with a field of the condition Healthy (upstream: printComponentStatus). */
const conditionText = (field: 'message' | 'error') => (component: ComponentStatus) =>
  component.conditions?.find(({ type }) => type === 'Healthy')?.[field] ?? '';

export const componentStatusResource: ResourceDefinition<ComponentStatus> = {
  group: '',
  version: 'v1',
  kind: 'ComponentStatus',
  plural: 'componentstatuses',
  singular: 'componentstatus',
  shortNames: ['cs'],
  categories: [],
  namespaced: false,
  typeName: 'core.v1.ComponentStatus',
  rules: { 'core.v1.ComponentStatus': {}, 'core.v1.ComponentCondition': {} },
  strategy: { countsGenerations: false },
  hasStatus: false,
  isMeasured: true,
  deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
  columns: [
    nameColumn,
    {
      name: 'Status',
      type: 'string',
      description: 'Healthy, Unhealthy or Unknown.',
      cell: ({ conditions = [] }) => {
        const status = conditions.find(({ type }) => type === 'Healthy')?.status;
        return status === 'True' ? 'Healthy' : status === 'False' ? 'Unhealthy' : 'Unknown';
      },
    },
    {
      name: 'Message',
      type: 'string',
      description: 'Message of the component.',
      cell: conditionText('message'),
    },
    {
      name: 'Error',
      type: 'string',
      description: 'The error of the check.',
      cell: conditionText('error'),
    },
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
