/** ServiceAccount: an identity for programs in pods, proved by tokens. */
import type { ResourceDefinition } from '../../../../apimachinery/resource-definition.ts';
import { tokenRequestKind } from '../../../authentication/v1/token-request.ts';
import { ageColumn, nameColumn } from '../../../columns.ts';
import type { ServiceAccount } from '../types.gen.ts';

/** Name of the account of pods that do not name one; every namespace has it. */
export const defaultAccount = 'default';

/** Drops everything but the names of Secrets, as upstream: they are in the account's own namespace. */
function keepNames(account: ServiceAccount): void {
  if (account.secrets)
    account.secrets = account.secrets.map(({ name }) => (name === undefined ? {} : { name }));
}

export const serviceAccountResource: ResourceDefinition<ServiceAccount> = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  singular: 'serviceaccount',
  shortNames: ['sa'],
  categories: [],
  namespaced: true,
  typeName: 'core.v1.ServiceAccount',
  rules: {
    'core.v1.ServiceAccount': { acts: 'automountServiceAccountToken imagePullSecrets secrets' },
    ...tokenRequestKind.rules,
  },
  strategy: { prepareForCreate: keepNames, prepareForUpdate: keepNames, countsGenerations: false },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'Secrets',
      type: 'string',
      description: 'The number of Secrets for its pods.',
      cell: ({ secrets = [] }) => secrets.length,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'object',
};
