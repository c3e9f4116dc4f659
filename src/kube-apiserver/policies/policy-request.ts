/** Applies policies to one request: which of them match, with which parameters, and what they find. */
import type { MatchResources } from '../../api/admissionregistration/v1/types.gen.ts';
import type { ValidatingAdmissionPolicy } from '../../api/admissionregistration/v1/validating-admission-policy.ts';
import type { ValidatingAdmissionPolicyBinding } from '../../api/admissionregistration/v1/validating-admission-policy-binding.ts';
import { namespaceResource } from '../../api/core/v1/namespace.ts';
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { storageKey, storagePrefix } from '../../apimachinery/resource-definition.ts';
import { newNotFound } from '../../apimachinery/status-error.ts';

import { findObject } from '../../apiserver/stored-object.ts';
import { RequestWork } from '../../apiserver/transport/request-work.ts';
import { Budget, matchConditionsLimit, requestLimit } from '../../cel/evaluation/run.ts';
import type { KubeContext } from '../context.ts';
import { tooManyQuestions, withAnswers } from '../webhooks/ask-authorizer.ts';
import { authorizerVariables } from '../webhooks/plan/authorizer-answers.ts';
import { type Address, type HookedRequest, isNamespace } from '../webhooks/plan/request.ts';
import {
  hasNamespaceTerms,
  matchedAddress,
  selectsNamespaceLabels,
  selectsObject,
} from '../webhooks/plan/rules.ts';
import { namespaceLabels } from '../webhooks/selection.ts';
import { collectParameters, isParamKind, type ParameterReader } from './collect-parameters.ts';
import { evaluatePolicy } from './evaluate.ts';
import type { Findings } from './findings.ts';
import type { Programs } from './programs.ts';
import { requestVariable } from './request-variable.ts';

/** Objects of a request in the version of an address. */
export interface ShownObjects {
  readonly object: JsonObject | undefined;
  readonly old: JsonObject | undefined;
}

export class PolicyRequest {
  readonly #server: KubeContext;
  readonly #request: HookedRequest;
  readonly #shown: (address: Address) => Promise<ShownObjects>;
  readonly #findings: Findings;
  /** Lets other requests go on between two runs, each of which may spend a whole budget. */
  readonly #work: RequestWork;
  #namespace: KubeObject | undefined;

  constructor(
    server: KubeContext,
    request: HookedRequest,
    shown: (address: Address) => Promise<ShownObjects>,
    findings: Findings,
  ) {
    this.#server = server;
    this.#request = request;
    this.#shown = shown;
    this.#findings = findings;
    this.#work = new RequestWork(server);
  }

  /** Rejects with 404 if the namespace of the request does not exist. */
  async apply(
    policy: ValidatingAdmissionPolicy,
    bindings: readonly ValidatingAdmissionPolicyBinding[],
    programs: Programs,
  ): Promise<void> {
    if (bindings.length === 0 || !policy.spec.matchConstraints) return;
    const address = await this.#matches(policy.spec.matchConstraints);
    if (!address) return;
    for (const binding of bindings) {
      const { matchResources } = binding.spec;
      if (matchResources && !(await this.#matches(matchResources))) continue;
      try {
        await this.#run(policy, binding, address, programs);
      } catch (error) {
        this.#findings.misconfigured(policy, binding, error);
      }
    }
  }

  /** Resolves to the address of the kind in the resources; undefined if they do not match the request. */
  async #matches(resources: MatchResources): Promise<Address | undefined> {
    const { namespaceSelector, objectSelector, excludeResourceRules = [], matchPolicy } = resources;
    const request = this.#request;
    if (!selectsObject(objectSelector, request)) return undefined;
    if (matchedAddress(excludeResourceRules, matchPolicy, request)) return undefined;
    const address = addressIn(resources, request);
    if (!address || !hasNamespaceTerms(namespaceSelector, request)) return address;
    const { object } = await this.#shown(request.address);
    const labels = await namespaceLabels(this.#server, request, object as KubeObject | undefined);
    return selectsNamespaceLabels(namespaceSelector, labels) ? address : undefined;
  }

  async #run(
    policy: ValidatingAdmissionPolicy,
    binding: ValidatingAdmissionPolicyBinding,
    address: Address,
    programs: Programs,
  ): Promise<void> {
    const { paramKind, failurePolicy } = policy.spec;
    const { namespace } = this.#request;
    const reader = parameterReader(this.#server);
    const parameters = collectParameters(paramKind, binding.spec.paramRef, namespace, reader);
    if ('problem' in parameters) throw new Error(parameters.problem);
    const program = programs.of(policy);
    const { object, old } = await this.#shown(address);
    const names = {
      object: object ?? null,
      oldObject: old ?? null,
      request: requestVariable(this.#request, address),
      namespaceObject: (await this.#namespaceObject()) ?? null,
    };
    for (const params of parameters.found) {
      const outcome = await withAnswers(this.#server, this.#request, (answers) =>
        evaluatePolicy({
          program,
          failurePolicy,
          names: { ...names, params, ...authorizerVariables(this.#request, answers) },
          matchBudget: new Budget(matchConditionsLimit),
          budget: new Budget(requestLimit),
          annotationBudget: new Budget(requestLimit),
        }),
      );
      if (!outcome) throw new Error(tooManyQuestions);
      this.#findings.add(policy, binding, outcome);
      await this.#work.pause();
    }
  }

  /** Resolves to the namespace of the request; undefined outside of namespaces. */
  async #namespaceObject(): Promise<KubeObject | undefined> {
    const { namespace, address } = this.#request;
    if (namespace === '' || isNamespace(address)) return undefined;
    this.#namespace ??= await findObject(this.#server, namespaceResource, '', namespace);
    if (!this.#namespace) throw newNotFound(namespaceResource, namespace);
    return this.#namespace;
  }
}

const addressIn = ({ resourceRules = [], matchPolicy }: MatchResources, request: HookedRequest) =>
  resourceRules.length === 0 ? request.address : matchedAddress(resourceRules, matchPolicy, request);

const parameterReader = ({ cache, kinds }: KubeContext): ParameterReader => ({
  kindOf: (paramKind) => kinds.all.find((definition) => isParamKind(paramKind, definition)),
  get: (kind, namespace, name) => cache.get(storageKey(kind, namespace, name))?.object,
  list: (kind, namespace) => cache.list(storagePrefix(kind, namespace)).map(({ object }) => object),
});
