/** Transforms data on its way into a state and out of it. */
import type { State } from '../definition/types.ts';
import { type Failure, stateError } from '../failure.ts';
import { excessOf, type Json, type JsonObject } from '../json.ts';
import { maxData, maxTurnWork } from '../limits.ts';
import { parsePath } from '../paths/parse.ts';
import { PutProblem, putAt } from '../paths/put.ts';
import { costOf } from '../work.ts';
import type { Query, StateValues } from './query.ts';
import type { Frame, Turn } from './turn.ts';

/** Checks the size of a value. Large data counts as work of the call. Throws States.DataLimitExceeded. */
export function bounded(turn: Turn, what: string, value: Json): Json {
  turn.worked(costOf([value], maxTurnWork));
  const excess = excessOf(value, maxData);
  if (excess !== undefined) throw stateError('States.DataLimitExceeded', `${what} ${excess}`);
  return value;
}

/** Returns the input after InputPath; with JSONata the input of the state. */
export function inputOf(query: Query, state: State, raw: Json): Json {
  if (query.language === 'JSONata' || !('InputPath' in state)) return raw;
  const { InputPath: path } = state;
  if (path === undefined) return raw;
  return path === null ? {} : query.at(path, raw);
}

/** Returns the arguments of the state's work, after Parameters or Arguments. */
export async function argumentsOf(
  query: Query,
  state: { readonly Parameters?: Json; readonly Arguments?: Json },
  raw: Json,
  input: Json,
): Promise<Json> {
  if (query.language === 'JSONata')
    return state.Arguments === undefined ? input : query.express(state.Arguments, { input: raw });
  return state.Parameters === undefined ? input : query.fill(state.Parameters, input);
}

interface Leaving {
  readonly ResultSelector?: JsonObject;
  readonly ResultPath?: string | null;
  readonly OutputPath?: string | null;
  readonly Output?: Json;
  readonly Assign?: JsonObject;
}

/** Returns the output of a state that has a result, and assigns its variables. */
export async function outputOf(query: Query, frame: Frame, state: Leaving, result: Json): Promise<Json> {
  const { input } = frame.branch;
  if (query.language === 'JSONata') return expressed(query, frame, state, { input, result }, result);
  const variables = state.Assign && query.fill(state.Assign, result);
  const selected = state.ResultSelector === undefined ? result : query.fill(state.ResultSelector, result);
  const output = through(query, state.OutputPath, placed(state.ResultPath, input, selected));
  assign(query, frame, variables);
  return output;
}

/** Returns the output of a state without a result, from its input. `state` may be the rule of a Choice. */
export async function passedOn(query: Query, frame: Frame, state: Leaving, input: Json): Promise<Json> {
  if (query.language === 'JSONata') return expressed(query, frame, state, { input }, input);
  const variables = state.Assign && query.fill(state.Assign, input);
  const output = through(query, state.OutputPath, input);
  assign(query, frame, variables);
  return output;
}

/** Returns the input of the state that follows a catcher. */
export async function caughtOutput(
  query: Query,
  frame: Frame,
  catcher: Leaving,
  failure: Failure,
): Promise<Json> {
  const { input } = frame.branch;
  const errorOutput = { Error: failure.error, Cause: failure.cause };
  if (query.language === 'JSONata')
    return expressed(query, frame, catcher, { input, errorOutput }, errorOutput);
  const variables = catcher.Assign && query.fill(catcher.Assign, errorOutput);
  const output = placed(catcher.ResultPath, input, errorOutput);
  assign(query, frame, variables);
  return output;
}

async function expressed(
  query: Query,
  frame: Frame,
  state: Leaving,
  values: StateValues,
  otherwise: Json,
): Promise<Json> {
  const variables = state.Assign && (await query.express(state.Assign, values));
  const output = state.Output === undefined ? otherwise : await query.express(state.Output, values);
  assign(query, frame, variables);
  return output;
}

/** Assigns all variables of a state at once, only if the state succeeds. */
function assign(query: Query, { branch }: Frame, variables: Json | undefined): void {
  if (variables === undefined) return;
  branch.variables = {
    ...branch.variables,
    ...(bounded(query.turn, 'what is assigned', variables) as JsonObject),
  };
}

function through(query: Query, path: string | null | undefined, value: Json): Json {
  if (path === undefined) return value;
  return path === null ? {} : query.at(path, value);
}

function placed(path: string | null | undefined, input: Json, result: Json): Json {
  if (path === null) return input;
  try {
    return putAt(input, parsePath(path ?? '$'), result);
  } catch (error) {
    if (error instanceof PutProblem)
      throw stateError('States.ResultPathMatchFailure', `ResultPath ${path}: ${error.message}`);
    throw error;
  }
}
