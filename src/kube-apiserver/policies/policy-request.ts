/** One request as policies see it: which of them match, with which parameters, and their variables. */
import type { MatchResources, ParamKind, ParamRef } from '../../api/admissionregistration/v1/types.gen.ts';
import { namespaceResource } from '../../api/core/v1/namespace.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { storageKey, storagePrefix } from '../../apimachinery/resource-definition.ts';
import { newNotFound } from '../../apimachinery/status-error.ts';
import { findObject } from '../../apiserver/stored-object.ts';
import { RequestWork } from '../../apiserver/transport/request-work.ts';
import { Budget, matchConditionsLimit } from '../../cel/evaluation/run.ts';
import { tooManyQuestions, withAnswers } from '../admission-requests/ask-authorizer.ts';
import { namespaceLabels } from '../admission-requests/namespace-labels.ts';
import { authorizerVariables } from '../admission-requests/plan/authorizer-answers.ts';
import type { Variables } from '../admission-requests/plan/evaluate-expression.ts';
import { type Address, type HookedRequest, isNamespace } from '../admission-requests/plan/request.ts';
import { requestVariable } from '../admission-requests/plan/request-variable.ts';
import {
  hasNamespaceTerms,
  matchedAddress,
  selectsNamespaceLabels,
  selectsObject,
} from '../admission-requests/plan/rules.ts';
import type { ShownObjects } from '../admission-requests/plan/shown-objects.ts';
import type { KubeContext } from '../context.ts';
import { collectParameters, isParamKind, type ParameterReader } from './collect-parameters.ts';

/** The part of policies of both kinds that selects requests and parameters. */
interface Policy {
  readonly spec: {
    readonly paramKind?: ParamKind | undefined;
    readonly matchConstraints?: MatchResources | undefined;
  };
}

/** The part of their bindings that selects requests and parameters. */
interface Binding {
  readonly spec: {
    readonly paramRef?: ParamRef | undefined;
    readonly matchResources?: MatchResources | undefined;
  };
}

/** One run of a policy, with one binding and at most one object of parameters. */
export interface PolicyCall<B> {
  readonly binding: B;
  /** Version in which the policy sees the objects. */
  readonly address: Address;
  readonly params: KubeObject | null;
}

/** A binding without runs, because its parameters cannot be found. */
interface Misconfigured<B> {
  readonly binding: B;
  readonly problem: Error;
}

export class PolicyRequest {
  readonly #server: KubeContext;
  readonly #request: HookedRequest;
  readonly #shown: (address: Address) => Promise<ShownObjects>;
  /** Lets other requests go on between two runs, each of which may spend a whole budget. */
  readonly #work: RequestWork;
  #namespace: KubeObject | undefined;

  constructor(
    server: KubeContext,
    request: HookedRequest,
    shown: (address: Address) => Promise<ShownObjects>,
  ) {
    this.#server = server;
    this.#request = request;
    this.#shown = shown;
    this.#work = new RequestWork(server);
  }

  /** Returns the runs of a policy. Rejects with 404 if the namespace of the request does not exist. */
  async *calls<B extends Binding>(
    { spec }: Policy,
    bindings: readonly B[],
  ): AsyncGenerator<PolicyCall<B> | Misconfigured<B>, void, void> {
    if (!spec.matchConstraints) return;
    const address = await this.#matches(spec.matchConstraints);
    if (!address) return;
    for (const binding of bindings) {
      const { matchResources } = binding.spec;
      if (matchResources && !(await this.#matches(matchResources))) continue;
      yield* this.#callsWith(spec.paramKind, binding, address);
    }
  }

  #callsWith<B extends Binding>(paramKind: ParamKind | undefined, binding: B, address: Address) {
    const { namespace } = this.#request;
    const reader = parameterReader(this.#server);
    const parameters = collectParameters(paramKind, binding.spec.paramRef, namespace, reader);
    if ('problem' in parameters) return [{ binding, problem: new Error(parameters.problem) }];
    return parameters.found.map((params) => ({ binding, address, params }));
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

  /**
   * Resolves to the result of `evaluate`, which gets the variables of expressions and the budget of the match
   * conditions, and is called again after each answer of the authorizer. Rejects if it asks too many
   * questions.
   */
  async evaluated<T extends object>(
    { address, params }: PolicyCall<unknown>,
    evaluate: (names: Variables, matchBudget: Budget) => T,
  ): Promise<T> {
    const { object, old } = await this.#shown(address);
    const names = {
      object: object ?? null,
      oldObject: old ?? null,
      request: requestVariable(this.#request, address),
      namespaceObject: (await this.#namespaceObject()) ?? null,
      params,
    };
    const result = await withAnswers(this.#server, this.#request, (answers) =>
      evaluate(
        { ...names, ...authorizerVariables(this.#request, answers) },
        new Budget(matchConditionsLimit),
      ),
    );
    if (!result) throw new Error(tooManyQuestions);
    await this.#work.pause();
    return result;
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
