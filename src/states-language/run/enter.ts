/** Actions of each type of state when it is entered or retried. */
import { holdsRule } from '../choice/evaluate.ts';
import type { Choice, ChoiceRule, Fail, MapState, State, Task, Wait } from '../definition/types.ts';
import { StateError, stateError } from '../failure.ts';
import { isList, type Json } from '../json.ts';
import { maxConcurrency, maxSeconds } from '../limits.ts';
import { parseResource } from '../resource.ts';
import { parseTimestamp } from '../timestamp.ts';
import { argumentsOf, bounded, inputOf, passedOn } from './data.ts';
import { Query } from './query.ts';
import { type ChildrenWait, type TaskWait, type Waiting, wayOf } from './state.ts';
import type { Frame, Turn } from './turn.ts';

/** Transition to the next state; without `next` the machine has ended. */
export interface Move {
  readonly output: Json;
  readonly next?: string;
}

/**
 * Result of entering a state: a wait, a move, or a result that is still to be processed by the fields of the
 * state.
 */
export type Entered = { readonly wait: Waiting } | { readonly result: Json } | { readonly move: Move };

/** Default timeout in seconds of a task with a heartbeat. */
const usualTimeout = 60;

/** Enters the state. Throws StateError. */
export async function enter(turn: Turn, frame: Frame, state: State): Promise<Entered> {
  const query = new Query(turn, frame, state);
  const raw = frame.branch.input;
  const input = inputOf(query, state, raw);
  switch (state.Type) {
    case 'Pass': {
      const given = await argumentsOf(query, state, raw, input);
      return { result: state.Result === undefined ? given : state.Result };
    }
    case 'Succeed':
      return { move: { output: await passedOn(query, frame, state, input) } };
    case 'Fail':
      throw new StateError(...(await failureOf(query, state, input)));
    case 'Choice':
      return { move: await choose(query, frame, state, input) };
    case 'Wait': {
      const due = await waitEnd(query, state, input, turn.ports.now);
      return due <= turn.ports.now ? { result: null } : { wait: { for: 'time', due } };
    }
    case 'Task':
      return { wait: await taskOf(turn, frame, query, state, input) };
    case 'Parallel': {
      const given = bounded(
        query.turn,
        'the input of the branches',
        await argumentsOf(query, state, raw, input),
      );
      const total = state.Branches.length;
      return { wait: children(total, { limit: total, ...(given !== raw && { input: given }) }) };
    }
    case 'Map':
      return { wait: await iterations(query, state, input) };
  }
}

async function choose(query: Query, frame: Frame, state: Choice, input: Json): Promise<Move> {
  for (const rule of state.Choices)
    if (await holds(query, rule, input)) {
      const output = await passedOn(query, frame, leavingBy(state, rule), input);
      return { output, next: rule.Next };
    }
  if (state.Default === undefined)
    throw stateError('States.NoChoiceMatched', 'no rule of the Choice holds, and it has no Default');
  return { output: await passedOn(query, frame, leavingBy(state, state), input), next: state.Default };
}

/** Returns the fields by which a Choice passes its input on. `way` is the rule that holds, or the Choice. */
function leavingBy({ OutputPath, Output }: Choice, way: Pick<ChoiceRule, 'Output' | 'Assign'>) {
  // A rule may set the output to null.
  const output = way.Output === undefined ? Output : way.Output;
  return {
    ...(OutputPath !== undefined && { OutputPath }),
    ...(output !== undefined && { Output: output }),
    ...(way.Assign !== undefined && { Assign: way.Assign }),
  };
}

async function holds(query: Query, rule: ChoiceRule, input: Json): Promise<boolean> {
  if (query.language === 'JSONPath') return holdsRule(rule, query.source(input));
  const value = await query.express(rule.Condition ?? false, { input });
  if (typeof value === 'boolean') return value;
  throw stateError('States.QueryEvaluationError', 'a Condition must be true or false');
}

/** Returns the end of a Wait, in milliseconds since the Unix epoch. */
async function waitEnd(query: Query, state: Wait, input: Json, now: number): Promise<number> {
  const seconds = await query.number('Seconds', state.Seconds, state.SecondsPath, input, [0, maxSeconds]);
  if (seconds !== undefined) return now + seconds * 1000;
  const text =
    state.TimestampPath === undefined
      ? await textOf(query, state.Timestamp ?? null, input)
      : query.at(state.TimestampPath, input);
  const time = typeof text === 'string' ? parseTimestamp(text) : undefined;
  if (time !== undefined) return Math.ceil(time);
  throw stateError('States.Runtime', `Timestamp must be a time, not ${JSON.stringify(text).slice(0, 100)}`);
}

