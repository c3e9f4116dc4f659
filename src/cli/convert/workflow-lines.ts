/** Workflows in lines of text; each line is a function, a choice between two functions or a loop. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { checked, comparison, StateTable, task } from './workflows.ts';

/** A line of the form NAME, `IF OPERATOR VALUE THEN NAME ELSE NAME` or `FOR COUNT TIMES DO NAME`. */
type Line =
  | { readonly call: string }
  | { readonly operator: string; readonly value: string; readonly yes: string; readonly no: string }
  | { readonly times: number; readonly call: string };

/**
 * The meaning of the operators differs from the other system, where `GREATER` compared the other way round.
 */
const operators: Readonly<Record<string, string>> = {
  EQUALS: 'Equals',
  NEQ: 'NotEquals',
  GREATER: 'GreaterThan',
  LESS: 'LessThan',
};

/**
 * Returns the definition; the output of a line is the input of the next. Throws with the number of an invalid
 * line.
 */
export function workflowOfLines(text: string, note: (text: string) => void): JsonObject {
  const lines = linesOf(text);
  if (lines.length === 0) throw new Error('the workflow has no lines');
  const names = lines.map(({ at, line }) => `line ${at}: ${'yes' in line ? 'choice' : line.call}`);
  const states = new StateTable(names);
  for (const [index, { at, line }] of lines.entries()) {
    const [name = '', next = ''] = [names[index], names[index + 1]];
    if ('yes' in line) {
      choice(states, name, line, at, next);
      noteOrder(line, at, note);
    } else if ('times' in line) loop(states, name, line, at, states.nameOr(next));
    else states.add(name, task(line.call, next));
  }
  return checked(states.definition(names[0] ?? ''), { note: (name, text) => note(`${name}: ${text}`) });
}

/** Returns the lines with their numbers, without blank lines and comments. */
const linesOf = (text: string) =>
  text.split('\n').flatMap((line, index) => {
    const words = line.trim();
    return words === '' || words.startsWith('#') ? [] : [{ at: index + 1, line: lineOf(words, index + 1) }];
  });

type Choice = Extract<Line, { operator: string }>;

/** Notes which values an operator compares if the other system compares them the other way round. */
function noteOrder({ operator, value }: Choice, at: number, note: (text: string) => void): void {
  if (operator === 'GREATER' || operator === 'LESS')
    note(`line ${at}: ${operator} compares the answer of the previous step with ${value}`);
}

function choice(states: StateTable, name: string, line: Choice, at: number, next: string): void {
  const type = Number.isFinite(Number(line.value)) ? 'Numeric' : 'String';
  const [yes, no] = [`line ${at}: ${line.yes}`, `line ${at}: else ${line.no}`];
  states.add(name, {
    Type: 'Choice',
    Choices: [{ ...comparison('$', type + operators[line.operator], line.value), Next: yes }],
    Default: no,
  });
  states.add(yes, task(line.yes, next));
  states.add(no, task(line.no, next));
}

/**
 * Adds a loop of `times` calls. A variable counts them, because the data is the answer of the previous call.
 */
function loop(
  states: StateTable,
  name: string,
  { times, call }: { readonly times: number; readonly call: string },
  at: number,
  next: string,
): void {
  const [test, body, count] = [`line ${at}: again`, `line ${at}: call ${call}`, `calls${at}`];
  states.add(name, { Type: 'Pass', Assign: { [count]: 0 }, Next: test });
  states.add(test, {
    Type: 'Choice',
    Choices: [{ Variable: `$${count}`, NumericLessThan: times, Next: body }],
    Default: next,
  });
  states.add(body, { ...task(call, test), Assign: { [`${count}.$`]: `States.MathAdd($${count}, 1)` } });
}

function lineOf(text: string, at: number): Line {
  const [, operator, value = '', yes = '', no = ''] =
    /^IF\s+(EQUALS|NEQ|GREATER|LESS)\s+(\S+)\s+THEN\s+(\S+)\s+ELSE\s+(\S+)$/.exec(text) ?? [];
  if (operator !== undefined) return { operator, value, yes, no };
  const [, times, call = ''] = /^FOR\s+(\d{1,6})\s+TIMES\s+DO\s+(\S+)$/.exec(text) ?? [];
  if (times !== undefined) return { times: Number(times), call };
  if (/^\S+$/.test(text)) return { call: text };
  throw new Error(
    `line ${at}: expected NAME, IF EQUALS|NEQ|GREATER|LESS VALUE THEN NAME ELSE NAME or FOR COUNT TIMES DO NAME`,
  );
}
