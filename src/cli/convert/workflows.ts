/** Workflows of nodes or of states, converted to definitions in the States Language. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { checkDefinition } from '../../states-language/definition/check-definition.ts';
import { parseResource } from '../../states-language/resource.ts';
import type { Fields } from './fields.ts';

export interface Workflow {
  readonly definition: JsonObject;
  /** Input of a run that starts as soon as the workflow exists. */
  readonly input?: unknown;
}

type States = Record<string, JsonObject>;

/**
 * Returns the definition, and the input of a run if the workflow has one. Throws for an incomplete workflow,
 * and for an invalid definition.
 */
export function workflow(fields: Fields, namespace: string | undefined): Workflow {
  const made = fields.has('entryNodeName')
    ? ofEntryNode(fields, namespace)
    : fields.has('States') || fields.has('states')
      ? ofStates(fields)
      : ofNodes(fields);
  return { ...made, definition: checked(made.definition, fields) };
}

/**
 * Returns the definition without unreachable states, which the other systems accept. Throws if the definition
 * is invalid.
 */
export function checked(definition: JsonObject, notes: Pick<Fields, 'note'>): JsonObject {
  const states = definition.States as States;
  const reached = reachedFrom(String(definition.StartAt), states);
  for (const name of Object.keys(states))
    if (!reached.has(name)) notes.note(name, 'left out: no state leads to it');
  const kept = Object.fromEntries(Object.entries(states).filter(([name]) => reached.has(name)));
  const result = { ...definition, States: kept };
  const [cause] = checkDefinition(result, 'definition');
  if (cause) throw new Error(`${cause.field}: ${cause.message}`);
  return result;
}

/** Returns the names of the states that a run can reach. */
function reachedFrom(start: string, states: States): ReadonlySet<string> {
  const reached = new Set<string>();
  const walk = [start];
  for (let name = walk.pop(); name !== undefined; name = walk.pop()) {
    const state = states[name];
    if (!state || reached.has(name)) continue;
    reached.add(name);
    walk.push(...nextOf(state));
  }
  return reached;
}

/** Returns the names of the states that may follow a state. */
function nextOf(state: JsonObject): string[] {
  const choices = Array.isArray(state.Choices) ? state.Choices.filter(isRecord) : [];
  const names = [state.Next, state.Default, ...choices.map(({ Next }) => Next)];
  return names.filter((name) => typeof name === 'string');
}

/** Converts a list of nodes, in which a choice without a match ends the workflow. */
function ofNodes(fields: Fields): Workflow {
  const nodes = fields.items('WorkflowNodes', 'workflowNodes', 'nodes').map((node) => ({
    node,
    name: node.text('Name', 'name') ?? '',
    type: node.text('Type', 'type') ?? '',
    next: node.text('Next', 'next') ?? '',
  }));
  if (nodes.length === 0) throw new Error('WorkflowNodes: the list is empty');
  const states = new StateTable(nodes.map(({ name }) => name));
  for (const { node, name, type, next } of nodes) {
    // A node without a next node is an end in any case.
    node.take('End', 'end');
    if (type.toLowerCase() === 'task') states.add(name, task(name, next));
    else if (type.toLowerCase() === 'choice')
      states.add(name, {
        Type: 'Choice',
        Choices: node.items('Choices', 'choices').map((choice) => ({
          ...comparison(
            variable(choice.text('Variable', 'variable') ?? ''),
            choice.text('Condition', 'condition') ?? '',
            choice.take('Number', 'number', 'String', 'string', 'Value', 'value'),
          ),
          Next: states.nameOr(choice.text('Next', 'next') ?? ''),
        })),
        Default: states.nameOr(next),
      });
    else throw new Error(`node ${name}: its type ${JSON.stringify(type)} is neither Task nor Choice`);
  }
  const start = fields.text('StartAt', 'startAt');
  return { definition: states.definition(start ?? nodes[0]?.name ?? '') };
}

/** Converts a list of nodes with `funcData` or `choiceData`, which runs once with `entryParams`. */
function ofEntryNode(fields: Fields, namespace: string | undefined): Workflow {
  const nodes = fields
    .items('workflowNodes')
    .map((node) => ({ node, name: node.text('name') ?? '', type: node.text('type') ?? '' }));
  const states = new StateTable(nodes.map(({ name }) => name));
  for (const { node, name, type } of nodes) {
    if (type.toLowerCase() === 'func') states.add(name, ofFunc(name, node, fields, namespace));
    else if (type.toLowerCase() === 'choice') states.add(name, ofChoice(node, states));
    else throw new Error(`node ${name}: its type ${JSON.stringify(type)} is neither func nor choice`);
  }
  const input = fields.text('entryParams');
  return {
    definition: states.definition(fields.text('entryNodeName') ?? ''),
    input: input === undefined || input === '' ? {} : parsed(input),
  };
}