const textOf = (query: Query, value: Json, input: Json): Json | Promise<Json> =>
  query.language === 'JSONata' ? query.express(value, { input }) : value;

async function failureOf(query: Query, state: Fail, input: Json): Promise<[string, string]> {
  const one = async (value: string | undefined, path: string | undefined) => {
    const found = path === undefined ? await textOf(query, value ?? '', input) : query.at(path, input);
    return typeof found === 'string' ? found : JSON.stringify(found);
  };
  return [await one(state.Error, state.ErrorPath), await one(state.Cause, state.CausePath)];
}

async function taskOf(turn: Turn, frame: Frame, query: Query, state: Task, input: Json): Promise<TaskWait> {
  const { branch, prefix } = frame;
  const { now } = turn.ports;
  const seconds = [1, maxSeconds] as const;
  const heartbeat = await query.number(
    'HeartbeatSeconds',
    state.HeartbeatSeconds,
    state.HeartbeatSecondsPath,
    input,
    seconds,
  );
  const timeout =
    (await query.number('TimeoutSeconds', state.TimeoutSeconds, state.TimeoutSecondsPath, input, seconds)) ??
    (heartbeat === undefined ? undefined : Math.max(usualTimeout, heartbeat + 1));
  const given = bounded(
    query.turn,
    'the input of the task',
    await argumentsOf(query, state, branch.input, input),
  );
  const { Credentials: credentials } = state;
  if (parseResource(state.Resource) === undefined)
    throw stateError('States.Runtime', `there is nothing that runs ${state.Resource}`);
  turn.record('TaskScheduled', {
    state: branch.state,
    way: wayOf(prefix, branch),
    detail: { resource: state.Resource },
    input: given,
  });
  return {
    for: 'task',
    resource: state.Resource,
    ...(given !== branch.input && { input: given }),
    ...(timeout !== undefined && { timeoutSeconds: timeout, due: now + timeout * 1000 }),
    ...(heartbeat !== undefined && { heartbeatSeconds: heartbeat, heartbeatDue: now + heartbeat * 1000 }),
    ...(credentials !== undefined && {
      credentials:
        query.language === 'JSONata'
          ? await query.express(credentials, { input: branch.input })
          : query.fill(credentials, input),
    }),
  };
}

async function iterations(query: Query, state: MapState, input: Json): Promise<ChildrenWait> {
  const items = await itemsOf(query, state, input);
  const total = items.length;
  const whole = [0, maxSeconds] as const;
  const limit = await query.number(
    'MaxConcurrency',
    state.MaxConcurrency,
    state.MaxConcurrencyPath,
    input,
    whole,
  );
  const count = await query.number(
    'ToleratedFailureCount',
    state.ToleratedFailureCount,
    state.ToleratedFailureCountPath,
    input,
    whole,
  );
  const percentage = await query.number(
    'ToleratedFailurePercentage',
    state.ToleratedFailurePercentage,
    state.ToleratedFailurePercentagePath,
    input,
    [0, 100],
    false,
  );
  const share = percentage === undefined ? undefined : Math.floor((total * percentage) / 100);
  const tolerated = count === undefined || share === undefined ? (count ?? share) : Math.min(count, share);
  return children(total, {
    limit: Math.min(limit || maxConcurrency, maxConcurrency),
    items: [...items],
    ...(tolerated !== undefined && { tolerated }),
  });
}

async function itemsOf(query: Query, state: MapState, input: Json): Promise<readonly Json[]> {
  let items: Json = input;
  if (query.language === 'JSONata') {
    if (state.Items !== undefined) items = await query.express(state.Items, { input });
  } else if (state.ItemsPath !== undefined) items = query.at(state.ItemsPath, input);
  if (isList(items)) return bounded(query.turn, 'the list of items', items) as readonly Json[];
  throw stateError('States.Runtime', 'the items of a Map must be a list');
}

const children = (
  total: number,
  more: Pick<ChildrenWait, 'limit' | 'input' | 'items' | 'tolerated'>,
): ChildrenWait => ({ for: 'children', total, started: 0, running: {}, outputs: {}, failed: 0, ...more });
