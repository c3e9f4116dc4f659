/** Checks that an object is a runnable definition in Amazon States Language. */
import type { StatusCause } from '../../apimachinery/status-error.ts';
import { excessOf, isObject, type Json } from '../json.ts';
import { expressionProblem } from '../jsonata/language.ts';
import { maxDefinition, maxDepth, maxNameLength, maxNesting, maxSeconds, maxStates } from '../limits.ts';
import { checkFields, type Fields } from './check-fields.ts';
import { checkState, processorConfig } from './check-state.ts';
import { anything, type Check, integer, oneOf, type Place, text, variableOf } from './check-values.ts';
import { keyPath, Report } from './report.ts';
import type { QueryLanguage } from './types.ts';

type Value = Readonly<Record<string, unknown>>;

/** Data that all machines of a definition share. */
interface Whole {
  readonly report: Report;
  readonly language: QueryLanguage;
  /** Field at which each state name was first seen. */
  readonly seen: Map<string, string>;
}

/**
 * Returns the faults, each with its field below `path`; empty if the definition is valid. `definition` is any
 * JSON: invalid input neither throws nor causes deep recursion. All its expressions are parsed, which may
 * take seconds.
 */
export function checkDefinition(definition: unknown, path: string): StatusCause[] {
  const report = outlineOf(definition, path);
  for (const { field, value, text: expression } of report.expressions) {
    const problem = expressionProblem(expression);
    if (problem !== undefined) report.invalid(field, value, problem);
  }
  return report.causes;
}

/** Returns the report without parsing the expressions: all other faults, and the expressions. */
export function outlineOf(definition: unknown, path: string): Report {
  const report = new Report();
  if (!isObject(definition)) {
    report.invalid(path, definition, 'must be an object');
    return report;
  }
  const excess = excessOf(definition as Json, maxDefinition, maxDepth);
  if (excess !== undefined) {
    report.forbidden(path, `the definition ${excess}`);
    return report;
  }
  const language = definition.QueryLanguage === 'JSONata' ? 'JSONata' : 'JSONPath';
  checkMachine(definition, path, { report, language, seen: new Map() }, root, new Set(), 1);
  return report;
}

const version: Check = (value, at, place) => oneOf('1.0')(value, at, place);
const machine: Fields = {
  Comment: { check: text },
  StartAt: { required: true, check: anything },
  States: { required: true, check: anything },
};
const root: Fields = {
  ...machine,
  Version: { check: version },
  TimeoutSeconds: { check: integer(1, maxSeconds) },
  QueryLanguage: { check: oneOf('JSONPath', 'JSONata') },
};
const processor: Fields = { ...machine, ProcessorConfig: { check: processorConfig } };

function checkMachine(
  value: unknown,
  path: string,
  whole: Whole,
  fields: Fields,
  outerVariables: ReadonlySet<string>,
  nesting: number,
): void {
  const { report, language } = whole;
  if (!isObject(value)) {
    report.invalid(path, value, 'must be an object');
    return;
  }
  if (nesting > maxNesting) {
    report.forbidden(path, `is nested more than ${maxNesting} levels deep`);
    return;
  }
  const states = isObject(value.States) ? value.States : {};
  const place: Place = { report, language, names: new Set(Object.keys(states)), outerVariables };
  checkFields(value, path, place, fields, fields === root ? 'a definition' : 'a nested machine');
  if (!hasStates(value, path, place)) return;
  const variables = new Set([...outerVariables, ...assignedIn(states, language)]);
  for (const [name, state] of Object.entries(states)) {
    const at = keyPath(`${path}.States`, name);
    checkName(name, at, whole);
    if (isObject(state)) checkOne(state, at, whole, place, variables, nesting);
    else report.invalid(at, state, 'must be an object');
  }
  checkWays(value.StartAt, states, path, place);
}

/** Reports States that are no object or have no state; the check of fields reports missing States. */
function hasStates(value: Value, path: string, { report, names }: Place): boolean {
  if (!Object.hasOwn(value, 'States')) return true;
  if (!isObject(value.States)) {
    report.invalid(`${path}.States`, value.States, 'must be an object of states by name');
    return false;
  }
  if (names.size === 0) report.required(`${path}.States`, 'needs a state at least');
  return names.size > 0;
}

