/** A run of a workflow on this machine: a table has the results of tasks, and waiting times pass at once. */
import { isRecord, type JsonObject } from '../../../apimachinery/equality.ts';
import type { Random } from '../../../base/random.ts';
import type { Definition } from '../../../states-language/definition/types.ts';
import type { Json } from '../../../states-language/json.ts';
import type { Evaluate } from '../../../states-language/jsonata/expression.ts';
import { type Advanced, advance, type RunEvent, startRun } from '../../../states-language/run/advance.ts';
import { type Command, pending } from '../../../states-language/run/commands.ts';
import type { RunState } from '../../../states-language/run/state.ts';
import type { HistoryEntry } from '../../../states-language/run/turn.ts';

type Task = Extract<Command, { type: 'startTask' }>;

export type Answer = { readonly output: Json } | { readonly error: string; readonly cause: string };

/**
 * Results by the name of a state, or by `function:NAME`: one result, or several that are used in turn, with
 * the last one repeated.
 */
export type Answers = ReadonlyMap<string, readonly Answer[]>;

export interface LocalRunOptions {
  readonly definition: Definition;
  readonly name: string;
  readonly input: Json;
  readonly answers: Answers;
  /** Start of the run, in milliseconds since the Unix epoch. */
  readonly now: number;
  readonly random: Random;
  readonly evaluate: Evaluate;
  readonly onHistory: (entries: readonly HistoryEntry[]) => void;
  readonly signal: AbortSignal;
}

/**
 * Reads a table such as `{"Pay": [{"error": "Busy"}, {"output": {}}]}`. Throws if the table has another form.
 */
export function readAnswers(value: unknown): Answers {
  if (!isRecord(value))
    throw new Error('expected an object from names of states to the results of their tasks');
  return new Map(
    Object.entries(value).map(([name, given]) => {
      const list = Array.isArray(given) ? given : [given];
      if (list.length === 0) throw new Error(`${name}: there is no answer in the list`);
      return [name, list.map((one) => answerOf(name, one))];
    }),
  );
}

function answerOf(name: string, given: unknown): Answer {
  const fields = isRecord(given) ? Object.keys(given) : [];
  const { output, error, cause = '' } = (isRecord(given) ? given : {}) as JsonObject;
  const isOutput = fields.length === 1 && output !== undefined;
  if (isOutput) return { output: output as Json };
  const isError = fields.every((field) => field === 'error' || field === 'cause');
  if (isError && typeof error === 'string' && typeof cause === 'string') return { error, cause };
  throw new Error(`${name}: expected {"output": JSON} or {"error": NAME, "cause": TEXT}`);
}

/** Resolves to the final state of the run. Rejects for a task without a result. */
export async function runLocally(options: LocalRunOptions): Promise<RunState> {
  const { definition, name, input, answers, random, evaluate, onHistory, signal } = options;
  let { now } = options;
  const given = new Map<string, number>();
  const ports = () => ({ now, random, evaluate });
  const recorded = ({ state, history }: Advanced): RunState => {
    onHistory(history);
    return state;
  };
  const execution = { id: `local/${name}`, name, workflow: { id: `workflows/${name}`, name } };
  let state = recorded(await startRun(definition, input, execution, ports()));
  while (state.status === 'Running') {
    signal.throwIfAborted();
    const commands = pending(state);
    const due = commands.find(({ type }) => type === 'setTimer') as { readonly due: number } | undefined;
    const event = eventOf(commands, answers, given);
    if (event.type === 'Time' && due) now = Math.max(now, due.due);
    state = recorded(await advance(definition, state, event, ports()));
  }
  return state;
}

/** Returns the next event: pending steps first, then results of tasks, then the end of a wait. */
function eventOf(commands: readonly Command[], answers: Answers, given: Map<string, number>): RunEvent {
  if (commands.some(({ type }) => type === 'continue')) return { type: 'Continue' };
  const cancel = commands.find((command) => command.type === 'cancelTask');
  if (cancel) return { type: 'TaskStopped', id: cancel.id };
  const task = commands.find((command) => command.type === 'startTask');
  if (!task) return { type: 'Time' };
  const { id } = task;
  const answer = answerTo(task, answers, given);
  if ('output' in answer) return { type: 'TaskSucceeded', id, output: answer.output };
  // The error States.Timeout simulates a task that exceeded its timeout.
  if (answer.error === 'States.Timeout') return { type: 'TaskTimedOut', id };
  return { type: 'TaskFailed', id, error: answer.error, cause: answer.cause };
}

function answerTo({ state, resource }: Task, answers: Answers, given: Map<string, number>): Answer {
  const { type, namespace, name } = resource;
  const called = `${type}:${namespace === undefined ? '' : `${namespace}/`}${name}`;
  const key = [state, called].find((one) => answers.has(one));
  const list = key === undefined ? [] : (answers.get(key) ?? []);
  const count = given.get(key ?? '') ?? 0;
  const answer = list[Math.min(count, list.length - 1)];
  if (key === undefined || answer === undefined) {
    throw new Error(`--answers has no entry for the state ${state} or for ${called}`);
  }
  given.set(key, count + 1);
  return answer;
}
