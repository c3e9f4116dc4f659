/** Match conditions of the webhooks that a request would call, with answers of the authorizer. */
import { newForbidden } from '../../apimachinery/status-error.ts';
import type { KubeContext } from '../context.ts';
import { tooManyQuestions, withAnswers } from './ask-authorizer.ts';
import { evaluateConditions, type Match } from './plan/match.ts';
import type { HookedRequest } from './plan/request.ts';
import { admissionReview, type ReviewedObjects } from './plan/review.ts';
import type { Invocation } from './plan/rules.ts';

type Server = Pick<KubeContext, 'authorize'>;

/**
 * Resolves to true if the webhook is called. Rejects with 403 if its conditions cannot be evaluated and its
 * failure policy is Fail.
 */
export async function meetsConditions(
  server: Server,
  invocation: Invocation,
  request: HookedRequest,
  objectsOf: () => Promise<ReviewedObjects>,
): Promise<boolean> {
  const { matchConditions = [], failurePolicy } = invocation.hook.webhook;
  if (matchConditions.length === 0) return true;
  const match = await evaluated(server, invocation, request, await objectsOf());
  if ('matches' in match) return match.matches;
  if (failurePolicy === 'Ignore') return false;
  const { group, resource: plural } = request.address;
  throw newForbidden({ group, plural }, request.name, match.failed);
}

/** Evaluates the conditions with the review that the webhook would get. */
async function evaluated(
  server: Server,
  invocation: Invocation,
  request: HookedRequest,
  objects: ReviewedObjects,
): Promise<Match> {
  const review = admissionReview(invocation, request, 'v1', '', objects);
  const match = await withAnswers(server, request, (answers) =>
    evaluateConditions(invocation, request, review, answers),
  );
  return match ?? { failed: tooManyQuestions };
}
