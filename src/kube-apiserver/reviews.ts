/**
 * Kinds that are only created to be answered: the answer is the object with its status, and nothing is
 * stored.
 */
import { selfSubjectReviewResource } from '../api/authentication/v1/self-subject-review.ts';
import { tokenReviewResource } from '../api/authentication/v1/token-review.ts';
import type { UserInfo as ApiUser, TokenReview } from '../api/authentication/v1/types.gen.ts';
import { selfSubjectAccessReviewResource } from '../api/authorization/v1/self-subject-access-review.ts';
import { selfSubjectRulesReviewResource } from '../api/authorization/v1/self-subject-rules-review.ts';
import {
  localSubjectAccessReviewResource,
  subjectAccessReviewResource,
} from '../api/authorization/v1/subject-access-review.ts';
import type {
  SelfSubjectAccessReviewSpec,
  SubjectAccessReviewSpec,
} from '../api/authorization/v1/types.gen.ts';
import { invalidCause } from '../apimachinery/field-error.ts';
import type { KubeObject, ObjectMeta } from '../apimachinery/meta.ts';
import type { ResourceDefinition } from '../apimachinery/resource-definition.ts';
import { newBadRequest, newInvalid, type StatusCause } from '../apimachinery/status-error.ts';
import type { AccessRequest } from '../apiserver/authorization/authorizer.ts';
import { matchTarget } from '../apiserver/registry/object-meta.ts';
import type { UserInfo } from '../apiserver/request/user.ts';
import { rfc3339 } from '../base/clock.ts';
import { rulesOf } from './authorization/rules.ts';
import type { KubeContext } from './context.ts';
import { selectorsOf } from './review-selectors.ts';

/** Returns the fields of the answer besides its kind; the default metadata is empty. */
type Answer<T extends KubeObject> = (
  server: KubeContext,
  user: UserInfo,
  review: T,
) => object | Promise<object>;

interface Row {
  readonly kind: string;
  /** True if metadata other than a namespace is rejected, as upstream's validation of the kind does. */
  readonly bare: boolean;
  readonly answer: Answer<KubeObject>;
}

/** The cast is safe: a definition of one kind never receives objects of another. */
const row = <T extends KubeObject>(
  { kind }: ResourceDefinition<T>,
  bare: boolean,
  answer: Answer<T>,
): Row => ({ kind, bare, answer: (server, user, review) => answer(server, user, review as T) });

const rows: readonly Row[] = [
  row(selfSubjectAccessReviewResource, true, async (server, user, { spec }) => ({
    spec,
    status: await accessStatus(server, user, spec),
  })),
  row(subjectAccessReviewResource, true, async (server, _, { spec }) => ({
    spec,
    status: await accessStatus(server, subjectOf(spec), spec),
  })),
  row(localSubjectAccessReviewResource, true, async (server, _, { spec, metadata: { namespace } }) => ({
    metadata: { namespace, creationTimestamp: null },
    spec,
    status: await accessStatus(server, subjectOf(spec), spec),
  })),
  row(selfSubjectRulesReviewResource, false, (server, user, { spec }) => {
    if (!spec.namespace) throw newBadRequest('no namespace on request');
    return { spec: {}, status: rulesOf(server, user, spec.namespace) };
  }),
  row(tokenReviewResource, false, async (server, _, { metadata, spec }) => ({
    metadata: { ...givenMetadata(metadata), creationTimestamp: null },
    spec,
    status: await tokenStatus(server, spec),
  })),
  row(selfSubjectReviewResource, false, ({ clock }, user) => ({
    metadata: { creationTimestamp: rfc3339(clock.now()) },
    status: { userInfo: shown(user) },
  })),
];

const byKind = new Map(rows.map((one) => [one.kind, one]));

