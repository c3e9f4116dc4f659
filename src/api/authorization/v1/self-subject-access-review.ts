/** Asks whether the calling user may do something. Answered at once and never stored. */
import * as v from 'valibot';
import { forbiddenCause, invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { objectMetaSchema, struct } from '../../../apimachinery/schema.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';

const requirementSchema = struct({
  key: v.optional(v.string()),
  operator: v.optional(v.string()),
  values: v.optional(v.array(v.string())),
});

type Requirement = v.InferOutput<typeof requirementSchema>;

const resourceAttributesSchema = struct({
  namespace: v.optional(v.string()),
  verb: v.optional(v.string()),
  group: v.optional(v.string()),
  resource: v.optional(v.string()),
  subresource: v.optional(v.string()),
  name: v.optional(v.string()),
  fieldSelector: v.optional(
    struct({
      rawSelector: v.optional(v.string()),
      requirements: v.optional(v.array(requirementSchema)),
    }),
  ),
});

export type ResourceAttributes = v.InferOutput<typeof resourceAttributesSchema>;

const reviewSchema = struct({
  apiVersion: v.literal('authorization.k8s.io/v1'),
  kind: v.literal('SelfSubjectAccessReview'),
  metadata: objectMetaSchema,
  spec: struct({
    resourceAttributes: v.optional(resourceAttributesSchema),
    nonResourceAttributes: v.optional(struct({ path: v.optional(v.string()), verb: v.optional(v.string()) })),
  }),
  status: v.optional(struct({ allowed: v.boolean(), reason: v.optional(v.string()) })),
});

export type SelfSubjectAccessReview = v.InferOutput<typeof reviewSchema>;

/** Upstream: apis/authorization/validation ValidateSelfSubjectAccessReviewSpec. */
function validate({ spec }: SelfSubjectAccessReview): StatusCause[] {
  const selector = selectorCauses(spec.resourceAttributes?.fieldSelector);
  const asks = [spec.resourceAttributes, spec.nonResourceAttributes].filter((one) => one !== undefined);
  if (asks.length === 1) return selector;
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalidCause('spec', spec, why), ...selector];
}

/** Of a selector in both forms it would not be certain which one was asked about. */
function selectorCauses(selector: ResourceAttributes['fieldSelector']): StatusCause[] {
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
  fieldsOf: 'V1SelfSubjectAccessReview',
  schema: reviewSchema,
  strategy: { validate, countsGenerations: false },
  hasStatus: false,
  isReview: true,
  columns: [],
  selectableFields: {},
  deleteAnswers: 'status',
};
