/** Kinds that are created to be answered: the answer is the object with its status, and nothing is stored. */
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
import type { UserInfo } from '../apiserver/user.ts';
import { rfc3339 } from '../base/clock.ts';
import { rulesOf } from './authorization/rules.ts';
import type { KubeContext } from './context.ts';
import { selectorsOf } from './review-selectors.ts';

/** The fields of the answer beside its kind; metadata that is not among them is empty. */
type Answer<T extends KubeObject> = (
  server: KubeContext,
  user: UserInfo,
  review: T,
) => object | Promise<object>;

interface Row {
  readonly kind: string;
  /** Refuses metadata, but for a namespace, as upstream's validation of the kind does. */
  readonly bare: boolean;
  readonly answer: Answer<KubeObject>;
}

/** A definition of one kind is never asked about objects of another. */
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

/** Throws Invalid (422) and BadRequest (400) for a question that cannot be answered. */
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

/** Nothing would be done with them: a review has no name and belongs to nobody. */
function metadataCauses({ namespaced }: ResourceDefinition, { metadata }: KubeObject): StatusCause[] {
  const { namespace: _, managedFields: _m, ...given } = givenMetadata(metadata);
  if (isEmpty(given)) return [];
  return [invalidCause('metadata', metadata, `must be empty${namespaced ? ' except for namespace' : ''}`)];
}

/** Decoding fills in what is always a text. */
const givenMetadata = (metadata: ObjectMeta): Partial<ObjectMeta> =>
  Object.fromEntries(Object.entries(metadata).filter(([, value]) => !isEmpty(value)));

const isEmpty = (value: unknown) =>
  value === undefined ||
  value === '' ||
  value === 0 ||
  (typeof value === 'object' && Object.keys(value ?? {}).length === 0);

/** The user as the question describes him: in the groups that it names and no other. */
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

/** Whatever is wrong with a token, the answer is the same: why it is refused would help to guess another. */
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

/** No rule of this server asks for the version of a resource, as none of upstream's own does. */
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
