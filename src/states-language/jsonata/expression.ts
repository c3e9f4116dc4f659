/** Where JSONata stands in a definition: texts from `{%` to `%}`, in templates at any depth. */
import { StateError, stateError } from '../failure.ts';
import { isJsonObject, isList, type Json } from '../json.ts';
import { mostExpressionLength, mostParents } from '../limits.ts';

/** What an expression sees, by name without the `$`: the variables, and `states`. */
export type Bindings = Readonly<Record<string, Json>>;

export interface Question {
  readonly expression: string;
  readonly bindings: Bindings;
  /** Milliseconds since the Unix epoch: what $now and $millis say. */
  readonly now: number;
  /** What $random and $uuid draw from. */
  readonly seed: number;
}

/** Rejects with an Error whose message says why the expression has no value. */
export type Evaluate = (question: Question) => Promise<Json>;

/** Whether the text is meant as an expression, be it one or not. */
export const looksLikeExpression = (text: string): boolean => text.startsWith('{%');

/** What stands between `{%` and `%}`; undefined when the text does not end so. */
export const expressionOf = (text: string): string | undefined =>
  looksLikeExpression(text) && text.length >= 4 && text.endsWith('%}') ? text.slice(2, -2).trim() : undefined;

/** Why the text is too much for an expression, whatever it says; undefined when it is not. */
export function sizeProblem(text: string): string | undefined {
  if (text.length > mostExpressionLength) return `is longer than ${mostExpressionLength} characters`;
  if (text.split('%').length > mostParents + 1) return `has more than ${mostParents} times the sign %`;
  return undefined;
}

/** The template with the values of its expressions. Rejects with StateError (States.QueryEvaluationError). */
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
