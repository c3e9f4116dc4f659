/**
 * Evaluates Go templates on JSON data. JSON numbers are floating-point numbers, as in kubectl; whole numbers
 * of the template are bigints. Steps, output and nested calls are bounded.
 */
import { isRecord } from '../equality.ts';
import { callFunction, isFunction } from './functions.ts';
import type { Call, Node, Nodes, Operand, Pipeline, Template, Term } from './parse.ts';
import { formatPlain } from './print.ts';
import { isTrue, TemplateError, type Value } from './values.ts';

export interface EvaluateOptions {
  /** Makes a missing key an error; it is printed as `<no value>` otherwise. */
  readonly missingKeyIsError: boolean;
}

const maxSteps = 10_000_000;
const maxOutput = 256 * 1024 * 1024;
const maxCalls = 500;

/** Throws TemplateError if the template does not fit the data. */
export function evaluateGoTemplate(template: Template, data: unknown, options: EvaluateOptions): string {
  const run = new Run(template, options);
  run.nodes(template.nodes, data as Value, [['$', data as Value]]);
  return run.out.join('');
}

type Variables = [name: string, value: Value][];
type Flow = 'next' | 'break' | 'continue';

class Run {
  readonly out: string[] = [];
  readonly #template: Template;
  readonly #missingKeyIsError: boolean;
  #steps = 0;
  #size = 0;
  #calls = 0;

  constructor(template: Template, { missingKeyIsError }: EvaluateOptions) {
    this.#template = template;
    this.#missingKeyIsError = missingKeyIsError;
  }

  nodes(nodes: Nodes, dot: Value, variables: Variables): Flow {
    const scope = variables.length;
    for (const node of nodes) {
      const flow = this.#node(node, dot, variables);
      if (flow !== 'next') {
        variables.length = scope;
        return flow;
      }
    }
    variables.length = scope;
    return 'next';
  }

