/**
 * MutatingAdmissionPolicies and their bindings in the versions before v1: the fields are the same, so that
 * objects are stored as they are sent.
 */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { servedVersion } from '../../apimachinery/served-version.ts';
import type { RulesByType } from '../../apimachinery/type-rules.ts';
import { mutatingAdmissionPolicyResource } from './v1/mutating-admission-policy.ts';
import { mutatingAdmissionPolicyBindingResource } from './v1/mutating-admission-policy-binding.ts';

/** Returns the definitions of both kinds in a version. */
export const earlierPolicies = (version: 'v1alpha1' | 'v1beta1') => ({
  policies: earlier(mutatingAdmissionPolicyResource, version),
  bindings: earlier(mutatingAdmissionPolicyBindingResource, version),
});

function earlier<T extends KubeObject>(
  stored: ResourceDefinition<T>,
  version: string,
): ResourceDefinition<T> {
  const fields = ({ apiVersion: _, kind: __, metadata: ___, ...others }: T) => others;
  return servedVersion<T, T>(stored, {
    version,
    typeName: renamed(stored.typeName, version),
    rules: rulesIn(stored.rules ?? {}, version),
    toStored: fields,
    fromStored: fields,
  });
}

const rulesIn = (rules: RulesByType, version: string): RulesByType =>
  Object.fromEntries(Object.entries(rules).map(([name, own]) => [renamed(name, version), own]));

const renamed = (name: string, version: string) => name.replace('.v1.', `.${version}.`);
