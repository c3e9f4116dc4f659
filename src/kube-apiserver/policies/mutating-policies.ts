/**
 * Admission by MutatingAdmissionPolicies (upstream: policy/mutating, dispatcher.go). Policies, and the
 * bindings of each, are called in the order of their names; each call gets the object that the previous call
 * has left.
 */
import {
  type CompiledMutatingPolicy,
  type CompiledMutation,
  compileMutatingPolicy,
} from '../../api/admissionregistration/v1/expressions/compile-mutating-policy.ts';
import {
  type MutatingAdmissionPolicy,
  mutatingAdmissionPolicyResource,
} from '../../api/admissionregistration/v1/mutating-admission-policy.ts';
import {
  type MutatingAdmissionPolicyBinding,
  mutatingAdmissionPolicyBindingResource,
} from '../../api/admissionregistration/v1/mutating-admission-policy-binding.ts';
import type { JsonObject } from '../../apimachinery/equality.ts';
import { newStatusError } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin, SubresourceRequest } from '../../apiserver/admission/plugin.ts';
import { Reinvocation } from '../admission-requests/plan/reinvocation.ts';
import { isExempt } from '../admission-requests/plan/rules.ts';
import type { KubeContext } from '../context.ts';
import { type BoundPolicy, boundPolicies } from './bound-policies.ts';
import { matchesPolicy, mutated } from './evaluate-mutation.ts';
import { MutationProblems } from './mutation-problems.ts';
import { type MutationSubject, requestedSubject, writtenSubject } from './mutation-subject.ts';
import { typeOfKind } from './patch-types.ts';
import { type PolicyCall, PolicyRequest } from './policy-request.ts';
import { Programs } from './programs.ts';

type Bound = BoundPolicy<MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding>;
type Call = PolicyCall<MutatingAdmissionPolicyBinding>;

export function mutatingPolicies(server: KubeContext): AdmissionPlugin {
  const mutator = new Mutator(server);
  const listed = boundPolicies(
    server,
    mutatingAdmissionPolicyResource,
    mutatingAdmissionPolicyBindingResource,
  );
  const rounds = new WeakMap<Admission, Reinvocation>();
  return {
    name: 'MutatingAdmissionPolicy',
    async mutate(admission) {
      const { object, isStep } = admission;
      const policies = object && !isStep ? listed() : [];
      if (policies.length === 0) return undefined;
      const round = rounds.get(admission) ?? new Reinvocation();
      rounds.set(admission, round);
      round.begin(object);
      await mutator.mutate(policies, writtenSubject(server, admission), round, admission);
      return round.end(object) ? 'again' : undefined;
    },
    async review(request) {
      const policies = listed();
      if (policies.length > 0)
        await mutator.mutate(policies, requestedSubject(server, request), new Reinvocation(), request);
    },
  };
}

class Mutator {
  readonly #server: KubeContext;
  readonly #programs = new Programs<MutatingAdmissionPolicy, CompiledMutatingPolicy>(compileMutatingPolicy);

  constructor(server: KubeContext) {
    this.#server = server;
  }

  /** Applies the policies in their order. Rejects with the first problem after all have been applied. */
  async mutate(
    policies: readonly Bound[],
    subject: MutationSubject,
    round: Reinvocation,
    asked: Admission | SubresourceRequest,
  ): Promise<void> {
    if (isExempt(subject.request)) return;
    const problems = new MutationProblems();
    const request = new PolicyRequest(this.#server, subject.request, subject.shown);
    for (const bound of policies) {
      for await (const call of request.calls(bound.policy, bound.bindings)) {
        if ('problem' in call)
          problems.add(
            bound.policy,
            call.binding,
            new Error(`failed to configure binding: ${call.problem.message}`),
          );
        else await this.#call({ request, subject, round, problems }, bound.policy, call);
      }
    }
    problems.finish(asked);
  }

  async #call(about: About, policy: MutatingAdmissionPolicy, call: Call): Promise<void> {
    const { round, problems } = about;
    const id = idOf(policy, call);
    if (!round.calls(id)) return;
    try {
      const program = this.#programs.of(policy);
      const match = await about.request.evaluated(call, (names, budget) =>
        matchesPolicy(program, names, budget),
      );
      if ('failed' in match) throw new Error(match.failed);
      if (!match.matches) return;
      let changed = false;
      for (const mutation of program.mutations)
        changed = (await this.#mutateBy(about, policy, program, mutation, call)) || changed;
      round.called(id, policy.spec.reinvocationPolicy, changed);
    } catch (error) {
      problems.add(policy, call.binding, error);
    }
  }

  /**
   * Resolves to true if the mutation has changed the object. A problem of one mutation does not stop the
   * others.
   */
  async #mutateBy(
    { request, subject, problems }: About,
    policy: MutatingAdmissionPolicy,
    program: CompiledMutatingPolicy,
    mutation: CompiledMutation,
    call: Call,
  ): Promise<boolean> {
    const { address, binding } = call;
    const shown = (await subject.shown(address)).object;
    if (!shown) return false;
    const type = typeOfKind(this.#server, address);
    if (!type) throw noSuchKind(address.kind.kind);
    try {
      const next: JsonObject = await request.evaluated(call, (names) =>
        mutated(program, mutation, names, { shown, type }),
      );
      if (next === shown) return false;
      const unknownFields = mutation.patchType === 'JSONPatch' ? 'Strict' : 'Ignore';
      return await subject.take(address, next, unknownFields);
    } catch (error) {
      problems.add(policy, binding, error);
      return false;
    }
  }
}

/** One request while policies change it. */
interface About {
  readonly request: PolicyRequest;
  readonly subject: MutationSubject;
  readonly round: Reinvocation;
  readonly problems: MutationProblems;
}

const idOf = ({ metadata }: MutatingAdmissionPolicy, { binding, params }: Call): string =>
  [metadata.name, binding.metadata.name, params?.metadata.namespace ?? '', params?.metadata.name ?? ''].join(
    '/',
  );

const noSuchKind = (kind: string) =>
  newStatusError(
    'ServiceUnavailable',
    `Resource kind ${kind} not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.`,
  );
