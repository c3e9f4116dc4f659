/**
 * Answers of the authorizer for expressions, which cannot wait: an evaluation that lacks one throws
 * Unanswered, and is repeated with it. Pure.
 */
import {
  Authorizer,
  type AuthorizerAnswer,
  type AuthorizerQuestion,
  ResourceCheck,
} from '../../../cel/kubernetes/authorizer.ts';
import type { HookedRequest } from './request.ts';

/** Answers to questions of an expression, by the question. */
export type Answers = Map<string, AuthorizerAnswer>;

/** Thrown by an evaluation that needs the answer to a question. */
export class Unanswered extends Error {
  readonly question: AuthorizerQuestion;
  readonly key: string;

  constructor(question: AuthorizerQuestion) {
    super('the authorizer has not answered yet');
    this.question = question;
    this.key = JSON.stringify(question);
  }
}

/** Returns the variables by which expressions ask about the user of the request. */
export function authorizerVariables(
  { address, subresource, namespace, name }: HookedRequest,
  answers: Answers,
): Readonly<Record<string, unknown>> {
  const ask = (question: AuthorizerQuestion): AuthorizerAnswer => {
    const unanswered = new Unanswered(question);
    const known = answers.get(unanswered.key);
    if (known) return known;
    throw unanswered;
  };
  const asker = { ask, serviceAccount: undefined };
  const { group, resource } = address;
  const about = { group, resource, subresource, namespace, name, fieldSelector: '', labelSelector: '' };
  return {
    authorizer: new Authorizer(asker),
    'authorizer.requestResource': new ResourceCheck(asker, about),
  };
}
