/** Match conditions of the webhooks that a request would call, with answers of the authorizer. */
import type { CompiledCondition } from '../../api/admissionregistration/v1/expressions/compile-conditions.ts';
import { compileCondition } from '../../api/admissionregistration/v1/match-conditions.ts';
import type { MatchCondition } from '../../api/admissionregistration/v1/types.gen.ts';
import { newForbidden } from '../../apimachinery/status-error.ts';
import { Budget, matchConditionsLimit } from '../../cel/evaluation/run.ts';
import { tooManyQuestions, withAnswers } from '../admission-requests/ask-authorizer.ts';
import { authorizerVariables } from '../admission-requests/plan/authorizer-answers.ts';
import { type Match, matchAll } from '../admission-requests/plan/match-conditions.ts';
import type { HookedRequest } from '../admission-requests/plan/request.ts';
import { requestVariable } from '../admission-requests/plan/request-variable.ts';
import type { ShownObjects } from '../admission-requests/plan/shown-objects.ts';
import type { KubeContext } from '../context.ts';
import type { Invocation } from './plan/invocation.ts';

type Server = Pick<KubeContext, 'authorize'>;

/**
 * Resolves to true if the webhook is called. Rejects with 403 if its conditions cannot be evaluated and its
 * failure policy is Fail.
 */
export async function meetsConditions(
  server: Server,
  invocation: Invocation,
  request: HookedRequest,
  objectsOf: () => Promise<ShownObjects>,
): Promise<boolean> {
  const { matchConditions = [], failurePolicy } = invocation.hook.webhook;
  if (matchConditions.length === 0) return true;
  const match = await evaluated(server, invocation, request, await objectsOf());
  if ('matches' in match) return match.matches;
  if (failurePolicy === 'Ignore') return false;
  const { group, resource: plural } = request.address;
  throw newForbidden({ group, plural }, request.name, match.failed);
}

const compiled = new WeakMap<MatchCondition, CompiledCondition>();

function compiledOf(condition: MatchCondition): CompiledCondition {
  const { expression } = condition;
  const known = compiled.get(condition) ?? { expression, condition: compileCondition(condition) };
  compiled.set(condition, known);
  return known;
}

async function evaluated(
  server: Server,
  { hook, address }: Invocation,
  request: HookedRequest,
  { object, old }: ShownObjects,
): Promise<Match> {
  const conditions = (hook.webhook.matchConditions ?? []).map(compiledOf);
  const variables = {
    object: object ?? null,
    oldObject: old ?? null,
    namespaceObject: null,
    request: requestVariable(request, address),
  };
  const match = await withAnswers(server, request, (answers) =>
    matchAll(
      conditions,
      { ...variables, ...authorizerVariables(request, answers) },
      new Budget(matchConditionsLimit),
    ),
  );
  return match ?? { failed: tooManyQuestions };
}
