/** MutatingAdmissionPolicies and their bindings in v1beta1, whose fields are those of v1. */
import { earlierPolicies } from '../earlier-policies.ts';

export const {
  policies: mutatingAdmissionPolicyV1beta1Resource,
  bindings: mutatingAdmissionPolicyBindingV1beta1Resource,
} = earlierPolicies('v1beta1');
