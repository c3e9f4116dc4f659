/**
 * Admission of policies with parameters, and of bindings that choose them: their writer must be allowed to
 * read the parameters, which messages of the policy can contain (upstream: authz.go of both kinds in
 * pkg/registry/admissionregistration).
 */

import {
  type MutatingAdmissionPolicy,
  mutatingAdmissionPolicyResource,
} from '../../api/admissionregistration/v1/mutating-admission-policy.ts';
import {
  type MutatingAdmissionPolicyBinding,
  mutatingAdmissionPolicyBindingResource,
} from '../../api/admissionregistration/v1/mutating-admission-policy-binding.ts';
import type { ParamKind, ParamRef } from '../../api/admissionregistration/v1/types.gen.ts';
import {
  type ValidatingAdmissionPolicy,
  validatingAdmissionPolicyResource,
} from '../../api/admissionregistration/v1/validating-admission-policy.ts';
import {
  type ValidatingAdmissionPolicyBinding,
  validatingAdmissionPolicyBindingResource,
} from '../../api/admissionregistration/v1/validating-admission-policy-binding.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { forbiddenCause } from '../../apimachinery/field-error.ts';
import { newInvalid } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import { mastersGroup } from '../../apiserver/request/user.ts';
import { findObject } from '../../apiserver/stored-object.ts';
import type { KubeContext } from '../context.ts';
import { isParamKind } from './collect-parameters.ts';

type Parts = Pick<KubeContext, 'authorize' | 'cache' | 'kinds' | 'store'>;

type Policy = MutatingAdmissionPolicy | ValidatingAdmissionPolicy;
type Binding = MutatingAdmissionPolicyBinding | ValidatingAdmissionPolicyBinding;
type PolicyKind = typeof mutatingAdmissionPolicyResource | typeof validatingAdmissionPolicyResource;

const policyKinds: ReadonlySet<string> = new Set([
  mutatingAdmissionPolicyResource.plural,
  validatingAdmissionPolicyResource.plural,
]);

/** The kinds of policies by those of their bindings. */
const policyKindOf: ReadonlyMap<string, PolicyKind> = new Map<string, PolicyKind>([
  [mutatingAdmissionPolicyBindingResource.plural, mutatingAdmissionPolicyResource],
  [validatingAdmissionPolicyBindingResource.plural, validatingAdmissionPolicyResource],
]);

export const parameterAccess = (server: Parts): AdmissionPlugin => ({
  name: 'PolicyParameterAccess',
  async validate(admission) {
    const { definition, object, user } = admission;
    const { group, plural } = definition;
    if (!object || group !== validatingAdmissionPolicyResource.group || user.groups.includes(mastersGroup))
      return;
    if (policyKinds.has(plural)) await checkPolicy(server, admission);
    const policyKind = policyKindOf.get(plural);
    if (policyKind) await checkBinding(server, admission, policyKind);
  },
});

async function checkPolicy(server: Parts, admission: Admission): Promise<void> {
  if (await mayReadKind(server, admission)) return;
  const { definition, name, user } = admission;
  const { apiVersion, kind } = (admission.object as Policy).spec.paramKind ?? {};
  const why = `user ${JSON.stringify(user.name)} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  throw newInvalid(definition, name, [forbiddenCause('spec.paramKind', why)]);
}

async function checkBinding(server: Parts, admission: Admission, policyKind: PolicyKind): Promise<void> {
  if (await mayReadChosen(server, admission, policyKind)) return;
  const { definition, name, user } = admission;
  const verb = verbFor((admission.object as Binding).spec.paramRef);
  const why = `user ${JSON.stringify(user.name)} does not have "${verb}" permission on the object referenced by paramRef`;
  throw newInvalid(definition, name, [forbiddenCause('spec.paramRef', why)]);
}

const verbFor = (reference: ParamRef | undefined) => (reference?.name ? 'get' : 'list');

/** Resolves to whether the writer of a policy may read all objects of its parameters' kind. */
async function mayReadKind(server: Parts, { object, old, user }: Admission): Promise<boolean> {
  const { paramKind } = (object as Policy).spec;
  if (!paramKind || deepEqual(paramKind, (old as Policy | undefined)?.spec.paramKind)) return true;
  const access = { ...resourceOf(server, paramKind), namespace: '*', name: '*' };
  return (await server.authorize({ type: 'resource', user, verb: 'get', ...access })).allowed;
}

/** Resolves to whether the writer of a binding may read the parameters that it chooses. */
async function mayReadChosen(
  server: Parts,
  { object, old, user }: Admission,
  policyKind: PolicyKind,
): Promise<boolean> {
  const { paramRef, policyName } = (object as Binding).spec;
  const before = (old as Binding | undefined)?.spec;
  if (!paramRef || (deepEqual(paramRef, before?.paramRef) && policyName === before?.policyName)) return true;
  const policy = await findObject<Policy>(server, policyKind, '', policyName);
  const { name = '', namespace = '' } = paramRef;
  const access = { ...resourceOf(server, policy?.spec.paramKind), namespace, name };
  return (await server.authorize({ type: 'resource', user, verb: verbFor(paramRef), ...access })).allowed;
}

/** Returns the resource of a kind, with `*` for the parts that are unknown. */
function resourceOf({ kinds }: Parts, paramKind: ParamKind | undefined) {
  if (!paramKind) return { group: '*', resource: '*' };
  const found = kinds.all.find((definition) => isParamKind(paramKind, definition));
  const [group = '', version] = (paramKind.apiVersion ?? '').split('/');
  return { group: version === undefined ? '' : group, resource: found?.plural ?? '*' };
}
