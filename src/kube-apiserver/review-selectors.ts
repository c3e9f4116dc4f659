/** Parses the selectors of an access review (upstream: registry/authorization/util). */
import type { ResourceAttributes } from '../api/authorization/v1/access-review.ts';
import type { FieldSelectorRequirement } from '../api/meta/v1/types.gen.ts';
import {
  type FieldRequirement,
  type FieldSelector,
  parseFieldSelector,
} from '../apimachinery/field-selector.ts';
import { parseLabelSelector } from '../apimachinery/labels.ts';
import { checkLabelValue } from '../apimachinery/names.ts';

export interface AskedSelectors {
  /** The valid requirements: others are ignored, and the answer is then for a wider request. */
  readonly fieldSelector: FieldSelector;
  /** Describes what was ignored; undefined if nothing was. */
  readonly problem: string | undefined;
}

export function selectorsOf(asked: ResourceAttributes): AskedSelectors {
  const fields = fieldsOf(asked);
  const problems = [...problemOf('fieldSelector', fields), ...problemOf('labelSelector', labelsOf(asked))];
  return {
    fieldSelector: fields.read,
    problem: problems.length > 0 ? problems.join('; ') : undefined,
  };
}

interface Read<T = unknown> {
  readonly read: readonly T[];
  readonly ignored: boolean;
}

function problemOf(field: 'fieldSelector' | 'labelSelector', { read, ignored }: Read): string[] {
  if (!ignored) return [];
  const much = read.length > 0 ? 'partially ignored' : 'ignored';
  return [`spec.resourceAttributes.${field} ${much} due to parse error`];
}

function parsed<T>(parse: () => readonly T[]): Read<T> {
  try {
    return { read: parse(), ignored: false };
  } catch {
    return { read: [], ignored: true };
  }
}

function fieldsOf({ fieldSelector }: ResourceAttributes): Read<FieldRequirement> {
  const { rawSelector, requirements = [] } = fieldSelector ?? {};
  if (rawSelector) return parsed(() => parseFieldSelector(rawSelector));
  const read = requirements.flatMap(fieldRequirement);
  return { read, ignored: read.length < requirements.length };
}

/** Returns a requirement with exactly one value; any other is not supported. */
function fieldRequirement({ key, operator, values = [] }: FieldSelectorRequirement): FieldSelector {
  const [value, ...more] = values;
  if (key === undefined || value === undefined || more.length > 0) return [];
  if (operator === 'In') return [{ field: key, operator: '=', value }];
  return operator === 'NotIn' ? [{ field: key, operator: '!=', value }] : [];
}

/** Parses the label selector to report errors only: no rule of this server depends on labels. */
function labelsOf({ labelSelector }: ResourceAttributes): Read {
  const { rawSelector, requirements = [] } = labelSelector ?? {};
  if (rawSelector) return parsed(() => parseLabelSelector(rawSelector).requirements);
  const read = requirements.filter(({ values = [] }) =>
    values.every((one) => checkLabelValue(one).length === 0),
  );
  return { read, ignored: read.length < requirements.length };
}
