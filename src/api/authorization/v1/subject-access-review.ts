/** Reviews of any user's access: to any action, or to an action in one namespace. */
import { invalidCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { authorizationGroup, reviewTraits, validateQuestion, validateSubject } from './access-review.ts';
import type { LocalSubjectAccessReview, SubjectAccessReview } from './types.gen.ts';

export const subjectAccessReviewResource: ResourceDefinition<SubjectAccessReview> = {
  ...reviewTraits,
  group: authorizationGroup,
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  singular: 'subjectaccessreview',
  namespaced: false,
  typeName: 'authorization.v1.SubjectAccessReview',
  rules: {
    'authorization.v1.SubjectAccessReview': { defaults: { spec: {} } },
    'authorization.v1.SubjectAccessReviewSpec': {},
  },
  strategy: {
    validate: ({ spec }) => [...validateQuestion(spec), ...validateSubject(spec)],
    countsGenerations: false,
  },
};

/** Validates that the review is about a resource in its own namespace. */
function validatePlace({ metadata, spec }: LocalSubjectAccessReview): StatusCause[] {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec;
  const causes: StatusCause[] = [];
  const { namespace = '' } = resource ?? {};
  if (resource && namespace !== metadata.namespace)
    causes.push(
      invalidCause('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace'),
    );
  if (path)
    causes.push(invalidCause('spec.nonResourceAttributes', path, 'disallowed on this kind of request'));
  return causes;
}

export const localSubjectAccessReviewResource: ResourceDefinition<LocalSubjectAccessReview> = {
  ...reviewTraits,
  group: authorizationGroup,
  kind: 'LocalSubjectAccessReview',
  plural: 'localsubjectaccessreviews',
  singular: 'localsubjectaccessreview',
  namespaced: true,
  typeName: 'authorization.v1.LocalSubjectAccessReview',
  rules: { 'authorization.v1.LocalSubjectAccessReview': { defaults: { spec: {} } } },
  strategy: {
    validate: (review) => [
      ...validateQuestion(review.spec),
      ...validateSubject(review.spec),
      ...validatePlace(review),
    ],
    countsGenerations: false,
  },
};
