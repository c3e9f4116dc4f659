/** The condition of `ctl wait --for=…`, as a predicate for one object (kubectl's pkg/cmd/wait). */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { findAll, formatResults } from '../../apimachinery/jsonpath/evaluate.ts';
import { parsePath } from '../../apimachinery/jsonpath/parse.ts';
import { UsageError } from '../../base/usage-error.ts';
import { metadataOf, numberAt, recordsAt, textAt } from '../objects/objects.ts';

export interface WaitCondition {
  /** Result if the object does not exist. */
  readonly absent: 'met' | 'not yet' | 'error';
  /** Predicate for the current object. */
  readonly isMet: (object: JsonObject) => boolean;
}

/** Throws UsageError for an invalid condition. */
export function parseCondition(text: string): WaitCondition {
  const [, form = text, rest = ''] = /^([^=]*)=?(.*)$/s.exec(text) ?? [];
  switch (form.toLowerCase()) {
    case 'delete':
      return { absent: 'met', isMet: () => false };
    case 'create':
      return { absent: 'not yet', isMet: () => true };
    case 'condition':
      return { absent: 'error', isMet: conditionIs(rest) };
    case 'jsonpath':
      return { absent: 'error', isMet: pathIs(rest) };
    default:
      throw new UsageError(
        `unrecognized condition: ${JSON.stringify(text)}; use condition=NAME[=VALUE], delete, create or jsonpath='{PATH}'[=VALUE]`,
      );
  }
}

/** Returns a predicate for a condition; a condition of an older generation does not count. */
function conditionIs(text: string): (object: JsonObject) => boolean {
  const [type = '', ...values] = text.split('=');
  if (!type) throw new UsageError('--for: condition= needs a name, such as condition=Ready');
  const wanted = (values.join('=') || 'true').toLowerCase();
  return (object) => {
    const { generation } = metadataOf(object);
    const seen = [numberAt(object, 'status', 'observedGeneration')];
    for (const condition of recordsAt(object, 'status', 'conditions')) {
      if (textAt(condition, 'type').toLowerCase() !== type.toLowerCase()) continue;
      seen.push(numberAt(condition, 'observedGeneration'));
      const stale = seen.some((observed) => observed > 0 && observed < generation);
      return !stale && textAt(condition, 'status').toLowerCase() === wanted;
    }
    return false;
  };
}

/** Returns a predicate for a JSONPath; without a value any value matches. */
function pathIs(text: string): (object: JsonObject) => boolean {
  const [written = '', value, ...more] = splitOutsideBrackets(text);
  if (more.length > 0)
    throw new UsageError(
      "jsonpath wait format must be --for=jsonpath='{.status.readyReplicas}'=3 or --for=jsonpath='{.status.readyReplicas}'",
    );
  const path = bracedPath(written);
  const wanted = value?.replaceAll(/^['"]+|['"]+$/g, '');
  if (wanted === '')
    throw new UsageError(
      "jsonpath wait has to have a value after equal sign, like --for=jsonpath='{.status.readyReplicas}'=3",
    );
  const nodes = parsePath(path);
  return (object) => {
    const found = findAll(nodes, object);
    if (found.length === 0) return false;
    if (wanted === undefined) return true;
    if (found.length > 1) throw new Error('given jsonpath expression matches more than one value');
    const [only] = found;
    if (typeof only === 'object' && only !== null)
      throw new Error('jsonpath leads to a nested object or list which is not supported');
    return formatResults(found) === wanted;
  };
}

/** Splits at each equals sign that is not inside of a filter, such as `[?(@.type=="Ready")]`. */
function splitOutsideBrackets(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    if (character === '[') depth++;
    if (character === ']') depth--;
    if (character === '=' && depth === 0) parts.push('');
    else parts.push(parts.pop() + character);
  }
  return parts;
}

/** Returns the path in braces; kubectl accepts it without them, and without the first dot. */
function bracedPath(text: string): string {
  if (text === '') throw new UsageError('jsonpath expression cannot be empty');
  const path = /^\{\.?([^{}]+)\}$|^\.?([^{}]+)$/.exec(text);
  if (!path)
    throw new UsageError(
      "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'",
    );
  return `{.${path[1] ?? path[2]}}`;
}
