import { invalidCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import type { Lease } from './types.gen.ts';

export type { Lease } from './types.gen.ts';

/** Namespace in which node agents renew their leases, each under the name of its Node. */
export const nodeLeaseNamespace = 'kube-node-lease';

/**
 * The Lease of the master that runs the controllers and the scheduler, when several masters share a store.
 */
export const controllersLease = { namespace: 'kube-system', name: 'minik8s-controllers' } as const;

function validateSpec({ leaseDurationSeconds = 1, leaseTransitions = 0 }: Lease['spec']): StatusCause[] {
  const causes: StatusCause[] = [];
  if (leaseDurationSeconds <= 0)
    causes.push(invalidCause('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'));
  if (leaseTransitions < 0)
    causes.push(
      invalidCause('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'),
    );
  return causes;
}

export const leaseResource: ResourceDefinition<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  singular: 'lease',
  shortNames: [],
  categories: [],
  namespaced: true,
  typeName: 'coordination.v1.Lease',
  rules: {
    'coordination.v1.Lease': { defaults: { spec: {} } },
    'coordination.v1.LeaseSpec': {
      acts: 'holderIdentity leaseDurationSeconds acquireTime renewTime leaseTransitions',
    },
  },
  strategy: {
    validate: (lease) => validateSpec(lease.spec),
    countsGenerations: false,
    createsOnUpdate: true,
    updatesNameVersion: true,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'Holder',
      type: 'string',
      description: 'The holder of the lease.',
      cell: (lease) => lease.spec.holderIdentity ?? '',
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
