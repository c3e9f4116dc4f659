/** Who may do what by roles and their bindings. Closed: what no rule allows is not allowed here. */
import type { Steps } from '../../apimachinery/steps.ts';
import type { AccessRequest, Authorizer, Decision } from '../../apiserver/authorization/authorizer.ts';
import { RequestWork } from '../../apiserver/request-work.ts';
import type { KubeContext } from '../context.ts';
import type { Policy } from './policy.ts';
import { type Question, resourceQuestion } from './rule-match.ts';

export const rbacAuthorizer =
  (server: Pick<KubeContext, 'clock' | 'policy' | 'turns'>): Authorizer =>
  (request) => {
    const steps = decide(server.policy, request);
    const { done, value } = steps.next();
    // Hardly anybody has so many rules that others should have a turn.
    return done ? value : new RequestWork(server).through(steps);
  };

/** Rules looked at between two steps: whoever writes roles may give somebody hundreds of thousands. A few milliseconds. */
const rulesInOneStep = 5_000;

function* decide(policy: Policy, request: AccessRequest): Steps<Decision> {
  const question = questionOf(request);
  const namespace = request.type === 'resource' ? request.namespace : '';
  const problems = new Set<string>();
  let seen = 0;
  for (const { rules, problem, source } of policy.grantsOf(request.user, namespace)) {
    if (problem !== undefined) problems.add(problem);
    for (const rule of rules) if (rule.allows(question)) return allowedBy(source);
    seen += rules.length;
    if (seen < rulesInOneStep) continue;
    seen = 0;
    yield;
  }
  return { allowed: false, reason: problems.size > 0 ? `RBAC: ${inWords([...problems])}` : '' };
}

/** Hardly anybody asks for the reason, and to find the subject takes as long as the binding has subjects. */
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

/** Several errors as upstream joins them. */
export const inWords = (problems: readonly string[]) =>
  problems.length === 1 ? problems.join() : `[${problems.join(', ')}]`;
