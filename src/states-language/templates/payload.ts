/**
 * Payload templates (Parameters, ResultSelector, ItemSelector, Assign, with JSONPath): JSON in which fields
 * whose names end in `.$` contain a path or an intrinsic function for their value. Also evaluates the single
 * paths of other fields.
 */
import type { Random } from '../../base/random.ts';
import { type ErrorName, stateError } from '../failure.ts';
import { evaluateCall } from '../intrinsics/evaluate.ts';
import { parseIntrinsic } from '../intrinsics/parse.ts';
import { isJsonObject, isList, type Json } from '../json.ts';
import { SyntaxProblem } from '../paths/cursor.ts';
import { evaluatePath, PathProblem, type Roots } from '../paths/evaluate.ts';
import { parsePath } from '../paths/parse.ts';

/** Source of the values of a template. */
export interface Source extends Roots {
  readonly random: Random;
}

export const isIntrinsic = (text: string): boolean => text.startsWith('States.');

/**
 * Returns the filled template. Throws StateError; a path that finds nothing is States.ParameterPathFailure.
 */
export function fillTemplate(template: Json, source: Source): Json {
  if (isList(template)) return template.map((item) => fillTemplate(item, source));
  if (!isJsonObject(template)) return template;
  return Object.fromEntries(
    Object.entries(template).map(([key, value]) =>
      key.endsWith('.$') && typeof value === 'string'
        ? [key.slice(0, -2), evaluateText(value, source, 'States.ParameterPathFailure')]
        : [key, fillTemplate(value, source)],
    ),
  );
}

/** Returns the value of a path or an intrinsic function. Throws `error` for a path that finds nothing. */
export function evaluateText(text: string, source: Source, error: ErrorName = 'States.Runtime'): Json {
  if (isIntrinsic(text)) return evaluateCall(parsed(text, parseIntrinsic), source, source.random);
  const value = look(text, source, error);
  if (value === undefined) throw stateError(error, `there is nothing at ${text}`);
  return value;
}

/** Returns the value of a path, or undefined if it finds nothing. */
export function look(text: string, source: Roots, error: ErrorName = 'States.Runtime'): Json | undefined {
  try {
    return evaluatePath(parsed(text, parsePath), source);
  } catch (problem) {
    if (problem instanceof PathProblem) throw stateError(error, `${text} ${problem.message}`);
    throw problem;
  }
}

/**
 * Parses a text. Definitions are checked when they are applied; a state with an unchecked, invalid text
 * fails.
 */
function parsed<T>(text: string, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof SyntaxProblem)
      throw stateError('States.Runtime', `${text} cannot be read: ${error.message}`);
    throw error;
  }
}
