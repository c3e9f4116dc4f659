/** Asks whether the calling user may do something. Answered at once and never stored. */
import { forbiddenCause, invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { FieldSelectorRequirement as Requirement } from '../../meta/v1/types.gen.ts';
import type {
  FieldSelectorAttributes,
  SelfSubjectAccessReview,
  SelfSubjectAccessReviewSpec,
} from './types.gen.ts';

export type { ResourceAttributes, SelfSubjectAccessReview } from './types.gen.ts';

/** Upstream: apis/authorization/validation ValidateSelfSubjectAccessReview. */
function validate({ spec, metadata }: SelfSubjectAccessReview): StatusCause[] {
  return [...specCauses(spec), ...metadataCauses(metadata)];
}

/** What is not stored has no name, no labels and nothing else that identifies it. */
function metadataCauses(metadata: SelfSubjectAccessReview['metadata']): StatusCause[] {
  const { managedFields: _, ...rest } = metadata;
  const empty = Object.values(rest).every(isEmpty);
  return empty ? [] : [invalidCause('metadata', metadata, 'must be empty')];
}

/** Whether a field of the metadata is as if it were absent. */
function isEmpty(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === '' || value === 0;
}

function specCauses(spec: SelfSubjectAccessReviewSpec): StatusCause[] {
  const selector = selectorCauses(spec.resourceAttributes?.fieldSelector);
  const asks = [spec.resourceAttributes, spec.nonResourceAttributes].filter((one) => one !== undefined);
  if (asks.length === 1) return selector;
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalidCause('spec', spec, why), ...selector];
}

/** Of a selector in both forms it would not be certain which one was asked about. */
function selectorCauses(selector: FieldSelectorAttributes | undefined): StatusCause[] {
  if (selector === undefined) return [];
  const path = 'spec.resourceAttributes.fieldSelector';
  const { rawSelector = '', requirements = [] } = selector;
  const causes = requirements.flatMap((one, index) =>
    requirementCauses(`${path}.requirements[${index}]`, one),
  );
  if (rawSelector === '' && requirements.length === 0) {
    return [requiredCause(`${path}.requirements`, 'a fieldSelector needs requirements or rawSelector')];
  }
  if (rawSelector === '' || requirements.length === 0) return causes;
  const why = 'cannot be specified together with requirements';
  return [invalidCause(`${path}.rawSelector`, rawSelector, why), ...causes];
}

/** An operator that is not known is no error: newer clients may ask with it. */
function requirementCauses(path: string, { key, operator, values = [] }: Requirement): StatusCause[] {
  const causes = key ? [] : [requiredCause(`${path}.key`, 'must be specified')];
  const listed = operator === 'In' || operator === 'NotIn';
  if (listed && values.length === 0)
    return [...causes, requiredCause(`${path}.values`, `operator ${operator} needs values`)];
  const bare = operator === 'Exists' || operator === 'DoesNotExist';
  if (bare && values.length > 0)
    return [...causes, forbiddenCause(`${path}.values`, `operator ${operator} takes no values`)];
  return causes;
}

export const selfSubjectAccessReviewResource: ResourceDefinition<SelfSubjectAccessReview> = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  singular: 'selfsubjectaccessreview',
  shortNames: [],
  categories: [],
  namespaced: false,
  typeName: 'authorization.v1.SelfSubjectAccessReview',
  rules: {
    'authorization.v1.FieldSelectorAttributes': {},
    'authorization.v1.NonResourceAttributes': {},
    'authorization.v1.ResourceAttributes': {
      acts: 'namespace verb group resource subresource name fieldSelector',
    },
    'authorization.v1.SelfSubjectAccessReview': {},
    'authorization.v1.SelfSubjectAccessReviewSpec': {},
    'authorization.v1.SubjectAccessReviewStatus': {},
    'meta.v1.FieldSelectorRequirement': { mayLack: 'key operator' },
  },
  strategy: { validate, countsGenerations: false },
  hasStatus: false,
  isReview: true,
  columns: [],
  selectableFields: {},
  deleteAnswers: 'status',
};
