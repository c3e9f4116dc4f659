/** MutatingAdmissionPolicies and their bindings in v1alpha1, whose fields are those of v1. */
import { earlierPolicies } from '../earlier-policies.ts';

export const {
  policies: mutatingAdmissionPolicyV1alpha1Resource,
  bindings: mutatingAdmissionPolicyBindingV1alpha1Resource,
} = earlierPolicies('v1alpha1');
