/**
 * FlowSchema: assigns requests to priority levels. It is stored; minik8s does not classify requests by it.
 */
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn, none } from '../../columns.ts';
import { flowcontrolGroup, keepMetadata, validateConditions } from './conditions.ts';
import { validateFlowSchema } from './flow-schema-validation.ts';
import type { FlowSchema } from './types.gen.ts';

export const flowSchemaResource: ResourceDefinition<FlowSchema> = {
  group: flowcontrolGroup,
  version: 'v1',
  kind: 'FlowSchema',
  plural: 'flowschemas',
  singular: 'flowschema',
  shortNames: [],
  categories: [],
  namespaced: false,
  typeName: 'flowcontrol.v1.FlowSchema',
  rules: {
    'flowcontrol.v1.FlowSchema': { defaults: { spec: {} } },
    'flowcontrol.v1.FlowSchemaSpec': {
      defaults: { matchingPrecedence: 1000, priorityLevelConfiguration: {} },
    },
    'flowcontrol.v1.PriorityLevelConfigurationReference': { defaults: { name: '' } },
    'flowcontrol.v1.FlowDistinguisherMethod': { defaults: { type: '' } },
    'flowcontrol.v1.PolicyRulesWithSubjects': { defaults: { subjects: [] } },
    'flowcontrol.v1.Subject': { defaults: { kind: '' } },
    'flowcontrol.v1.UserSubject': { defaults: { name: '' } },
    'flowcontrol.v1.GroupSubject': { defaults: { name: '' } },
    'flowcontrol.v1.ServiceAccountSubject': { defaults: { name: '', namespace: '' } },
    'flowcontrol.v1.ResourcePolicyRule': { defaults: { verbs: [], apiGroups: [], resources: [] } },
    'flowcontrol.v1.NonResourcePolicyRule': { defaults: { verbs: [], nonResourceURLs: [] } },
    'flowcontrol.v1.FlowSchemaStatus': {},
    'flowcontrol.v1.FlowSchemaCondition': { defaults: { type: '' } },
  },
  strategy: {
    resetFields: { status: ['metadata', 'spec'] },
    setDefaults: ({ spec }) => {
      spec.matchingPrecedence ||= 1000;
    },
    prepareForCreate: (schema) => {
      schema.status = {};
    },
    prepareForStatusUpdate: keepMetadata,
    validate: validateFlowSchema,
    validateStatus: validateConditions,
    warnings: () => ['FlowSchema is stored and not acted on yet: requests are not sorted by it'],
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'PriorityLevel',
      type: 'string',
      description: 'The priority level of the requests.',
      cell: ({ spec }) => spec.priorityLevelConfiguration.name,
    },
    {
      name: 'MatchingPrecedence',
      type: 'string',
      description: 'Precedence among the schemas that match a request; the lowest number wins.',
      cell: ({ spec }) => spec.matchingPrecedence,
    },
    {
      name: 'DistinguisherMethod',
      type: 'string',
      description: 'Method that divides requests into flows.',
      cell: ({ spec }) => spec.distinguisherMethod?.type ?? none,
    },
    ageColumn,
    {
      name: 'MissingPL',
      type: 'string',
      description: 'Whether the priority level is missing.',
      cell: ({ status }) => status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
    },
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
