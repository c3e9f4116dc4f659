/**
 * Checks of single fields: numbers, paths, templates, expressions. Each reports faults under the field's
 * path.
 */

import { parseIntrinsic } from '../intrinsics/parse.ts';
import { isObject } from '../json.ts';
import { expressionOf, looksLikeExpression, sizeProblem } from '../jsonata/expression.ts';
import { maxExpressions, maxSeconds } from '../limits.ts';
import { SyntaxProblem } from '../paths/cursor.ts';
import { isReference } from '../paths/json-path.ts';
import { parsePath } from '../paths/parse.ts';
import { isIntrinsic } from '../templates/payload.ts';
import { parseTimestamp } from '../timestamp.ts';
import { keyPath, type Report } from './report.ts';
import type { QueryLanguage } from './types.ts';

/** Context of a field. */
export interface Place {
  readonly report: Report;
  readonly language: QueryLanguage;
  /** Names of the states that can be the next state. */
  readonly names: ReadonlySet<string>;
  /** Variables that are assigned outside of this machine, and therefore cannot be assigned in it. */
  readonly outerVariables: ReadonlySet<string>;
}

export type Check = (value: unknown, path: string, place: Place) => void;

export const text: Check = (value, path, { report }) => {
  if (typeof value !== 'string') report.invalid(path, value, 'must be a text');
};

export const flag: Check = (value, path, { report }) => {
  if (typeof value !== 'boolean') report.invalid(path, value, 'must be true or false');
};

export const anything: Check = () => undefined;

export const object: Check = (value, path, { report }) => {
  if (!isObject(value)) report.invalid(path, value, 'must be an object');
};

export const oneOf =
  (...choices: readonly string[]): Check =>
  (value, path, { report }) => {
    if (typeof value !== 'string' || !choices.includes(value)) report.notSupported(path, value, choices);
  };

export const integer =
  (least: number, most: number): Check =>
  (value, path, { report }) => {
    if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return;
    report.invalid(path, value, `must be an integer from ${least} to ${most}`);
  };

export const number =
  (least: number, most: number): Check =>
  (value, path, { report }) => {
    if (typeof value === 'number' && value >= least && value <= most) return;
    report.invalid(path, value, `must be a number from ${least} to ${most}`);
  };

export const seconds = integer(1, maxSeconds);

/** Allows an expression instead, if the language is JSONata. */
export const orExpression =
  (check: Check): Check =>
  (value, path, place) => {
    if (place.language === 'JSONata' && typeof value === 'string' && looksLikeExpression(value))
      expression(value, path, place);
    else check(value, path, place);
  };

const expression: Check = (value, path, { report }) => {
  const inner = expressionOf(value as string);
  if (inner !== undefined && !report.takeExpression(inner.length)) {
    report.forbidden(
      path,
      `all expressions of a definition have at most ${maxExpressions} characters together`,
    );
    return;
  }
  const problem = inner === undefined ? 'an expression ends with %}' : sizeProblem(inner);
  if (problem !== undefined) report.invalid(path, value, problem);
  else if (inner !== undefined) report.expressions.push({ field: path, value: value as string, text: inner });
};

export const timestamp: Check = (value, path, { report }) => {
  if (typeof value !== 'string' || parseTimestamp(value) === undefined)
    report.invalid(path, value, "must be a time such as '2026-03-14T01:59:00Z'");
};

export const stateName: Check = (value, path, { names, report }) => {
  if (typeof value !== 'string' || !names.has(value))
    report.invalid(path, value, 'there is no state of this name beside it');
};

function syntax(value: unknown, path: string, report: Report, parse: (text: string) => void): void {
  if (typeof value !== 'string') {
    report.invalid(path, value, 'must be a text');
    return;
  }
  try {
    parse(value);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    report.invalid(path, value, error.message);
  }
}

/** Parses a path in a field: it must begin with $, $$ or a variable. */
function fieldPath(value: string) {
  const path = parsePath(value);
  if (path.root === 'item') throw new SyntaxProblem('@ is for filters only');
  return path;
}

export const path: Check = (value, at, { report }) => syntax(value, at, report, fieldPath);

export const pathOrNull: Check = (value, at, place) => {
  if (value !== null) path(value, at, place);
};

export const pathOrIntrinsic: Check = (value, at, { report }) =>
  syntax(value, at, report, (found) => (isIntrinsic(found) ? parseIntrinsic(found) : fieldPath(found)));

/** Checks a path that can have only one value. */
export const referencePath: Check = (value, at, { report }) =>
  syntax(value, at, report, (found) => {
    if (!isReference(fieldPath(found)))
      throw new SyntaxProblem('must be a reference path: names and indexes only');
  });

/** Checks the path at which a result is stored in the input. */
export const resultPath: Check = (value, at, { report }) => {
  if (value === null) return;
  syntax(value, at, report, (found) => {
    const parsed = fieldPath(found);
    if (!isReference(parsed) || parsed.root !== 'input')
      throw new SyntaxProblem('must be a reference path into the input: $, names and indexes only');
  });
};

/** Checks JSON with paths (JSONPath) or expressions (JSONata) in it. */
export const template: Check = (value, at, place) => {
  if (place.language === 'JSONata') return expressionTemplate(value, at, place);
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) template(item, `${at}[${index}]`, place);
  } else if (isObject(value)) pathTemplate(value, at, place);
};

function pathTemplate(value: Readonly<Record<string, unknown>>, at: string, place: Place): void {
  const names = new Set<string>();
  for (const [key, inner] of Object.entries(value)) {
    const field = keyPath(at, key);
    const dynamic = key.endsWith('.$');
    const name = dynamic ? key.slice(0, -2) : key;
    if (names.has(name)) place.report.invalid(field, inner, `gives ${name} a second time`);
    names.add(name);
    if (dynamic) pathOrIntrinsic(inner, field, place);
    else template(inner, field, place);
  }
}

function expressionTemplate(value: unknown, at: string, place: Place): void {
  if (typeof value === 'string') {
    if (looksLikeExpression(value)) expression(value, at, place);
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) expressionTemplate(item, `${at}[${index}]`, place);
  } else if (isObject(value))
    for (const [key, inner] of Object.entries(value)) expressionTemplate(inner, keyPath(at, key), place);
}

export const templateObject: Check = (value, at, place) => {
  object(value, at, place);
  template(value, at, place);
};

/** Checks a list, or with JSONata an expression or a template of one. */
export const listTemplate: Check = (value, at, place) => {
  if (!Array.isArray(value)) place.report.invalid(at, value, 'must be a list, or an expression that is one');
  template(value, at, place);
};

const variable = /^[\p{ID_Start}_][\p{ID_Continue}]*$/u;

export const assign: Check = (value, at, place) => {
  templateObject(value, at, place);
  if (!isObject(value)) return;
  for (const key of Object.keys(value)) {
    const name = variableOf(key, place.language);
    const field = keyPath(at, key);
    if (!variable.test(name) || name.length > 80)
      place.report.invalid(
        field,
        name,
        'a variable has letters, digits and _, at most 80, and begins with no digit',
      );
    else if (name === 'states') place.report.forbidden(field, 'the variable states is the language’s own');
    else if (place.outerVariables.has(name))
      place.report.forbidden(field, `the variable ${name} is assigned outside; here it can only be read`);
  }
};

/** Returns the variable to which a key of Assign refers. */
export const variableOf = (key: string, language: QueryLanguage): string =>
  language === 'JSONPath' && key.endsWith('.$') ? key.slice(0, -2) : key;
