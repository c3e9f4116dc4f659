/** The compiled expressions of policies, kept as long as the policies themselves. */
import type { ExpressionFault } from '../../api/admissionregistration/v1/expressions/expressions.ts';

type Compile<P, C> = (policy: P) => { readonly program: C; readonly faults: readonly ExpressionFault[] };

export class Programs<P extends object, C extends object> {
  readonly #compile: Compile<P, C>;
  readonly #known = new WeakMap<P, C>();

  constructor(compile: Compile<P, C>) {
    this.#compile = compile;
  }

  /**
   * Returns the program. Throws for a policy that does not compile, which only another version of the server
   * can have stored.
   */
  of(policy: P): C {
    const known = this.#known.get(policy);
    if (known) return known;
    const { program, faults } = this.#compile(policy);
    const [fault] = faults;
    if (fault) throw new Error(`${fault.path}: ${fault.message}`);
    this.#known.set(policy, program);
    return program;
  }
}
