/** JSONata expressions in a definition: texts from `{%` to `%}`, in templates at any depth. */
import { StateError, stateError } from '../failure.ts';
import { isJsonObject, isList, type Json } from '../json.ts';
import { maxExpressionLength, maxParents } from '../limits.ts';

/** Values that an expression can use, by name without the `$`: the variables, and `states`. */
export type Bindings = Readonly<Record<string, Json>>;

export interface Question {
  readonly expression: string;
  readonly bindings: Bindings;
  /** Milliseconds since the Unix epoch, returned by $now and $millis. */
  readonly now: number;
  /** Seed of $random and $uuid. */
  readonly seed: number;
}

/** Evaluates an expression. Rejects with an Error whose message states why it has no value. */
export type Evaluate = (question: Question) => Promise<Json>;

/** Returns true if the text is meant as an expression, valid or not. */
export const looksLikeExpression = (text: string): boolean => text.startsWith('{%');

/** Returns the text between `{%` and `%}`, or undefined if the text does not end with `%}`. */
export const expressionOf = (text: string): string | undefined =>
  looksLikeExpression(text) && text.length >= 4 && text.endsWith('%}') ? text.slice(2, -2).trim() : undefined;

/** Returns the reason why the text exceeds the limits of an expression, or undefined. */
export function sizeProblem(text: string): string | undefined {
  if (text.length > maxExpressionLength) return `is longer than ${maxExpressionLength} characters`;
  if (text.split('%').length > maxParents + 1) return `has more than ${maxParents} times the sign %`;
  return undefined;
}

/** Returns the template with evaluated expressions. Rejects with StateError (States.QueryEvaluationError). */
export async function fillExpressions(
  template: Json,
  ask: (expression: string) => Promise<Json>,
): Promise<Json> {
  if (typeof template === 'string') {
    const expression = expressionOf(template);
    return expression === undefined ? template : answerTo(expression, ask);
  }
  if (isList(template)) {
    const items: Json[] = [];
    for (const item of template) items.push(await fillExpressions(item, ask));
    return items;
  }
  if (!isJsonObject(template)) return template;
  const fields: [string, Json][] = [];
  for (const [key, value] of Object.entries(template)) fields.push([key, await fillExpressions(value, ask)]);
  return Object.fromEntries(fields);
}

async function answerTo(expression: string, ask: (expression: string) => Promise<Json>): Promise<Json> {
  try {
    return await ask(expression);
  } catch (error) {
    if (error instanceof StateError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw stateError('States.QueryEvaluationError', `${expression.slice(0, 200)}: ${why}`);
  }
}
