/** Asks whether the calling user may do something. Answered at once and never stored. */
import { invalidCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { SelfSubjectAccessReview } from './types.gen.ts';

export type { ResourceAttributes, SelfSubjectAccessReview } from './types.gen.ts';

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
