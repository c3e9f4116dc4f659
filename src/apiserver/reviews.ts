/** Kinds that are created to be answered: the answer is the object with its status, and nothing is stored. */
import {
  type ResourceAttributes,
  type SelfSubjectAccessReview,
  selfSubjectAccessReviewResource,
} from '../api/authorization/v1/self-subject-access-review.ts';
import { type FieldSelector, parseFieldSelector } from '../apimachinery/field-selector.ts';
import type { KubeObject } from '../apimachinery/meta.ts';
import type { ResourceDefinition } from '../apimachinery/resource-definition.ts';
import { newInvalid } from '../apimachinery/status-error.ts';
import type { AccessRequest } from './authorization/authorizer.ts';
import type { ServerContext } from './server-context.ts';
import type { UserInfo } from './user.ts';

type Answer = (server: ServerContext, user: UserInfo, review: KubeObject) => Promise<object>;

/** By kind: the function that computes the status of a review. */
const answers: Readonly<Record<string, Answer>> = {
  [selfSubjectAccessReviewResource.kind]: (server, user, review) =>
    accessStatus(server, accessOf(user, review as SelfSubjectAccessReview)),
};

/** Throws Invalid (422) for a review that asks for nothing, for two things, or with a selector in two forms. */
export async function answerReview(
  server: ServerContext,
  definition: ResourceDefinition,
  user: UserInfo,
  review: KubeObject,
): Promise<KubeObject> {
  const causes = definition.strategy.validate?.(review) ?? [];
  if (causes.length > 0) throw newInvalid(definition, '', causes);
  const answer = answers[definition.kind];
  if (!answer) throw new Error(`there is no handler for reviews of kind ${definition.kind}`);
  const status = await answer(server, user, review);
  // Without a name and creationTimestamp, as upstream.
  return { ...review, metadata: { creationTimestamp: null }, status } as unknown as KubeObject;
}

async function accessStatus(server: ServerContext, access: AccessRequest): Promise<object> {
  return { allowed: await server.authorize(access) };
}

function accessOf(user: UserInfo, { spec }: SelfSubjectAccessReview): AccessRequest {
  const { resourceAttributes: asked, nonResourceAttributes } = spec;
  if (asked === undefined) {
    const { path = '', verb = '' } = nonResourceAttributes ?? {};
    return { type: 'path', user, verb, path };
  }
  const { verb = '', group = '', namespace = '', name = '', resource: plural = '', subresource } = asked;
  const resource = subresource ? `${plural}/${subresource}` : plural;
  const fieldSelector = selectorOf(asked);
  return { type: 'resource', user, verb, group, resource, namespace, name, fieldSelector };
}

/** A selector that cannot be read is ignored: the answer is then for a request without it. */
function selectorOf({ fieldSelector }: ResourceAttributes): FieldSelector {
  if (fieldSelector?.rawSelector) {
    try {
      return parseFieldSelector(fieldSelector.rawSelector);
    } catch {
      return [];
    }
  }
  return (fieldSelector?.requirements ?? []).flatMap(({ key: field, operator, values = [] }) => {
    const [value, ...more] = values;
    const narrows = operator === 'In' && field !== undefined && value !== undefined && more.length === 0;
    return narrows ? [{ field, operator: '=', value } as const] : [];
  });
}
