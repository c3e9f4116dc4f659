/** Evaluation of expressions with the answers of the authorizer. */
import type { AccessRequest } from '../../apiserver/authorization/authorizer.ts';
import { serviceAccountUser } from '../../apiserver/request/user.ts';
import type { AuthorizerAnswer, AuthorizerQuestion } from '../../cel/kubernetes/authorizer.ts';
import type { KubeContext } from '../context.ts';
import { type Answers, Unanswered } from './plan/authorizer-answers.ts';
import type { HookedRequest } from './plan/request.ts';

type Server = Pick<KubeContext, 'authorize'>;

/** Maximum number of questions that the expressions of one webhook or policy may ask about a request. */
const maxQuestions = 64;

export const tooManyQuestions = `the expressions ask the authorizer more than ${maxQuestions} questions`;

/**
 * Resolves to the result of `evaluate`, which is called again after each answer; to undefined if it asks too
 * many questions.
 */
export async function withAnswers<T>(
  server: Server,
  request: HookedRequest,
  evaluate: (answers: Answers) => T,
): Promise<T | undefined> {
  const answers: Answers = new Map();
  while (answers.size <= maxQuestions) {
    try {
      return evaluate(answers);
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error;
      answers.set(error.key, await answerOf(server, request, error.question));
    }
  }
  return undefined;
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
