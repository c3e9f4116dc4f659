/** Common parts of the reviews of a user's access (upstream: apis/authorization/validation). */
import { invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { validateLabelRequirement, valueCountCauses } from '../../meta/v1/label-selector.ts';
import type { FieldSelectorRequirement } from '../../meta/v1/types.gen.ts';
import type { SelfSubjectAccessReviewSpec, SubjectAccessReviewSpec } from './types.gen.ts';

export type { ResourceAttributes } from './types.gen.ts';

export const authorizationGroup = 'authorization.k8s.io';

/** Traits of all reviews: they are created, answered and never stored. */
export const reviewTraits = {
  version: 'v1',
  shortNames: [],
  categories: [],
  hasStatus: false,
  isReview: true,
  columns: [],
  selectableFields: {},
  deleteAnswers: 'status',
} as const satisfies Partial<ResourceDefinition>;

/** Validates that the review is about either a resource or a path. */
export function validateQuestion(spec: SelfSubjectAccessReviewSpec): StatusCause[] {
  const { resourceAttributes: resource, nonResourceAttributes: path } = spec;
  const at = 'spec.resourceAttributes';
  const causes = [
    ...selectorCauses(resource?.fieldSelector, `${at}.fieldSelector`, fieldCauses),
    ...selectorCauses(resource?.labelSelector, `${at}.labelSelector`, validateLabelRequirement),
  ];
  if (resource && path) {
    const why = 'cannot be specified in combination with resourceAttributes';
    return [invalidCause('spec.nonResourceAttributes', path, why), ...causes];
  }
  if (resource || path) return causes;
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalidCause('spec.resourceAttributes', 'null', why)];
}

export function validateSubject({ user = '', groups = [] }: SubjectAccessReviewSpec): StatusCause[] {
  if (user !== '' || groups.length > 0) return [];
  return [invalidCause('spec.user', '', 'at least one of user or group must be specified')];
}

/** Rejects a selector in both forms, since it would be ambiguous which one was reviewed. */
function selectorCauses<T>(
  selector:
    | { readonly rawSelector?: string | undefined; readonly requirements?: readonly T[] | undefined }
    | undefined,
  path: string,
  causesOf: (requirement: T, path: string) => StatusCause[],
): StatusCause[] {
  if (selector === undefined) return [];
  const { rawSelector = '', requirements = [] } = selector;
  const causes = requirements.flatMap((one, index) => causesOf(one, `${path}.requirements[${index}]`));
  if (rawSelector === '' && requirements.length === 0) {
    const why = `when ${path} is specified, requirements or rawSelector is required`;
    return [requiredCause(`${path}.requirements`, why)];
  }
  if (rawSelector === '' || requirements.length === 0) return causes;
  const why = 'may not specified at the same time as requirements';
  return [invalidCause(`${path}.rawSelector`, rawSelector, why), ...causes];
}

/** Validates a requirement. An unknown operator is not an error: newer clients may use it. */
const fieldCauses = (
  { key, operator, values = [] }: FieldSelectorRequirement,
  path: string,
): StatusCause[] => [
  ...(key ? [] : [requiredCause(`${path}.key`, 'must be specified')]),
  ...valueCountCauses(operator ?? '', values, path),
];
