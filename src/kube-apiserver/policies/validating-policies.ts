/**
 * Admission by ValidatingAdmissionPolicies (upstream: policy/validating, dispatcher.go). Policies and
 * bindings are read from the cache; the program of a policy is compiled when a request needs it for the
 * first time.
 */
import {
  type CompiledPolicy,
  compilePolicy,
} from '../../api/admissionregistration/v1/expressions/compile-policy.ts';
import {
  type ValidatingAdmissionPolicy,
  validatingAdmissionPolicyResource,
} from '../../api/admissionregistration/v1/validating-admission-policy.ts';
import {
  type ValidatingAdmissionPolicyBinding,
  validatingAdmissionPolicyBindingResource,
} from '../../api/admissionregistration/v1/validating-admission-policy-binding.ts';
import type { Admission, AdmissionPlugin, SubresourceRequest } from '../../apiserver/admission/plugin.ts';
import { Budget, requestLimit } from '../../cel/evaluation/run.ts';
import { requestOf, shownObject, subresourceRequestOf } from '../admission-requests/attributes.ts';
import type { Variables } from '../admission-requests/plan/evaluate-expression.ts';
import type { Address, HookedRequest } from '../admission-requests/plan/request.ts';
import { isExempt } from '../admission-requests/plan/rules.ts';
import type { ShownObjects } from '../admission-requests/plan/shown-objects.ts';
import type { KubeContext } from '../context.ts';
import { type BoundPolicy, boundPolicies } from './bound-policies.ts';
import { evaluatePolicy } from './evaluate.ts';
import { Findings } from './findings.ts';
import { PolicyRequest } from './policy-request.ts';
import { Programs } from './programs.ts';

type Policy = BoundPolicy<ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding>;
type ValidatingPrograms = Programs<ValidatingAdmissionPolicy, CompiledPolicy>;

export function validatingPolicies(server: KubeContext): AdmissionPlugin {
  const programs: ValidatingPrograms = new Programs((policy) => compilePolicy(policy));
  const listed = boundPolicies(
    server,
    validatingAdmissionPolicyResource,
    validatingAdmissionPolicyBindingResource,
  );
  const apply = async (
    policies: readonly Policy[],
    hooked: HookedRequest,
    asked: Admission | SubresourceRequest,
    shown: (address: Address) => Promise<ShownObjects>,
  ) => {
    if (isExempt(hooked)) return;
    const findings = new Findings(server.log);
    const request = new PolicyRequest(server, hooked, shown);
    for (const policy of policies) await validateBy(policy, request, programs, findings);
    findings.finish(asked);
  };
  return {
    name: 'ValidatingAdmissionPolicy',
    async validate(admission) {
      const policies = admission.isStep ? [] : listed();
      if (policies.length === 0) return;
      await apply(policies, requestOf(server.kinds, admission), admission, async (address) => ({
        object: await shownObject(server.kinds, admission, address, admission.object),
        old: await shownObject(server.kinds, admission, address, admission.old),
      }));
    },
    async review(request) {
      const policies = listed();
      if (policies.length === 0) return;
      const hooked = subresourceRequestOf(server.kinds, request);
      await apply(policies, hooked, request, async () => ({ object: request.body, old: undefined }));
    },
  };
}

async function validateBy(
  { policy, bindings }: Policy,
  request: PolicyRequest,
  programs: ValidatingPrograms,
  findings: Findings,
): Promise<void> {
  for await (const call of request.calls(policy, bindings))
    try {
      if ('problem' in call) throw call.problem;
      const outcome = await request.evaluated(call, runOf(policy, programs));
      findings.add(policy, call.binding, outcome);
    } catch (error) {
      findings.misconfigured(policy, call.binding, error);
    }
}

function runOf(policy: ValidatingAdmissionPolicy, programs: ValidatingPrograms) {
  const program = programs.of(policy);
  const { failurePolicy } = policy.spec;
  return (names: Variables, matchBudget: Budget) => {
    const [budget, annotationBudget] = [new Budget(requestLimit), new Budget(requestLimit)];
    return evaluatePolicy({ program, failurePolicy, names, matchBudget, budget, annotationBudget });
  };
}