function checkName(name: string, at: string, { report, seen }: Whole): void {
  if (name.length > maxNameLength || name === '')
    report.invalid(at, name, `the name of a state has 1 to ${maxNameLength} characters`);
  const before = seen.get(name);
  if (before !== undefined) report.invalid(at, name, `there is another state of this name: ${before}`);
  else if (seen.size === maxStates) report.forbidden(at, `a definition has at most ${maxStates} states`);
  else seen.set(name, at);
}

function checkOne(
  state: Value,
  at: string,
  whole: Whole,
  place: Place,
  variables: ReadonlySet<string>,
  nesting: number,
): void {
  const language = stateLanguage(state, at, whole);
  const type = checkState(state, at, { ...place, language });
  const inner = (value: unknown, path: string, fields: Fields) =>
    checkMachine(value, path, whole, fields, variables, nesting + 1);
  if (type === 'Parallel' && Object.hasOwn(state, 'Branches'))
    for (const [index, branch] of branchesOf(state.Branches, at, whole).entries())
      inner(branch, `${at}.Branches[${index}]`, machine);
  if (type === 'Map')
    for (const key of ['ItemProcessor', 'Iterator'].filter((one) => Object.hasOwn(state, one)))
      inner(state[key], `${at}.${key}`, processor);
}

/** Returns the branches of a Parallel; reports a value that is not a list of machines. */
function branchesOf(branches: unknown, at: string, { report }: Whole): readonly unknown[] {
  if (Array.isArray(branches) && branches.length > 0) return branches;
  report.invalid(`${at}.Branches`, branches, 'must be a list of machines, at least one');
  return [];
}

function stateLanguage(state: Value, at: string, { language, report }: Whole): QueryLanguage {
  const own = state.QueryLanguage;
  if (own === undefined || own === language) return language;
  if (own === 'JSONata') return own;
  if (own === 'JSONPath')
    report.forbidden(`${at}.QueryLanguage`, 'the definition is in JSONata: so are all its states');
  else report.notSupported(`${at}.QueryLanguage`, own, ['JSONPath', 'JSONata']);
  return language;
}

/**
 * Yields the variables that the states of one machine assign, including those in the rules of Choices and in
 * catchers.
 */
function* assignedIn(states: Value, whole: QueryLanguage): Iterable<string> {
  for (const state of Object.values(states)) {
    if (!isObject(state)) continue;
    const language = state.QueryLanguage === 'JSONata' ? 'JSONata' : whole;
    const assigned = [state, ...rulesOf(state)].map(({ Assign }) => Assign).filter(isObject);
    for (const key of assigned.flatMap(Object.keys)) yield variableOf(key, language);
  }
}

const rulesOf = (state: Value): readonly Value[] =>
  [state.Choices, state.Catch].flatMap((rules) => (Array.isArray(rules) ? rules.filter(isObject) : []));

/** Checks that every state is reachable from StartAt, and that an end is reachable. */
function checkWays(start: unknown, states: Value, path: string, place: Place): void {
  if (start === undefined || place.names.size === 0) return;
  if (typeof start !== 'string' || !place.names.has(start)) {
    place.report.invalid(`${path}.StartAt`, start, 'there is no state of this name in States');
    return;
  }
  const { reached, ends } = waysFrom(start, states, place.names);
  for (const name of place.names)
    if (!reached.has(name))
      place.report.invalid(keyPath(`${path}.States`, name), name, 'this state cannot be reached');
  if (!ends)
    place.report.invalid(`${path}.States`, start, 'no end is reached: a state with End, a Succeed or a Fail');
}

/** Returns the names of the states that can be reached, and true if one of them ends the machine. */
function waysFrom(start: string, states: Value, names: Place['names']) {
  const reached = new Set([start]);
  let ends = false;
  for (const name of reached) {
    const state = states[name];
    if (!isObject(state)) continue;
    ends ||= state.Type === 'Succeed' || state.Type === 'Fail' || state.End === true;
    const targets = [state.Next, state.Default, ...rulesOf(state).map(({ Next }) => Next)];
    for (const target of targets) if (typeof target === 'string' && names.has(target)) reached.add(target);
  }
  return { reached, ends };
}
