/**
 * Writes the status of ValidatingAdmissionPolicies: the type errors of their expressions for the kinds that
 * they match (upstream: pkg/controller/validatingadmissionpolicystatus).
 */
import {
  type ValidatingAdmissionPolicy,
  validatingAdmissionPolicyResource,
} from '../../api/admissionregistration/v1/validating-admission-policy.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import { isTerminating } from '../../apimachinery/meta.ts';
import { isConflict } from '../../apimachinery/status-error.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import { typeWarnings } from './policy-status-plan.ts';

export const policyStatusRights: AccountRights = {
  kubernetes: [
    ['get list watch', 'admissionregistration.k8s.io', 'validatingadmissionpolicies'],
    ['get patch update', 'admissionregistration.k8s.io', 'validatingadmissionpolicies/status'],
  ],
};

export function policyStatus({ client, informers, kinds }: ControllerContext): ControllerDefinition {
  const policies = informers.informerFor(validatingAdmissionPolicyResource).lister;

  async function write(policy: ValidatingAdmissionPolicy): Promise<void> {
    const { name, uid, resourceVersion, generation } = policy.metadata;
    const expressionWarnings = typeWarnings(policy, kinds.all);
    const body = {
      metadata: { uid, resourceVersion },
      status: {
        observedGeneration: generation,
        typeChecking: expressionWarnings.length > 0 ? { expressionWarnings } : {},
      },
    };
    const resource = client.resource(validatingAdmissionPolicyResource);
    // A concurrent change arrives as an event.
    await ifPresent(tolerate(resource.patch(name, '', 'merge', body, 'status'), isConflict));
  }

  return {
    name: 'validatingadmissionpolicy-status',
    watches: [watched(validatingAdmissionPolicyResource, ({ metadata }) => [metadata.name])],
    async reconcile(key) {
      const policy = policies.get(key);
      if (!policy || isTerminating(policy)) return undefined;
      if (policy.status.observedGeneration !== policy.metadata.generation) await write(policy);
      return undefined;
    },
  };
}
