/** Match conditions of the webhooks that a request would call, with answers of the authorizer. */
import { newForbidden } from '../../apimachinery/status-error.ts';
import type { AccessRequest } from '../../apiserver/authorization/authorizer.ts';
import { serviceAccountUser } from '../../apiserver/request/user.ts';
import type { AuthorizerAnswer, AuthorizerQuestion } from '../../cel/kubernetes/authorizer.ts';
import type { KubeContext } from '../context.ts';
import { type Answers, evaluateConditions, type Match, Unanswered } from './plan/match.ts';
import type { HookedRequest } from './plan/request.ts';
import { admissionReview, type ReviewedObjects } from './plan/review.ts';
import type { Invocation } from './plan/rules.ts';

type Server = Pick<KubeContext, 'authorize'>;

/** Maximum number of questions that the conditions of one webhook may ask the authorizer. */
const maxQuestions = 64;

/**
 * Resolves to true if the webhook is called. Rejects with 403 if its conditions cannot be evaluated and its
 * failure policy is Fail.
 */
export async function meetsConditions(
  server: Server,
  invocation: Invocation,
  request: HookedRequest,
  objectsOf: () => ReviewedObjects,
): Promise<boolean> {
  const { matchConditions = [], failurePolicy } = invocation.hook.webhook;
  if (matchConditions.length === 0) return true;
  const match = await evaluated(server, invocation, request, objectsOf());
  if ('matches' in match) return match.matches;
  if (failurePolicy === 'Ignore') return false;
  const { group, resource: plural } = request.address;
  throw newForbidden({ group, plural }, request.name, match.failed);
}

/** Evaluates the conditions again after each answer: expressions cannot wait for the authorizer. */
async function evaluated(
  server: Server,
  invocation: Invocation,
  request: HookedRequest,
  objects: ReviewedObjects,
): Promise<Match> {
  const review = admissionReview(invocation, request, 'v1', '', objects);
  const answers: Answers = new Map();
  while (answers.size <= maxQuestions) {
    try {
      return evaluateConditions(invocation, request, review, answers);
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      answers.set(error.key, await answerOf(server, request, error.question));
    }
  }
  return { failed: `the conditions ask the authorizer more than ${maxQuestions} questions` };
}

async function answerOf(
  server: Server,
  request: HookedRequest,
  question: AuthorizerQuestion,
): Promise<AuthorizerAnswer> {
  try {
    return { ...(await server.authorize(accessOf(request, question))), error: undefined };
  } catch (error) {
    return { allowed: false, reason: '', error: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * Returns the access that an expression asks for. Its field selector is left out: access to some objects
 * then counts as access to all of them, which fewer users have.
 */
function accessOf(
  { user: requester }: HookedRequest,
  { verb, serviceAccount, about }: AuthorizerQuestion,
): AccessRequest {
  const user = serviceAccount ? serviceAccountUser(serviceAccount.namespace, serviceAccount.name) : requester;
  if ('path' in about) return { type: 'path', user, verb, path: about.path };
  const { group, resource, subresource, namespace, name, labelSelector } = about;
  return {
    ...{ type: 'resource', user, verb, group, namespace, name },
    resource: subresource ? `${resource}/${subresource}` : resource,
    ...(labelSelector && { labelSelector }),
  };
}
