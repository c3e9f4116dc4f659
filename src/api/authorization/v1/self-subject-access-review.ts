/** Asks whether the calling user may do something. Answered at once and never stored. */
import * as v from 'valibot';
import { invalidCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { objectMetaSchema, struct } from '../../../apimachinery/schema.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';

const requirementSchema = struct({
  key: v.optional(v.string()),
  operator: v.optional(v.string()),
  values: v.optional(v.array(v.string())),
});

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
  const asks = [spec.resourceAttributes, spec.nonResourceAttributes].filter((one) => one !== undefined);
  if (asks.length === 1) return [];
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalidCause('spec', spec, why)];
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
