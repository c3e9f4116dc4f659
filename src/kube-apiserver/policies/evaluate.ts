/** Runs the program of a policy on one request (upstream: policy/validating, validator.go). Pure. */
import type {
  CompiledPolicy,
  CompiledValidation,
} from '../../api/admissionregistration/v1/expressions/compile-policy.ts';
import type { Compiled } from '../../cel/compile.ts';
import { CelError, CostError } from '../../cel/error.ts';
import { type Budget, maxMessageLength } from '../../cel/evaluation/run.ts';
import type { Value } from '../../cel/values/value.ts';

type Variables = Readonly<Record<string, unknown>>;

/** Result of one run of a policy. */
export interface PolicyOutcome {
  readonly denials: readonly Denial[];
  /** Annotations for the audit of the request. */
  readonly annotations: readonly Annotation[];
}

interface Annotation {
  readonly key: string;
  readonly value: string;
}

export interface Denial {
  readonly message: string;
  /** Reason of the status that answers the request. */
  readonly reason: string;
  /** True if the actions of the binding apply; false if the failure policy alone refuses the request. */
  readonly isFinding: boolean;
  /** Index of the validation; undefined for a denial by something else. */
  readonly validation?: number;
}

export interface PolicyRun {
  readonly program: CompiledPolicy;
  readonly failurePolicy: 'Fail' | 'Ignore';
  /** Variables of the expressions besides `variables`. */
  readonly names: Variables;
  readonly matchBudget: Budget;
  readonly budget: Budget;
  readonly annotationBudget: Budget;
}

const nothing: PolicyOutcome = { denials: [], annotations: [] };

export function evaluatePolicy(run: PolicyRun): PolicyOutcome {
  const names = { ...run.names, variables: lazyVariables(run) };
  const matched = matchesConditions(run, names);
  if (matched instanceof CelError) return { ...nothing, denials: denialsOf(run, matched) };
  if (!matched) return nothing;
  const denials = run.program.validations.flatMap((validation, index) =>
    validate(validation, names, run).map((denial) => ({ ...denial, validation: index })),
  );
  const annotations = annotationsOf(run, names);
  const failed = annotations.flatMap((one) => (one instanceof CelError ? denialsOf(run, one) : []));
  return {
    denials: [...denials, ...failed.map((denial) => ({ ...denial, isFinding: false }))],
    annotations: annotations.flatMap((one) => (one instanceof CelError ? [] : [one])),
  };
}

/**
 * Returns what an expression that failed means for the request: a denial, unless the policy ignores failures.
 */
const denialsOf = ({ failurePolicy }: PolicyRun, { message }: CelError): readonly Denial[] =>
  failurePolicy === 'Ignore' ? [] : [{ message, reason: 'Invalid', isFinding: true }];

/**
 * Returns whether all conditions hold. One that does not hold decides, also if another one fails (upstream:
 * webhook/matchconditions).
 */
function matchesConditions({ program, matchBudget }: PolicyRun, names: Variables): boolean | CelError {
  const results = program.matchConditions.map((one) =>
    evaluate(one.condition, one.expression, names, matchBudget),
  );
  const problems = results.filter((result) => result instanceof CelError);
  if (results.some((result) => result !== true && !(result instanceof CelError))) return false;
  const [first, ...others] = problems;
  if (!first || others.length === 0) return first ?? true;
  return new CelError(`[${problems.map(({ message }) => message).join(', ')}]`);
}

/** Returns the value, or an error that quotes the expression in upstream's words. */
function evaluate(
  compiled: Compiled,
  expression: string,
  names: Variables,
  budget: Budget,
): Value | CelError {
  try {
    return compiled.evaluate(names, budget);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    if (error instanceof CostError) return error;
    return new CelError(`expression '${expression}' resulted in error: ${error.message}`);
  }
}

function validate(
  { condition, expression, message = '', messageExpression, reason }: CompiledValidation,
  names: Variables,
  run: PolicyRun,
): readonly Denial[] {
  const held = evaluate(condition, expression, names, run.budget);
  if (held instanceof CelError) return denialsOf(run, held);
  if (held === true) return [];
  const own = messageExpression ? evaluatedMessage(messageExpression, names, run.budget) : '';
  const text = own || message.trim() || `failed expression: ${expression.trim()}`;
  return [{ message: text, reason, isFinding: true }];
}

/** Returns the message; '' if the expression fails, or its result is empty, too long or has several lines. */
function evaluatedMessage(expression: Compiled, names: Variables, budget: Budget): string {
  const text = evaluate(expression, '', names, budget);
  const trimmed = typeof text === 'string' ? text.trim() : '';
  return trimmed.length > maxMessageLength || trimmed.includes('\n') ? '' : trimmed;
}

function annotationsOf(
  { program, annotationBudget }: PolicyRun,
  names: Variables,
): readonly (Annotation | CelError)[] {
  return program.auditAnnotations.flatMap<Annotation | CelError>(({ key, expression, value }) => {
    const text = evaluate(value, expression, names, annotationBudget);
    if (text instanceof CelError) return [text];
    const trimmed = typeof text === 'string' ? text.trim() : '';
    return trimmed === '' ? [] : [{ key, value: trimmed }];
  });
}

/**
 * Returns an object whose fields are the policy's variables; each is evaluated at most once, when it is read.
 */
function lazyVariables({ program, names, budget }: PolicyRun): object {
  const variables: Record<string, unknown> = {};
  const all = { ...names, variables };
  for (const { name, value } of program.variables) {
    let known: { readonly value: unknown } | undefined;
    Object.defineProperty(variables, name, {
      enumerable: true,
      get() {
        known ??= { value: evaluateVariable(name, value, all, budget) };
        return known.value;
      },
    });
  }
  return variables;
}

function evaluateVariable(name: string, value: Compiled, names: Variables, budget: Budget): unknown {
  try {
    return value.evaluate(names, budget);
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    throw new CelError(`composited variable ${JSON.stringify(name)} fails to evaluate: ${error.message}`);
  }
}
