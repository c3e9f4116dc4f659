/** What the objects that every cluster has must say: requests of administrators never wait, and all others find a place. */
import type { FlowSchemaSpec, PriorityLevelConfigurationSpec } from './types.gen.ts';

const everything = {
  resourceRules: [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
  ],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};

const groups = (...names: string[]) => names.map((name) => ({ kind: 'Group', group: { name } }));

/** By the name of the FlowSchema. */
export const fixedFlowSchemas: ReadonlyMap<string, FlowSchemaSpec> = new Map([
  [
    'exempt',
    {
      priorityLevelConfiguration: { name: 'exempt' },
      matchingPrecedence: 1,
      rules: [{ subjects: groups('system:masters'), ...everything }],
    },
  ],
  [
    'catch-all',
    {
      priorityLevelConfiguration: { name: 'catch-all' },
      matchingPrecedence: 10_000,
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects: groups('system:unauthenticated', 'system:authenticated'), ...everything }],
    },
  ],
]);

/** Of the PriorityLevelConfiguration of that name; the one named `exempt` may say how much it lends. */
export const fixedCatchAll: PriorityLevelConfigurationSpec = {
  type: 'Limited',
  limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
};

export const fixedExempt: PriorityLevelConfigurationSpec = {
  type: 'Exempt',
  exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 },
};
