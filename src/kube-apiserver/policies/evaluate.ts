/** Runs the program of a policy on one request (upstream: policy/validating, validator.go). Pure. */
import type {
  CompiledPolicy,
  CompiledValidation,
} from '../../api/admissionregistration/v1/expressions/compile-policy.ts';
import type { Compiled } from '../../cel/compile.ts';
import { CelError } from '../../cel/error.ts';
import { type Budget, maxMessageLength } from '../../cel/evaluation/run.ts';
import { evaluateExpression, type Variables } from '../admission-requests/plan/evaluate-expression.ts';
import { matchAll } from '../admission-requests/plan/match-conditions.ts';
import { lazyVariables } from './lazy-variables.ts';

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
  const names = { ...run.names, variables: lazyVariables(run.program.variables, run.names, run.budget) };
  const match = matchAll(run.program.matchConditions, names, run.matchBudget);
  if ('failed' in match) return { ...nothing, denials: denialsOf(run, new CelError(match.failed)) };
  if (!match.matches) return nothing;
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

function validate(
  { condition, expression, message = '', messageExpression, reason }: CompiledValidation,
  names: Variables,
  run: PolicyRun,
): readonly Denial[] {
  const held = evaluateExpression(condition, expression, names, run.budget);
  if (held instanceof CelError) return denialsOf(run, held);
  if (held === true) return [];
  const own = messageExpression ? evaluatedMessage(messageExpression, names, run.budget) : '';
  const text = own || message.trim() || `failed expression: ${expression.trim()}`;
  return [{ message: text, reason, isFinding: true }];
}

/** Returns the message; '' if the expression fails, or its result is empty, too long or has several lines. */
function evaluatedMessage(expression: Compiled, names: Variables, budget: Budget): string {
  const text = evaluateExpression(expression, '', names, budget);
  const trimmed = typeof text === 'string' ? text.trim() : '';
  return trimmed.length > maxMessageLength || trimmed.includes('\n') ? '' : trimmed;
}

function annotationsOf(
  { program, annotationBudget }: PolicyRun,
  names: Variables,
): readonly (Annotation | CelError)[] {
  return program.auditAnnotations.flatMap<Annotation | CelError>(({ key, expression, value }) => {
    const text = evaluateExpression(value, expression, names, annotationBudget);
    if (text instanceof CelError) return [text];
    const trimmed = typeof text === 'string' ? text.trim() : '';
    return trimmed === '' ? [] : [{ key, value: trimmed }];
  });
}
