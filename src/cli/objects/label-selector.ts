/** Converts a selector from its text to the form in objects. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { type LabelOperator, parseLabelSelector, type Selector } from '../../apimachinery/labels.ts';
import { StatusError } from '../../apimachinery/status-error.ts';
import { UsageError } from '../../base/usage-error.ts';

const operators: Readonly<Partial<Record<LabelOperator, string>>> = {
  '!=': 'NotIn',
  in: 'In',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
};

/**
 * Reads `app=web,tier in (a,b)` into matchLabels, and matchExpressions if there are any. Throws UsageError.
 */
export function labelSelectorOf(text: string): JsonObject {
  const matchLabels: Record<string, string> = {};
  const matchExpressions: JsonObject[] = [];
  for (const requirement of requirementsOf(text)) {
    const { key, operator, values } = requirement;
    if (operator === '=') matchLabels[key] = values[0] ?? '';
    else matchExpressions.push(expressionOf(requirement));
  }
  return {
    ...(Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  };
}

function expressionOf({ key, operator, values }: ReturnType<typeof requirementsOf>[number]): JsonObject {
  const name = operators[operator];
  if (name === undefined) throw new UsageError(`"${operator}" isn't supported in label selectors`);
  return { key, operator: name, ...(values.length > 0 && { values: [...values] }) };
}

const requirementsOf = (text: string) => selectorOf(text).requirements;

/** Reads a selector that a user typed. Throws UsageError. */
export function selectorOf(text: string): Selector {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    if (error instanceof StatusError)
      throw new UsageError(`couldn't parse the selector string ${JSON.stringify(text)}: ${error.message}`);
    throw error;
  }
}
