/**
 * Admission by ValidatingAdmissionPolicies (upstream: policy/validating, dispatcher.go). Policies and
 * bindings are read from the cache; the program of a policy is compiled when a request needs it for the
 * first time.
 */
import { validatingAdmissionPolicyResource } from '../../api/admissionregistration/v1/validating-admission-policy.ts';
import {
  type ValidatingAdmissionPolicyBinding,
  validatingAdmissionPolicyBindingResource,
} from '../../api/admissionregistration/v1/validating-admission-policy-binding.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { type ResourceRef, storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { Admission, AdmissionPlugin, SubresourceRequest } from '../../apiserver/admission/plugin.ts';
import type { KubeContext } from '../context.ts';
import { requestOf, shownObject, subresourceRequestOf } from '../webhooks/attributes.ts';
import type { Address, HookedRequest } from '../webhooks/plan/request.ts';
import { isExempt } from '../webhooks/plan/rules.ts';
import { Findings } from './findings.ts';
import { PolicyRequest, type ShownObjects } from './policy-request.ts';
import { Programs } from './programs.ts';

export function validatingPolicies(server: KubeContext): AdmissionPlugin {
  const programs = new Programs();
  const apply = async (
    hooked: HookedRequest,
    asked: Admission | SubresourceRequest,
    shown: (address: Address) => Promise<ShownObjects>,
  ) => {
    if (isExempt(hooked)) return;
    const policies = listOf(server, validatingAdmissionPolicyResource);
    const findings = new Findings(server.log);
    const request = new PolicyRequest(server, hooked, shown, findings);
    const bindings = bindingsOf(server);
    for (const policy of policies)
      await request.apply(policy, bindings.get(policy.metadata.name) ?? [], programs);
    findings.finish(asked);
  };
  return {
    name: 'ValidatingAdmissionPolicy',
    async validate(admission) {
      if (admission.isStep || !hasPolicies(server)) return;
      const hooked = requestOf(server.kinds, admission);
      await apply(hooked, admission, async (address) => ({
        object: await shownObject(server.kinds, admission, address, admission.object),
        old: await shownObject(server.kinds, admission, address, admission.old),
      }));
    },
    async review(request) {
      if (!hasPolicies(server)) return;
      const hooked = subresourceRequestOf(server.kinds, request);
      await apply(hooked, request, async () => ({ object: request.body, old: undefined }));
    },
  };
}

const hasPolicies = (server: KubeContext) => listOf(server, validatingAdmissionPolicyResource).length > 0;

const bindingsOf = (server: KubeContext): ReadonlyMap<string, readonly ValidatingAdmissionPolicyBinding[]> =>
  Map.groupBy(listOf(server, validatingAdmissionPolicyBindingResource), ({ spec }) => spec.policyName);

function listOf<T extends KubeObject>({ cache }: KubeContext, ref: ResourceRef<T>): readonly T[] {
  return cache.list(storagePrefix(ref)).map(({ object }) => object as T);
}