function ofFunc(name: string, node: Fields, fields: Fields, namespace: string | undefined): JsonObject {
  const called = node.part('funcData');
  const fn = asName(called.text('funcName') || name);
  const [place = '', next = ''] = [called.text('funcNamespace'), called.text('nextNodeName')];
  if (place === '' || place === (namespace ?? place)) return task(fn, next);
  fields.note(name, `the workflow's service account must be allowed to call functions of ${place}`);
  return task(`${place}/${fn}`, next);
}

function ofChoice(node: Fields, states: StateTable): JsonObject {
  const choice = node.part('choiceData');
  const of = variable(choice.text('checkVarName') ?? '');
  const rule = comparison(of, choice.text('checkType') ?? '', choice.take('compareValue'));
  return {
    Type: 'Choice',
    Choices: [{ ...rule, Next: states.nameOr(choice.text('trueNextNodeName') ?? '') }],
    Default: states.nameOr(choice.text('falseNextNodeName') ?? ''),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`entryParams: invalid JSON: ${(error as Error).message}`, { cause: error });
  }
}

/** Converts the States Language with names of functions as resources. */
function ofStates(fields: Fields): Workflow {
  const states = fields.take('States', 'states');
  const named = Object.entries(isRecord(states) ? states : {}).map(([name, state]) => {
    if (!isRecord(state) || state.Type !== 'Task') return [name, state] as const;
    const resource = typeof state.Resource === 'string' && state.Resource !== '' ? state.Resource : name;
    return [
      name,
      { ...state, Resource: parseResource(resource) ? resource : `function:${asName(resource)}` },
    ];
  });
  return { definition: { StartAt: fields.text('StartAt', 'startAt'), States: Object.fromEntries(named) } };
}

/** States by name, with one at the end for branches without a next state. */
export class StateTable {
  readonly #names: ReadonlySet<string>;
  readonly #states: States = {};
  readonly #end: string;
  #isEndUsed = false;

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
    const [end = 'Done'] = ['Done', ...names.map((_, index) => `Done ${index + 2}`)].filter(
      (name) => !this.#names.has(name),
    );
    this.#end = end;
  }

  add(name: string, state: JsonObject): void {
    if (this.#states[name]) throw new Error(`node ${name}: two nodes have this name`);
    this.#states[name] = state;
  }

  /** Returns the next state of a branch; a branch without a name leads to the end state. */
  nameOr(name: string): string {
    if (name !== '') return name;
    this.#isEndUsed = true;
    return this.#end;
  }

  definition(start: string): JsonObject {
    if (this.#isEndUsed) this.#states[this.#end] = { Type: 'Succeed' };
    return { StartAt: start, States: this.#states };
  }
}

export const task = (fn: string, next: string): JsonObject => ({
  Type: 'Task',
  Resource: `function:${fn.includes('/') ? fn : asName(fn)}`,
  ...(next === '' ? { End: true } : { Next: next }),
});

/** Returns the path of a variable written as `x`, `$.x` or `$`. */
function variable(name: string): string {
  if (name.startsWith('$')) return name;
  return /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(name) ? `$.${name}` : `$[${JSON.stringify(name)}]`;
}

/** Words for comparisons in lower case, with the operator of the States Language without its type. */
const operators: Readonly<Record<string, string>> = {
  equal: 'Equals',
  equals: 'Equals',
  greaterthan: 'GreaterThan',
  lessthan: 'LessThan',
  greaterthanorequal: 'GreaterThanEquals',
  greaterthanequals: 'GreaterThanEquals',
  greaterandequalthan: 'GreaterThanEquals',
  lessthanorequal: 'LessThanEquals',
  lessthanequals: 'LessThanEquals',
  lessandequalthan: 'LessThanEquals',
};

/**
 * Reads a comparison such as `NumericLessThan`, `numLessThan` or `strNotEqual`. Throws for any other word.
 */
export function comparison(of: string, word: string, value: unknown): JsonObject {
  const [, type = '', not = '', rest = ''] = /^(num|str)(?:eric|ing)?(not)?(.*)$/i.exec(word) ?? [];
  const operator = operators[rest.toLowerCase()];
  if (operator === undefined || of === '$.') throw new Error(`${JSON.stringify(word)} is not a comparison`);
  const isNumber = type.toLowerCase() === 'num';
  if (isNumber && (value === undefined || value === '' || !Number.isFinite(Number(value))))
    throw new Error(`${word}: ${JSON.stringify(value)} is not a number`);
  const rule = {
    Variable: of,
    [`${isNumber ? 'Numeric' : 'String'}${operator}`]: isNumber ? Number(value) : String(value ?? ''),
  };
  return not === '' ? rule : { Not: rule };
}

/** Converts a name to one that is valid for objects. */
export const asName = (name: string): string => name.toLowerCase().replaceAll('_', '-');
