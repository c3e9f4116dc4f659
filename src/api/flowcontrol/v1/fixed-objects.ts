/**
 * Required content of the objects of every cluster: requests of administrators never wait, and all others
 * have a priority level.
 */
import type { FlowSchemaSpec, PriorityLevelConfigurationSpec } from './types.gen.ts';

const everything = {
  resourceRules: [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
  ],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};

const groups = (...names: string[]) => names.map((name) => ({ kind: 'Group', group: { name } }));

/** Specifications by the name of the FlowSchema. */
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

/** Specification of the PriorityLevelConfiguration `catch-all`; `exempt` may have other shares. */
export const fixedCatchAll: PriorityLevelConfigurationSpec = {
  type: 'Limited',
  limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
};

export const fixedExempt: PriorityLevelConfigurationSpec = {
  type: 'Exempt',
  exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 },
};
