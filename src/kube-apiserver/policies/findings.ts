/** Findings of the policies of one request: refusals, warnings for the client, and lines for the log. */
import type { ValidatingAdmissionPolicy } from '../../api/admissionregistration/v1/validating-admission-policy.ts';
import type { ValidatingAdmissionPolicyBinding } from '../../api/admissionregistration/v1/validating-admission-policy-binding.ts';
import {
  newForbidden,
  newStatusError,
  StatusError,
  type StatusReason,
} from '../../apimachinery/status-error.ts';
import type { Admission, SubresourceRequest } from '../../apiserver/admission/plugin.ts';
import type { Logger } from '../../base/log.ts';
import type { Denial, PolicyOutcome } from './evaluate.ts';

/** Maximum length of an audit annotation, in characters. */
const maxAnnotation = 10 * 1024;

interface Refusal {
  readonly message: string;
  readonly reason: string;
}

export class Findings {
  readonly #log: Logger;
  readonly #refusals: Refusal[] = [];
  readonly #warnings: string[] = [];
  readonly #audited: { readonly [key: string]: unknown }[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  add(
    policy: ValidatingAdmissionPolicy,
    binding: ValidatingAdmissionPolicyBinding,
    { denials, annotations }: PolicyOutcome,
  ): void {
    const names = { policy: policy.metadata.name, binding: binding.metadata.name };
    for (const denial of denials) this.#addDenial(names, binding, denial);
    for (const { key, value } of annotations)
      this.#audited.push({ ...names, key, value: value.slice(0, maxAnnotation) });
  }

  #addDenial(
    names: { readonly policy: string; readonly binding: string },
    binding: ValidatingAdmissionPolicyBinding,
    { message, reason, isFinding, validation }: Denial,
  ): void {
    const { policy, binding: bindingName } = names;
    const actions = isFinding ? binding.spec.validationActions : ['Deny'];
    if (actions.includes('Deny')) {
      const full = `ValidatingAdmissionPolicy '${policy}' with binding '${bindingName}' denied request: ${message}`;
      this.#refusals.push({ message: full, reason });
    }
    if (actions.includes('Warn'))
      this.#warnings.push(
        `Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${bindingName}': ${message}`,
      );
    if (actions.includes('Audit')) this.#audited.push({ ...names, validation, message });
  }

  /** Notes a policy or binding that cannot be applied; the failure policy decides what this means. */
  misconfigured(
    policy: ValidatingAdmissionPolicy,
    binding: ValidatingAdmissionPolicyBinding,
    error: unknown,
  ): void {
    if (error instanceof StatusError) throw error;
    if (policy.spec.failurePolicy === 'Ignore') return;
    const why = error instanceof Error ? error.message : String(error);
    const place = `'${policy.metadata.name}' with binding '${binding.metadata.name}'`;
    const message = `ValidatingAdmissionPolicy ${place} denied request: failed to configure binding: ${why}`;
    this.#refusals.push({ message, reason: 'Invalid' });
  }

  /** Warns and logs. Throws the first refusal. */
  finish(request: Admission | SubresourceRequest): void {
    for (const warning of this.#warnings) request.warn?.(warning);
    const { definition, namespace, name, operation, user } = request;
    const about = { operation, resource: definition.plural, namespace, name, user: user.name };
    for (const audited of this.#audited)
      this.#log.info('an admission policy audits a request', { ...about, ...audited });
    const [first] = this.#refusals;
    if (!first) return;
    const { message, details } = newForbidden(definition, name, first.message).status;
    throw newStatusError(first.reason as StatusReason, message ?? first.message, {
      ...details,
      causes: [{ message: first.message }],
    });
  }
}
