/** Authorizes by roles and their bindings. Access is denied unless a rule allows it. */
import type { Steps } from '../../apimachinery/steps.ts';
import type { AccessRequest, Authorizer, Decision } from '../../apiserver/authorization/authorizer.ts';
import { RequestWork } from '../../apiserver/transport/request-work.ts';
import type { KubeContext } from '../context.ts';
import type { Policy } from './policy.ts';
import { type Question, resourceQuestion } from './rule-match.ts';

export const rbacAuthorizer =
  (server: Pick<KubeContext, 'clock' | 'policy' | 'turns'>): Authorizer =>
  (request) => {
    const steps = decide(server.policy, request);
    const { done, value } = steps.next();
    // Few users have so many rules that other requests need a turn.
    return done ? value : new RequestWork(server).through(steps);
  };

/**
 * Number of rules examined between two steps, a few milliseconds: users who write roles may grant hundreds of
 * thousands of rules.
 */
const rulesInOneStep = 5_000;

function* decide(policy: Policy, request: AccessRequest): Steps<Decision> {
  const question = questionOf(request);
  const problems = new Set<string>();
  let seen = 0;
  for (const { rules, problem, source } of policy.grantsOf(request.user, namespaceOf(request))) {
    if (problem !== undefined) problems.add(problem);
    for (const rule of rules) if (rule.allows(question)) return allowedBy(source);
    seen += rules.length;
    if (seen < rulesInOneStep) continue;
    seen = 0;
    yield;
  }
  return deniedBy([...problems]);
}

const namespaceOf = (request: AccessRequest) => (request.type === 'resource' ? request.namespace : '');

const deniedBy = (problems: readonly string[]): Decision => ({
  allowed: false,
  reason: problems.length > 0 ? `RBAC: ${inWords(problems)}` : '',
});

/**
 * Returns an allowing decision. The reason is computed on access, because it is rarely read, and finding the
 * subject takes time linear in the number of subjects.
 */
const allowedBy = (source: () => string): Decision => ({
  allowed: true,
  get reason() {
    return `RBAC: allowed by ${source()}`;
  },
});

function questionOf(request: AccessRequest): Question {
  if (request.type === 'path') return { type: 'path', verb: request.verb, path: request.path };
  const { verb, group, resource, name } = request;
  return resourceQuestion(verb, group, resource, name);
}

/** Joins several errors as upstream does. */
export const inWords = (problems: readonly string[]) =>
  problems.length === 1 ? problems.join() : `[${problems.join(', ')}]`;
