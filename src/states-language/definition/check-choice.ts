/** Checks the rules of a Choice. */

import { parsePattern } from '../choice/matches.ts';
import { type ChoiceOperator, choiceOperators } from '../choice/operators.ts';
import { isObject } from '../json.ts';
import { maxPathLength } from '../limits.ts';
import { checkFields, type Fields } from './check-fields.ts';
import {
  assign,
  type Check,
  flag,
  number,
  orExpression,
  type Place,
  path as pathCheck,
  stateName,
  template,
  text,
  timestamp,
} from './check-values.ts';
import { keyPath } from './report.ts';

const pattern: Check = (value, path, place) => {
  text(value, path, place);
  if (typeof value !== 'string') return;
  if (value.length > maxPathLength)
    place.report.invalid(path, value, `is longer than ${maxPathLength} characters`);
  if (parsePattern(value) === undefined)
    place.report.invalid(path, value, 'a backslash may stand before * and \\ only');
};

const operandChecks: Readonly<Record<ChoiceOperator['operand'], Check>> = {
  String: text,
  Numeric: number(-Number.MAX_VALUE, Number.MAX_VALUE),
  Boolean: flag,
  Timestamp: timestamp,
  Pattern: pattern,
  Path: pathCheck,
  Flag: flag,
};

/** Fields of a top-level rule; rules in And, Or and Not have none of them. */
const outermost: Fields = {
  Next: { required: true, check: stateName },
  Assign: { check: assign },
  Comment: { check: text },
};

const conditional: Fields = {
  ...outermost,
  Condition: { required: true, check: orExpression(flag) },
  Output: { check: template },
};

export const choiceRules: Check = (value, path, place) => {
  if (!Array.isArray(value) || value.length === 0)
    return place.report.invalid(path, value, 'must be a list of rules, at least one');
  for (const [index, rule] of value.entries()) checkRule(rule, `${path}[${index}]`, place, true);
};

type Rule = Readonly<Record<string, unknown>>;

function checkRule(rule: unknown, path: string, place: Place, isOutermost: boolean): void {
  if (!isObject(rule)) {
    place.report.invalid(path, rule, 'must be an object');
    return;
  }
  if (place.language === 'JSONata') {
    checkFields(rule, path, place, conditional, 'a rule');
    return;
  }
  const own = isOutermost ? outermost : { Comment: { check: text } };
  const others = Object.fromEntries(Object.entries(rule).filter(([key]) => Object.hasOwn(own, key)));
  checkFields(others, path, place, own, 'a rule');
  const operators = Object.keys(rule).filter((key) => !Object.hasOwn(own, key) && key !== 'Variable');
  checkOperator(rule, operators, path, place);
}

function checkOperator(rule: Rule, names: readonly string[], path: string, place: Place): void {
  const { report } = place;
  const [name, ...more] = names;
  if (name === undefined) {
    report.required(path, 'needs a comparison, And, Or or Not');
    return;
  }
  for (const other of more) report.forbidden(keyPath(path, other), `cannot stand beside ${name}`);
  const field = keyPath(path, name);
  if (name === 'And' || name === 'Or' || name === 'Not') {
    if (Object.hasOwn(rule, 'Variable')) report.forbidden(`${path}.Variable`, `cannot stand beside ${name}`);
    checkJoined(name, rule[name], field, place);
    return;
  }
  const operator = choiceOperators.get(name);
  if (operator === undefined) {
    report.forbidden(field, 'there is no such comparison');
    return;
  }
  operandChecks[operator.operand](rule[name], field, place);
  if (Object.hasOwn(rule, 'Variable')) pathCheck(rule.Variable, `${path}.Variable`, place);
  else report.required(`${path}.Variable`);
}

function checkJoined(name: 'And' | 'Or' | 'Not', value: unknown, path: string, place: Place): void {
  if (name === 'Not') {
    checkRule(value, path, place, false);
    return;
  }
  if (!Array.isArray(value) || value.length === 0) {
    place.report.invalid(path, value, 'must be a list of rules, at least one');
    return;
  }
  for (const [index, rule] of value.entries()) checkRule(rule, `${path}[${index}]`, place, false);
}