  #node(node: Node, dot: Value, variables: Variables): Flow {
    this.#step();
    switch (node.kind) {
      case 'text':
        this.#write(node.text);
        return 'next';
      case 'print': {
        const value = this.#pipeline(node.pipeline, dot, variables);
        if (!node.pipeline.declares) this.#write(formatPlain(value));
        return 'next';
      }
      case 'range':
        return this.#range(node, dot, variables);
      case 'if':
      case 'with':
        return this.#branch(node, dot, variables);
      case 'call':
        return this.#called(node.name, node.pipeline && this.#pipeline(node.pipeline, dot, variables));
      default:
        return node.kind;
    }
  }

  #branch(node: Extract<Node, { kind: 'if' | 'with' | 'range' }>, dot: Value, variables: Variables): Flow {
    const scope = variables.length;
    const value = this.#pipeline(node.pipeline, dot, variables);
    const flow = isTrue(value)
      ? this.nodes(node.body, node.kind === 'with' ? value : dot, variables)
      : this.nodes(node.otherwise, dot, variables);
    variables.length = scope;
    return flow;
  }

  #range(node: Extract<Node, { kind: 'if' | 'with' | 'range' }>, dot: Value, variables: Variables): Flow {
    const scope = variables.length;
    const { declares, calls } = node.pipeline;
    const entries = entriesOf(this.#pipeline({ calls }, dot, variables));
    let flow: Flow = 'next';
    for (const [key, item] of entries) {
      variables.length = scope;
      if (declares) this.#declareItem(declares, key, item, variables);
      flow = this.nodes(node.body, item, variables);
      if (flow === 'break') break;
    }
    variables.length = scope;
    if (entries.length === 0) return this.nodes(node.otherwise, dot, variables);
    return 'next';
  }

  #declareItem(
    { names, isNew }: NonNullable<Pipeline['declares']>,
    key: Value,
    item: Value,
    variables: Variables,
  ): void {
    const [first = '', second] = names;
    if (second === undefined) this.#assign(first, item, isNew, variables);
    else {
      this.#assign(first, key, isNew, variables);
      this.#assign(second, item, isNew, variables);
    }
  }

  #called(name: string, dot: Value): Flow {
    const nodes = this.#template.defined.get(name);
    if (!nodes) throw new TemplateError(`template ${JSON.stringify(name)} not defined`);
    if (++this.#calls > maxCalls) throw new TemplateError(`more than ${maxCalls} nested templates`);
    this.nodes(nodes, dot, [['$', dot]]);
    this.#calls--;
    return 'next';
  }

  #pipeline({ calls, declares }: Pipeline, dot: Value, variables: Variables): Value {
    let value: Value;
    for (const [index, call] of calls.entries())
      value = this.#call(call, dot, variables, index > 0 ? [value] : []);
    for (const name of declares?.names ?? []) this.#assign(name, value, declares?.isNew ?? true, variables);
    return value;
  }

  #assign(name: string, value: Value, isNew: boolean, variables: Variables): void {
    if (isNew) variables.push([name, value]);
    else this.#variable(name, variables)[1] = value;
  }

  #variable(name: string, variables: Variables): Variables[number] {
    const found = variables.findLast(([known]) => known === name);
    if (!found) throw new TemplateError(`undefined variable ${JSON.stringify(name)}`);
    return found;
  }

  /** Evaluates one call. `last` holds the value of the previous call in the pipeline. */
  #call(call: Call, dot: Value, variables: Variables, last: readonly Value[]): Value {
    const [first, ...rest] = call;
    if (!first) throw new TemplateError('missing value for command');
    const { operand } = first;
    if (operand.kind === 'value' && operand.value === null) throw new TemplateError('nil is not a command');
    if (operand.kind === 'function' && first.fields.length === 0)
      return this.#function(operand.name, rest, dot, variables, last);
    if (rest.length > 0 || last.length > 0)
      throw new TemplateError(`can't give argument to non-function ${textOf(first)}`);
    return this.#term(first, dot, variables);
  }

  #function(name: string, terms: Call, dot: Value, variables: Variables, last: readonly Value[]): Value {
    this.#step();
    if (!isFunction(name)) throw new TemplateError(`function ${JSON.stringify(name)} not defined`);
    if (name === 'and' || name === 'or') return this.#logic(name, terms, dot, variables, last);
    return callFunction(name, [...terms.map((term) => this.#term(term, dot, variables)), ...last]);
  }

  /** Evaluates only as many terms as decide the result. */
  #logic(name: 'and' | 'or', terms: Call, dot: Value, variables: Variables, last: readonly Value[]): Value {
    const rest = [
      ...terms.map((term) => () => this.#term(term, dot, variables)),
      ...last.map((v) => () => v),
    ];
    if (rest.length === 0) throw new TemplateError(`wrong number of args for ${name}: want at least 1 got 0`);
    let value: Value;
    for (const next of rest) {
      value = next();
      if (isTrue(value) === (name === 'or')) return value;
    }
    return value;
  }

  #term({ operand, fields }: Term, dot: Value, variables: Variables): Value {
    this.#step();
    let value = this.#operand(operand, dot, variables);
    for (const field of fields) value = this.#field(value, field);
    return value;
  }

  #operand(operand: Operand, dot: Value, variables: Variables): Value {
    switch (operand.kind) {
      case 'value':
        return operand.value;
      case 'dot':
        return dot;
      case 'variable':
        return this.#variable(operand.name, variables)[1];
      case 'function':
        return this.#function(operand.name, [], dot, variables, []);
      default:
        return this.#pipeline(operand.pipeline, dot, variables);
    }
  }

  #field(value: Value, name: string): Value {
    if (isRecord(value)) {
      if (Object.hasOwn(value, name)) return value[name] as Value;
      if (this.#missingKeyIsError)
        throw new TemplateError(`map has no entry for key ${JSON.stringify(name)}`);
      return undefined;
    }
    if (value === undefined) {
      if (this.#missingKeyIsError)
        throw new TemplateError(`nil data; no entry for key ${JSON.stringify(name)}`);
      return undefined;
    }
    if (value === null) throw new TemplateError(`nil pointer evaluating interface {}.${name}`);
    throw new TemplateError(`can't evaluate field ${name} in a value that has no fields`);
  }

  #step(): void {
    if (++this.#steps > maxSteps) throw new TemplateError(`more than ${maxSteps} steps`);
  }

  #write(text: string): void {
    this.#size += text.length;
    if (this.#size > maxOutput) throw new TemplateError(`more than ${maxOutput} characters of output`);
    this.out.push(text);
  }
}

/** Returns keys and values in the order of a range; keys of an object are sorted. */
function entriesOf(value: Value): readonly (readonly [Value, Value])[] {
  if (Array.isArray(value)) return value.map((item, index) => [BigInt(index), item as Value]);
  if (isRecord(value))
    return Object.keys(value)
      .sort()
      .map((key) => [key, value[key] as Value]);
  if (value === undefined || value === null) return [];
  throw new TemplateError(`range can't iterate over ${formatPlain(value)}`);
}

function textOf({ operand, fields }: Term): string {
  const names = fields.map((field) => `.${field}`).join('');
  if (operand.kind === 'variable' || operand.kind === 'function') return operand.name + names;
  if (operand.kind === 'value') return JSON.stringify(String(operand.value)) + names;
  return names || '.';
}
