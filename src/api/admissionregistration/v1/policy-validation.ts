/** Rules of ValidatingAdmissionPolicies (upstream: ValidateValidatingAdmissionPolicy). */
import {
  duplicateCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../apimachinery/field-error.ts';
import { checkQualifiedName, nameCauses } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { dyn } from '../../../cel/types/type.ts';
import { compilePolicy } from './expressions/compile-policy.ts';
import { expressionEnvironment } from './expressions/environment.ts';
import { lengthCauses } from './expressions/length.ts';
import { validateMatchConditions } from './match-conditions.ts';
import { validateConstraints, validateParamKind, validateVariable } from './policy-parts.ts';
import type {
  AuditAnnotation,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicySpec,
  Validation,
} from './types.gen.ts';

const maxAuditAnnotations = 20;
const maxValueExpressionBytes = 5 * 1024;
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];

export function validatePolicy(policy: ValidatingAdmissionPolicy): StatusCause[] {
  const { spec, metadata } = policy;
  const tooLong = lengthCauses(expressionsOf(spec), 'spec');
  if (tooLong.length > 0) return tooLong;
  const causes = [
    ...(spec.paramKind ? validateParamKind(spec.paramKind, 'spec.paramKind') : []),
    ...validateConstraints(spec.matchConstraints, 'spec.matchConstraints'),
    ...validateMatchConditions(
      spec.matchConditions ?? [],
      'spec.matchConditions',
      expressionEnvironment({ params: spec.paramKind && dyn }),
    ),
    ...(spec.variables ?? []).flatMap((one, index) => validateVariable(one, `spec.variables[${index}]`)),
    ...validateChecks(spec, metadata.name),
  ];
  if (causes.length > 0) return causes;
  return compilePolicy(policy).faults.map(({ path, expression, message }) =>
    invalidCause(path, expression, message),
  );
}

const expressionsOf = (spec: ValidatingAdmissionPolicySpec): readonly (string | undefined)[] => [
  ...(spec.matchConditions ?? []).map(({ expression }) => expression),
  ...(spec.variables ?? []).map(({ expression }) => expression),
  ...(spec.validations ?? []).flatMap(({ expression, messageExpression }) => [expression, messageExpression]),
  ...(spec.auditAnnotations ?? []).map(({ valueExpression }) => valueExpression),
];

function validateChecks(
  { validations = [], auditAnnotations = [] }: ValidatingAdmissionPolicySpec,
  name: string,
): StatusCause[] {
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const why = 'validations or auditAnnotations must contain at least one item';
    return [requiredCause('spec.validations', why), requiredCause('spec.auditAnnotations', why)];
  }
  return [
    ...validations.flatMap((one, index) => validateValidation(one, `spec.validations[${index}]`)),
    ...validateAnnotations(auditAnnotations, name, 'spec.auditAnnotations'),
  ];
}

function validateValidation(
  { expression, message = '', messageExpression = '', reason }: Validation,
  path: string,
): StatusCause[] {
  const causes: StatusCause[] = [];
  if (expression.trim() === '')
    causes.push(requiredCause(`${path}.expression`, 'expression is not specified'));
  if (messageExpression !== '' && messageExpression.trim() === '')
    causes.push(
      invalidCause(`${path}.messageExpression`, messageExpression, 'must be non-empty if specified'),
    );
  if (message !== '' && message.trim() === '')
    causes.push(invalidCause(`${path}.message`, message, 'message must be non-empty if specified'));
  else if (/[\n\r]/.test(message.trim()))
    causes.push(invalidCause(`${path}.message`, message, 'message must not contain line breaks'));
  if (reason !== undefined && !reasons.includes(reason))
    causes.push(notSupportedCause(`${path}.reason`, reason, reasons));
  return causes;
}

function validateAnnotations(
  annotations: readonly AuditAnnotation[],
  policy: string,
  path: string,
): StatusCause[] {
  const keys = new Set<string>();
  const causes = annotations.flatMap(({ key, valueExpression }, index) => {
    const at = `${path}[${index}]`;
    const twice = keys.has(key) ? [duplicateCause(`${at}.key`, key)] : [];
    keys.add(key);
    return [
      ...nameCauses(`${at}.key`, `${policy}/${key}`, checkQualifiedName),
      ...validateValueExpression(valueExpression.trim(), `${at}.valueExpression`),
      ...twice,
    ];
  });
  if (annotations.length <= maxAuditAnnotations) return causes;
  const why = `must not have more than ${maxAuditAnnotations} auditAnnotations`;
  return [invalidCause(path, annotations, why), ...causes];
}

function validateValueExpression(expression: string, path: string): StatusCause[] {
  if (expression === '') return [requiredCause(path, 'valueExpression is not specified')];
  if (expression.length <= maxValueExpressionBytes) return [];
  return [requiredCause(path, `must not exceed ${maxValueExpressionBytes} bytes in length`)];
}
