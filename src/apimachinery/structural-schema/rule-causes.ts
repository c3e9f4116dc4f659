/** Rules in the Common Expression Language (x-kubernetes-validations) in a definition's schema. */
import { forbiddenCause, invalidCause, notSupportedCause, requiredCause } from '../field-error.ts';
import type { StatusCause } from '../status-error.ts';
import type { Steps } from '../steps.ts';
import { fieldAtPath } from './field-path.ts';
import { innerSchemas, type StructuralSchema, type ValidationRule, type WrittenSchema } from './schema.ts';
import { unreadable } from './written-schema.ts';

const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

const hasNewline = (text: string) => /[\n\r]/.test(text);

/** Returns the causes of a schema's rules that do not depend on their expressions. */
export function ruleCauses(schema: WrittenSchema, path: string): StatusCause[] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  return rules.flatMap((rule, index) => {
    const at = `${path}.x-kubernetes-validations[${index}]`;
    return [...textCauses(rule, at), ...placeCauses(rule, schema, at)];
  });
}

/** Returns a cause for each schema that has rules. */
export function* rejectedRules(schema: StructuralSchema, path: string): Steps<StatusCause[]> {
  const own = (schema['x-kubernetes-validations'] ?? []).length > 0;
  const causes = own
    ? [forbiddenCause(`${path}.x-kubernetes-validations`, 'rules in CEL are not evaluated here')]
    : [];
  for (const [inner, at] of innerSchemas(schema, path)) causes.push(...(yield* rejectedRules(inner, at)));
  return causes;
}

function textCauses({ rule, message, messageExpression }: ValidationRule, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  const shown = message?.trim() ?? '';
  if (!rule.trim()) causes.push(requiredCause(`${path}.rule`, 'rule is not specified'));
  else if (message && !shown)
    causes.push(invalidCause(`${path}.message`, message, 'message must be non-empty if specified'));
  else if (hasNewline(shown))
    causes.push(invalidCause(`${path}.message`, message, 'message must not contain line breaks'));
  else if (hasNewline(rule.trim()) && !shown)
    causes.push(requiredCause(`${path}.message`, 'message must be specified if rule contains line breaks'));
  if (messageExpression && !messageExpression.trim())
    causes.push(
      requiredCause(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'),
    );
  return causes;
}

function placeCauses(
  { reason, fieldPath }: ValidationRule,
  schema: WrittenSchema,
  path: string,
): StatusCause[] {
  const causes: StatusCause[] = [];
  if (reason !== undefined && !reasons.includes(reason))
    causes.push(notSupportedCause(`${path}.reason`, reason, reasons));
  if (!fieldPath) return causes;
  const wrong = (why: string) =>
    causes.push(invalidCause(`${path}.fieldPath`, fieldPath, `fieldPath must ${why}`));
  if (!fieldPath.trim()) wrong('be non-empty if specified');
  if (hasNewline(fieldPath)) wrong('not contain line breaks');
  if (unreadable(schema) === undefined && 'error' in fieldAtPath(fieldPath, schema)) wrong('be a valid path');
  return causes;
}
