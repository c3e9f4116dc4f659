/** Converts a selector from its text to the form in objects. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { type LabelOperator, parseLabelSelector } from '../../apimachinery/labels.ts';
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
  for (const { key, operator, values } of requirementsOf(text)) {
    if (operator === '=') matchLabels[key] = values[0] ?? '';
    else {
      const name = operators[operator];
      if (name === undefined) throw new UsageError(`"${operator}" isn't supported in label selectors`);
      matchExpressions.push({ key, operator: name, ...(values.length > 0 && { values: [...values] }) });
    }
  }
  return {
    ...(Object.keys(matchLabels).length > 0 && { matchLabels }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  };
}

function requirementsOf(text: string) {
  try {
    return parseLabelSelector(text).requirements;
  } catch (error) {
    if (error instanceof StatusError)
      throw new UsageError(`couldn't parse the selector string ${JSON.stringify(text)}: ${error.message}`);
    throw error;
  }
}
