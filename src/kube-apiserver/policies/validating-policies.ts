/**
 * Admission by ValidatingAdmissionPolicies (upstream: policy/validating, dispatcher.go). Policies and bindings
 * are read from the cache; the program of a policy is compiled when a request needs it for the first time.
 */
import { compilePolicy } from '../../api/admissionregistration/v1/expressions/compile-policy.ts';
import type { MatchResources } from '../../api/admissionregistration/v1/types.gen.ts';
import {
  type ValidatingAdmissionPolicy,
  validatingAdmissionPolicyResource,
} from '../../api/admissionregistration/v1/validating-admission-policy.ts';
import {
  type ValidatingAdmissionPolicyBinding,
  validatingAdmissionPolicyBindingResource,
} from '../../api/admissionregistration/v1/validating-admission-policy-binding.ts';
import { namespaceResource } from '../../api/core/v1/namespace.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import {
  type ResourceDefinition,
  type ResourceRef,
  storageKey,
  storagePrefix,
} from '../../apimachinery/resource-definition.ts';
import { newNotFound } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import type { ServerContext } from '../../apiserver/server-context.ts';
import { Budget, matchConditionsLimit, requestLimit } from '../../cel/evaluation/run.ts';
import { matchingVersion } from '../request-rules/match-rules.ts';
import { namespaceIsSelected, objectIsSelected } from '../request-rules/match-selectors.ts';
import { isExempt, type RequestTarget } from '../request-rules/request-target.ts';
import { requestVariable } from '../request-rules/request-variables.ts';
import { requestTarget } from '../request-rules/target-of-admission.ts';
import { collectParameters, isParamKind, type ParameterReader } from './collect-parameters.ts';
import { evaluatePolicy } from './evaluate.ts';
import { Findings } from './findings.ts';

type Server = Pick<ServerContext, 'cache' | 'kinds' | 'log'>;

export function validatingPolicies(server: Server): AdmissionPlugin {
  const programs = new WeakMap<object, ReturnType<typeof compilePolicy>['program']>();
  const programOf = (policy: ValidatingAdmissionPolicy) => {
    const known = programs.get(policy);
    if (known) return known;
    const { program, faults } = compilePolicy(policy);
    // The policy was validated; a version of the server with other rules may have stored it.
    if (faults.length > 0) throw new Error(`${faults[0]?.path}: ${faults[0]?.message}`);
    programs.set(policy, program);
    return program;
  };
  return {
    name: 'ValidatingAdmissionPolicy',
    validate(admission) {
      if (isExempt(admission.definition)) return;
      const policies = listOf(server, validatingAdmissionPolicyResource);
      if (policies.length === 0) return;
      const bindings = Map.groupBy(
        listOf(server, validatingAdmissionPolicyBindingResource),
        ({ spec }) => spec.policyName,
      );
      const request = new PolicyRequest(server, admission);
      for (const policy of policies)
        request.apply(policy, bindings.get(policy.metadata.name) ?? [], programOf);
      request.findings.finish(admission);
    },
  };
}

function listOf<T extends KubeObject>({ cache }: Pick<Server, 'cache'>, ref: ResourceRef<T>): readonly T[] {
  return cache.list(storagePrefix(ref)).map(({ object }) => object as T);
}

/** The policies of one request. */
class PolicyRequest {
  readonly findings: Findings;
  readonly #server: Server;
  readonly #admission: Admission;
  readonly #target: RequestTarget;

  constructor(server: Server, admission: Admission) {
    this.#server = server;
    this.#admission = admission;
    this.#target = requestTarget(server.kinds, admission);
    this.findings = new Findings(server.log);
  }

  apply(
    policy: ValidatingAdmissionPolicy,
    bindings: readonly ValidatingAdmissionPolicyBinding[],
    programOf: (policy: ValidatingAdmissionPolicy) => ReturnType<typeof compilePolicy>['program'],
  ): void {
    const as = policy.spec.matchConstraints && this.#matches(policy.spec.matchConstraints);
    if (!as) return;
    for (const binding of bindings) {
      const { matchResources } = binding.spec;
      if (matchResources && !this.#matches(matchResources)) continue;
      try {
        this.#run(policy, binding, as, programOf(policy));
      } catch (error) {
        this.findings.misconfigured(policy, binding, error);
      }
    }
  }

  /** Returns the version of the kind in which the resources are matched; undefined if they are not. */
  #matches(resources: MatchResources): ResourceDefinition | undefined {
    const {
      namespaceSelector,
      objectSelector,
      excludeResourceRules = [],
      resourceRules = [],
      matchPolicy,
    } = resources;
    const target = this.#target;
    if (!objectIsSelected(objectSelector, this.#admission)) return undefined;
    if (matchingVersion(excludeResourceRules, matchPolicy, target)) return undefined;
    const as =
      resourceRules.length === 0 ? target.served : matchingVersion(resourceRules, matchPolicy, target);
    if (!as) return undefined;
    const labelsOf = (name: string) => this.#namespace(name)?.metadata.labels ?? {};
    return namespaceIsSelected(namespaceSelector, target, this.#admission, labelsOf) ? as : undefined;
  }

  #namespace(name: string): KubeObject | undefined {
    return this.#server.cache.get(storageKey(namespaceResource, '', name))?.object;
  }

  #run(
    policy: ValidatingAdmissionPolicy,
    binding: ValidatingAdmissionPolicyBinding,
    as: ResourceDefinition,
    program: ReturnType<typeof compilePolicy>['program'],
  ): void {
    const { namespace } = this.#admission;
    const parameters = collectParameters(
      policy.spec.paramKind,
      binding.spec.paramRef,
      namespace,
      parameterReader(this.#server),
    );
    if ('problem' in parameters) throw new Error(parameters.problem);
    const names = this.#variables(as);
    for (const params of parameters.found) {
      const outcome = evaluatePolicy({
        program,
        failurePolicy: policy.spec.failurePolicy ?? 'Fail',
        names: { ...names, params },
        matchBudget: new Budget(matchConditionsLimit),
        budget: new Budget(requestLimit),
        annotationBudget: new Budget(requestLimit),
      });
      this.findings.add(policy, binding, outcome);
    }
  }

  #variables(as: ResourceDefinition) {
    const { object, old, user, dryRun = false, namespace, definition } = this.#admission;
    const shown = (one: KubeObject | undefined) =>
      one === undefined ? null : as.conversion ? as.conversion.fromStored(one) : one;
    const found = namespace && definition.plural !== 'namespaces' ? this.#namespace(namespace) : undefined;
    if (namespace && definition.namespaced && !found) throw newNotFound(namespaceResource, namespace);
    return {
      object: shown(object),
      oldObject: shown(old),
      request: requestVariable(this.#target, as, { user, dryRun }),
      namespaceObject: found ?? null,
    };
  }
}

const parameterReader = ({ cache, kinds }: Server): ParameterReader => ({
  kindOf: (paramKind) => kinds.all.find((definition) => isParamKind(paramKind, definition)),
  get: (kind, namespace, name) => cache.get(storageKey(kind, namespace, name))?.object,
  list: (kind, namespace) => cache.list(storagePrefix(kind, namespace)).map(({ object }) => object),
});
