/** Macros, which become folds: has, all, exists, map, filter and so on, with one or two variables. */
import type { Issue } from '../error.ts';
import { call, constant, heightOf, ident, list, map, select } from './build.ts';
import type { CallNode, Expression, FoldNode } from './tree.ts';

export class MacroError extends Error {
  readonly issue: Issue;
  constructor(offset: number, message: string) {
    super(message);
    this.issue = { offset, message };
  }
}

/** Name of the variable in which a fold collects its result. */
const accumulator = '__result__';

/** Variable that an expression cannot name: the loop over an empty list never sets it. */
const unused = '#unused';

/** Returns the expansion, or undefined when the call is of no macro. */
export function expandMacro(
  offset: number,
  name: string,
  target: Expression | undefined,
  args: readonly Expression[],
): Expression | undefined {
  if (target === undefined) return name === 'has' && args.length === 1 ? presence(offset, args) : undefined;
  const macro = macros.get(`${name}/${args.length}`);
  return macro?.(offset, target, args);
}

function presence(offset: number, [field]: readonly Expression[]): Expression {
  if (field?.kind !== 'select')
    throw new MacroError(field?.offset ?? offset, 'invalid argument to has() macro');
  return select(offset, field.operand, field.field, true);
}

type Macro = (offset: number, target: Expression, args: readonly Expression[]) => Expression;

type Loop = Pick<FoldNode, 'init' | 'step'> & Partial<Pick<FoldNode, 'condition' | 'result'>>;

/** The part of a fold that a macro decides, given the arguments after the variables. */
type Body = (offset: number, args: readonly Expression[], variable: string) => Loop;

function looping(variables: 1 | 2, wrong: string, body: Body): Macro {
  return (offset, range, args) => {
    const names = args.slice(0, variables).map((arg) => simpleName(arg, wrong));
    const [variable = unused, variable2] = names;
    if (variables === 2 && variable === variable2)
      throw new MacroError(args[1]?.offset ?? offset, `duplicate variable name: ${variable}`);
    const loop = body(offset, args.slice(variables), variable);
    return fold(offset, range, variable, variable2, accumulator, loop);
  };
}

function simpleName(arg: Expression, wrong: string): string {
  if (arg.kind !== 'ident') throw new MacroError(arg.offset, wrong);
  if (arg.name === accumulator)
    throw new MacroError(arg.offset, 'iteration variable overwrites accumulator variable');
  return arg.name;
}

function fold(
  offset: number,
  range: Expression,
  variable: string,
  variable2: string | undefined,
  accu: string,
  loop: Loop,
): FoldNode {
  const { init, step } = loop;
  const condition = loop.condition ?? constant(offset, true);
  const result = loop.result ?? ident(offset, accu);
  const height = heightOf([range, init, condition, step, result]);
  return {
    kind: 'fold',
    offset,
    height,
    range,
    variable,
    variable2,
    accumulator: accu,
    init,
    condition,
    step,
    result,
  };
}

function accu(offset: number): Expression {
  return ident(offset, accumulator);
}

/** A step that is taken only where the filter holds. */
function filtered(offset: number, filter: Expression | undefined, step: CallNode): CallNode {
  return filter === undefined ? step : call(offset, '_?_:_', [filter, step, accu(offset)]);
}

function lastOf(args: readonly Expression[]): { filter: Expression | undefined; last: Expression } {
  const last = args.at(-1);
  if (last === undefined) throw new Error('a macro has an argument');
  return { last, filter: args.length > 1 ? args[0] : undefined };
}

const all: Body = (offset, args) => ({
  init: constant(offset, true),
  condition: call(offset, '@not_strictly_false', [accu(offset)]),
  step: call(offset, '_&&_', [accu(offset), lastOf(args).last]),
});

const exists: Body = (offset, args) => ({
  init: constant(offset, false),
  condition: call(offset, '@not_strictly_false', [call(offset, '!_', [accu(offset)])]),
  step: call(offset, '_||_', [accu(offset), lastOf(args).last]),
});

const existsOne: Body = (offset, args) => ({
  init: constant(offset, 0n),
  step: filtered(offset, lastOf(args).last, call(offset, '_+_', [accu(offset), constant(offset, 1n)])),
  result: call(offset, '_==_', [accu(offset), constant(offset, 1n)]),
});

function appended(offset: number, value: Expression): CallNode {
  return call(offset, '_+_', [accu(offset), list(offset, [{ value, optional: false }])]);
}

const mapped: Body = (offset, args) => {
  const { filter, last } = lastOf(args);
  return { init: list(offset, []), step: filtered(offset, filter, appended(offset, last)) };
};

const kept: Body = (offset, args, variable) => ({
  init: list(offset, []),
  step: filtered(offset, lastOf(args).last, appended(offset, ident(offset, variable))),
});

const toMap: Body = (offset, args, variable) => {
  const { filter, last } = lastOf(args);
  const step = call(offset, 'cel.@mapInsert', [accu(offset), ident(offset, variable), last]);
  return { init: map(offset, []), step: filtered(offset, filter, step) };
};

const toEntries: Body = (offset, args) => {
  const { filter, last } = lastOf(args);
  const step = call(offset, 'cel.@mapInsert', [accu(offset), last]);
  return { init: map(offset, []), step: filtered(offset, filter, step) };
};

/** Gives a name to a value, for one expression, by a fold over an empty list. */
function named(offset: number, name: string, value: Expression, result: Expression): FoldNode {
  const condition = constant(offset, false);
  const step = ident(offset, name);
  return fold(offset, list(offset, []), unused, undefined, name, { init: value, condition, step, result });
}

function optional(name: 'optMap' | 'optFlatMap'): Macro {
  return (offset, target, args) => {
    const [variable, value] = args;
    if (variable?.kind !== 'ident' || value === undefined)
      throw new MacroError(variable?.offset ?? offset, `${name}() variable name must be a simple identifier`);
    const mapped = named(offset, variable.name, call(offset, 'value', [], target), value);
    const found = name === 'optMap' ? call(offset, 'optional.of', [mapped]) : mapped;
    const none = call(offset, 'optional.none', []);
    return call(offset, '_?_:_', [call(offset, 'hasValue', [], target), found, none]);
  };
}

const notSimple = 'argument must be a simple name';
const notIdentifier = 'argument is not an identifier';

const macros: ReadonlyMap<string, Macro> = new Map([
  ['all/2', looping(1, notSimple, all)],
  ['exists/2', looping(1, notSimple, exists)],
  ['exists_one/2', looping(1, notSimple, existsOne)],
  ['map/2', looping(1, notIdentifier, mapped)],
  ['map/3', looping(1, notIdentifier, mapped)],
  ['filter/2', looping(1, notIdentifier, kept)],
  ['all/3', looping(2, notSimple, all)],
  ['exists/3', looping(2, notSimple, exists)],
  ['existsOne/3', looping(2, notSimple, existsOne)],
  ['exists_one/3', looping(2, notSimple, existsOne)],
  ['transformList/3', looping(2, notSimple, mapped)],
  ['transformList/4', looping(2, notSimple, mapped)],
  ['transformMap/3', looping(2, notSimple, toMap)],
  ['transformMap/4', looping(2, notSimple, toMap)],
  ['transformMapEntry/3', looping(2, notSimple, toEntries)],
  ['transformMapEntry/4', looping(2, notSimple, toEntries)],
  ['optMap/2', optional('optMap')],
  ['optFlatMap/2', optional('optFlatMap')],
]);
