/** Problems of the mutating policies of one request, in upstream's words (policy/generic, PolicyError). */
import type { MutatingAdmissionPolicy } from '../../api/admissionregistration/v1/mutating-admission-policy.ts';
import type { MutatingAdmissionPolicyBinding } from '../../api/admissionregistration/v1/mutating-admission-policy-binding.ts';
import { newForbidden, StatusError } from '../../apimachinery/status-error.ts';
import type { Admission, SubresourceRequest } from '../../apiserver/admission/plugin.ts';

export class MutationProblems {
  readonly #messages: string[] = [];

  /** Notes a problem unless the policy ignores failures. Rethrows a StatusError, which is never ignored. */
  add(
    { metadata, spec }: MutatingAdmissionPolicy,
    binding: MutatingAdmissionPolicyBinding,
    error: unknown,
  ): void {
    if (error instanceof StatusError) throw error;
    if (spec.failurePolicy === 'Ignore') return;
    const place = `policy '${metadata.name}' with binding '${binding.metadata.name}'`;
    const why = error instanceof Error ? error.message : String(error);
    this.#messages.push(`${place} denied request: ${why}`);
  }

  /** Throws if there is a problem; the answer has all of them. */
  finish({ definition, name }: Admission | SubresourceRequest): void {
    const [first] = this.#messages;
    if (first === undefined) return;
    const { status } = newForbidden(definition, name, first);
    throw new StatusError({
      ...status,
      message: first,
      reason: 'Invalid',
      details: { ...status.details, causes: this.#messages.map((message) => ({ message })) },
    });
  }
}
