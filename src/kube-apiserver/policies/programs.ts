/** The compiled expressions of policies, kept as long as the policies themselves. */
import {
  type CompiledPolicy,
  compilePolicy,
} from '../../api/admissionregistration/v1/expressions/compile-policy.ts';
import type { ValidatingAdmissionPolicy } from '../../api/admissionregistration/v1/validating-admission-policy.ts';

export class Programs {
  readonly #known = new WeakMap<ValidatingAdmissionPolicy, CompiledPolicy>();

  /**
   * Returns the program. Throws for a policy that does not compile: another version of the server has stored
   * it.
   */
  of(policy: ValidatingAdmissionPolicy): CompiledPolicy {
    const known = this.#known.get(policy);
    if (known) return known;
    const { program, faults } = compilePolicy(policy);
    const [fault] = faults;
    if (fault) throw new Error(`${fault.path}: ${fault.message}`);
    this.#known.set(policy, program);
    return program;
  }
}