/** Answers a review. Throws Invalid (422) and BadRequest (400) for an invalid one. */
export async function answerReview(
  server: KubeContext,
  definition: ResourceDefinition,
  user: UserInfo,
  namespace: string,
  review: KubeObject,
): Promise<KubeObject> {
  if (definition.namespaced) matchTarget(review, definition, { namespace, name: '' });
  const found = byKind.get(definition.kind);
  if (!found) throw new Error(`there is no handler for reviews of kind ${definition.kind}`);
  const causes = [
    ...(definition.strategy.validate?.(review) ?? []),
    ...(found.bare ? metadataCauses(definition, review) : []),
  ];
  if (causes.length > 0) throw newInvalid(definition, '', causes);
  const { apiVersion, kind } = review;
  const answer = await found.answer(server, user, review);
  return { apiVersion, kind, metadata: { creationTimestamp: null }, ...answer } as unknown as KubeObject;
}

/** Rejects metadata that would have no effect: a review has no name and no owner. */
function metadataCauses({ namespaced }: ResourceDefinition, { metadata }: KubeObject): StatusCause[] {
  const { namespace: _, managedFields: _m, ...given } = givenMetadata(metadata);
  if (isEmpty(given)) return [];
  return [invalidCause('metadata', metadata, `must be empty${namespaced ? ' except for namespace' : ''}`)];
}

/** Returns the metadata without empty values, which decoding fills in. */
const givenMetadata = (metadata: ObjectMeta): Partial<ObjectMeta> =>
  Object.fromEntries(Object.entries(metadata).filter(([, value]) => !isEmpty(value)));

const isEmpty = (value: unknown) =>
  value === undefined ||
  value === '' ||
  value === 0 ||
  (typeof value === 'object' && Object.keys(value ?? {}).length === 0);

/** Returns the user that the review describes: with the listed groups and no other. */
const subjectOf = ({ user = '', groups = [], uid, extra }: SubjectAccessReviewSpec): UserInfo => ({
  name: user,
  groups,
  ...(uid && { uid }),
  ...(extra && { extra }),
});

const shown = ({ name, uid, groups, extra }: UserInfo): ApiUser => ({
  username: name,
  ...(uid && { uid }),
  groups: [...groups],
  ...(extra && { extra: Object.fromEntries(Object.entries(extra).map(([key, all]) => [key, [...all]])) }),
});

/** Returns the same error for every invalid token, because the reason would help to guess another. */
async function tokenStatus(
  { authenticate, issuer }: KubeContext,
  { token, audiences = [] }: TokenReview['spec'],
): Promise<TokenReview['status']> {
  if (token === '') throw newBadRequest('token is required for TokenReview in authentication');
  const asked = audiences.length > 0 ? audiences : issuer.audiences;
  const holder = await authenticate({ authorization: `Bearer ${token}`, peer: undefined, audiences: asked });
  if (!holder) return { user: {}, error: 'invalid bearer token' };
  return { authenticated: true, user: shown(holder), audiences: [...(holder.audiences ?? [])] };
}

async function accessStatus(server: KubeContext, user: UserInfo, spec: SelfSubjectAccessReviewSpec) {
  const { access, problem } = accessOf(user, spec);
  const { allowed, reason } = await server.authorize(access);
  return { allowed, ...(reason && { reason }), ...(problem !== undefined && { evaluationError: problem }) };
}

/** Ignores the version of the resource, which no rule of this server or of upstream depends on. */
function accessOf(
  user: UserInfo,
  spec: SelfSubjectAccessReviewSpec,
): { access: AccessRequest; problem?: string | undefined } {
  const { resourceAttributes: asked, nonResourceAttributes } = spec;
  if (asked === undefined) {
    const { path = '', verb = '' } = nonResourceAttributes ?? {};
    return { access: { type: 'path', user, verb, path } };
  }
  const { verb = '', group = '', namespace = '', name = '', resource: plural = '', subresource } = asked;
  const resource = subresource ? `${plural}/${subresource}` : plural;
  const { fieldSelector, problem } = selectorsOf(asked);
  return {
    access: { type: 'resource', user, verb, group, resource, namespace, name, fieldSelector },
    problem,
  };
}
