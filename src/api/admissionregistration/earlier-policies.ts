/**
 * MutatingAdmissionPolicies and their bindings in the versions before v1: the fields are the same, so that
 * objects are stored as they are sent.
 */
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import { servedVersion } from '../../apimachinery/served-version.ts';
import type { RulesByType } from '../../apimachinery/type-rules.ts';
import { matchResourcesRules } from './v1/match-resources.ts';
import { mutatingAdmissionPolicyResource } from './v1/mutating-admission-policy.ts';
import { mutatingAdmissionPolicyBindingResource } from './v1/mutating-admission-policy-binding.ts';

/** Returns the definitions of both kinds in a version. */
export const earlierPolicies = (version: 'v1alpha1' | 'v1beta1') => ({
  policies: earlier(mutatingAdmissionPolicyResource, version, partRules),
  bindings: earlier(mutatingAdmissionPolicyBindingResource, version),
});

/** Rules of the parts that mutating and validating policies of v1 share. */
const partRules: RulesByType = {
  'admissionregistration.v1.ParamKind': {},
  'admissionregistration.v1.ParamRef': {},
  'admissionregistration.v1.Variable': { defaults: { name: '', expression: '' } },
  ...matchResourcesRules,
};

function earlier<T extends KubeObject>(
  stored: ResourceDefinition<T>,
  version: string,
  parts: RulesByType = {},
): ResourceDefinition<T> {
  const fields = ({ apiVersion: _, kind: __, metadata: ___, ...others }: T) => others;
  return servedVersion<T, T>(stored, {
    version,
    typeName: renamed(stored.typeName, version),
    rules: {
      ...rulesIn({ ...stored.rules, ...parts }, version),
      ...(parts === partRules && conditionRules(version)),
    },
    toStored: fields,
    fromStored: fields,
  });
}

/** The other versions have the match conditions of v1. */
const conditionRules = (version: string): RulesByType =>
  version === 'v1beta1'
    ? { 'admissionregistration.v1beta1.MatchCondition': { defaults: { name: '', expression: '' } } }
    : {};

const rulesIn = (rules: RulesByType, version: string): RulesByType =>
  Object.fromEntries(Object.entries(rules).map(([name, own]) => [renamed(name, version), own]));

const renamed = (name: string, version: string) => name.replace('.v1.', `.${version}.`);
