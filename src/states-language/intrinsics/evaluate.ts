/** Evaluates an intrinsic function: its paths are resolved and its nested calls are evaluated first. */
import type { Random } from '../../base/random.ts';
import { stateError } from '../failure.ts';
import type { Json } from '../json.ts';
import { evaluatePath, PathProblem, type Roots } from '../paths/evaluate.ts';
import { costOf, workProblem } from '../work.ts';
import { callFunction, type FunctionName } from './functions.ts';
import type { Argument, Call } from './parse.ts';

/** Cost factors of functions that examine each character of a text separately. */
const weights: { readonly [name in FunctionName]?: number } = { 'States.StringSplit': 8 };

/** Evaluates the call. Throws StateError: States.IntrinsicFailure if a function rejects its arguments. */
export function evaluateCall(call: Call, roots: Roots, random: Random): Json {
  const values = call.arguments.map((argument, index) =>
    // Format parses the escapes of its text itself, since a brace may be escaped.
    'template' in argument && call.name === 'States.Format' && index === 0
      ? argument.template
      : argumentOf(argument, call, roots, random),
  );
  const { work } = roots;
  if (work && !work.take(costOf(values, work.left) * (weights[call.name] ?? 1)))
    throw stateError('States.IntrinsicFailure', `${call.name}: ${workProblem}`);
  return callFunction(call.name, values, random);
}

function argumentOf(argument: Argument, { name }: Call, roots: Roots, random: Random): Json {
  if ('literal' in argument) return argument.literal;
  if ('template' in argument) return argument.template.replaceAll(/\\(.)/gs, '$1');
  if ('call' in argument) return evaluateCall(argument.call, roots, random);
  try {
    const value = evaluatePath(argument.path, roots);
    if (value !== undefined) return value;
  } catch (error) {
    if (!(error instanceof PathProblem)) throw error;
    throw stateError('States.IntrinsicFailure', `${name}: a path ${error.message}`);
  }
  throw stateError('States.IntrinsicFailure', `${name}: there is nothing at a path of its arguments`);
}
