/** Checks Retry and Catch. */
import { errorNames } from '../failure.ts';
import { isObject } from '../json.ts';
import { maxSeconds } from '../limits.ts';
import { checkFields, type Fields } from './check-fields.ts';
import {
  assign,
  type Check,
  integer,
  number,
  oneOf,
  type Place,
  resultPath,
  stateName,
  template,
  text,
} from './check-values.ts';

/** Maximum delay in seconds: a year and a day, as in AWS. */
const maxDelay = 31_622_400;

const errorEquals: Check = (value, path, place) => {
  if (!Array.isArray(value) || value.length === 0)
    return place.report.invalid(path, value, 'must be a list of error names, at least one');
  for (const [index, name] of value.entries()) {
    const field = `${path}[${index}]`;
    if (typeof name !== 'string') place.report.invalid(field, name, 'must be a text');
    else if (name.startsWith('States.') && !errorNames.some((known) => known === name))
      place.report.notSupported(field, name, errorNames);
  }
  if (value.includes('States.ALL') && value.length > 1)
    place.report.invalid(path, value, 'States.ALL stands alone');
};

const retrier: Fields = {
  ErrorEquals: { required: true, check: errorEquals },
  IntervalSeconds: { check: integer(1, maxSeconds) },
  MaxAttempts: { check: integer(0, maxSeconds) },
  BackoffRate: { check: number(1, 1000) },
  MaxDelaySeconds: { check: integer(1, maxDelay) },
  JitterStrategy: { check: oneOf('FULL', 'NONE') },
  Comment: { check: text },
};

const catcher: Fields = {
  ErrorEquals: { required: true, check: errorEquals },
  Next: { required: true, check: stateName },
  ResultPath: { check: resultPath, language: 'JSONPath' },
  Output: { check: template, language: 'JSONata' },
  Assign: { check: assign },
  Comment: { check: text },
};

export const retriers: Check = (value, path, place) =>
  eachRule(value, path, place, (rule, field) => {
    checkFields(rule, field, place, retrier, 'a retrier');
    const { IntervalSeconds: interval = 1, MaxDelaySeconds: most } = rule;
    if (typeof most === 'number' && typeof interval === 'number' && most <= interval)
      place.report.invalid(
        `${field}.MaxDelaySeconds`,
        most,
        `must be more than IntervalSeconds (${interval})`,
      );
  });

export const catchers: Check = (value, path, place) =>
  eachRule(value, path, place, (rule, field) => checkFields(rule, field, place, catcher, 'a catcher'));

type CheckRule = (rule: Readonly<Record<string, unknown>>, path: string) => void;

function eachRule(value: unknown, path: string, { report }: Place, check: CheckRule): void {
  if (!Array.isArray(value)) {
    report.invalid(path, value, 'must be a list');
    return;
  }
  for (const [index, rule] of value.entries()) {
    const field = `${path}[${index}]`;
    if (!isObject(rule)) {
      report.invalid(field, rule, 'must be an object');
      continue;
    }
    check(rule, field);
    const { ErrorEquals: names } = rule;
    if (Array.isArray(names) && names.includes('States.ALL') && index < value.length - 1)
      report.invalid(`${field}.ErrorEquals`, names, 'States.ALL stands in the last rule');
  }
}
