/** Dns: a host name whose paths are routed to Services of its namespace, on every node. */
import { ageColumn, listWithMore, nameColumn } from '../../../api/columns.ts';
import { headRules } from '../../../api/own-kind.ts';
import { conditionRules } from '../../../api/shared-rules.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { dnsTypes } from './dns-types.ts';
import { normalizePaths, validateDns } from './dns-validation.ts';
import type { Dns } from './types.gen.ts';

export type { Dns, DnsSpecPaths as DnsPath } from './types.gen.ts';

const shownInColumn = 3;

export const dnsResource: ResourceDefinition<Dns> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'Dns',
  plural: 'dnses',
  singular: 'dns',
  shortNames: [],
  categories: [],
  namespaced: true,
  typeName: 'Dns',
  types: dnsTypes,
  rules: {
    Dns: headRules('Dns'),
    DnsSpecPaths: { defaults: { path: '/' } },
    DnsStatusConditions: conditionRules,
  },
  strategy: {
    setDefaults: normalizePaths,
    // A status update keeps these fields, as upstream for custom resources.
    prepareForStatusUpdate: ({ metadata }, old) =>
      keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    validate: validateDns,
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Host',
      type: 'string',
      description: 'The name that is served.',
      cell: ({ spec }) => spec.host,
    },
    {
      name: 'Paths',
      type: 'string',
      description: 'Paths and the Services they lead to.',
      cell: ({ spec }) =>
        listWithMore(
          spec.paths.map(({ path, serviceName, servicePort }) => `${path}=${serviceName}:${servicePort}`),
          shownInColumn,
          '<none>',
        ),
    },
    {
      name: 'Ready',
      type: 'string',
      description: 'Whether every path leads to a Service and every node serves the host.',
      cell: ({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'Unknown',
    },
    ageColumn,
  ],
  selectableFields: { 'spec.host': ({ spec }) => spec.host },
  deleteAnswers: 'status',
};
