/** Compiles the expressions of a mutating policy: its validation needs all faults, its requests a program. */
import type { Compiled } from '../../../../cel/compile.ts';
import type { Environment } from '../../../../cel/environment.ts';
import { dyn, listOf } from '../../../../cel/types/type.ts';
import type { MutatingAdmissionPolicy, Mutation } from '../types.gen.ts';
import { type CompiledCondition, compileConditions } from './compile-conditions.ts';
import { type CompiledVariable, compileVariables } from './compile-variables.ts';
import { expressionEnvironment } from './environment.ts';
import { type ExpressionFault, Expressions } from './expressions.ts';
import { jsonPatchType, objectPatchType } from './patch-types.ts';

export interface CompiledMutatingPolicy {
  readonly variables: readonly CompiledVariable[];
  readonly matchConditions: readonly CompiledCondition[];
  readonly mutations: readonly CompiledMutation[];
}

export interface CompiledMutation {
  readonly patchType: Mutation['patchType'];
  readonly expression: string;
  /** Makes an object of the type Object, or a list of JSONPatch. */
  readonly patch: Compiled;
}

/**
 * Compiles all expressions of the policy that are not empty. The program lacks those with faults, so it may
 * only be used without any.
 */
export function compileMutatingPolicy({ spec }: Pick<MutatingAdmissionPolicy, 'spec'>): {
  readonly program: CompiledMutatingPolicy;
  readonly faults: readonly ExpressionFault[];
} {
  const expressions = new Expressions();
  const params = spec.paramKind && dyn;
  const variables = compileVariables(spec.variables ?? [], expressions, dyn, params);
  const environment = expressionEnvironment({ params, variables: variables.types, makesPatches: true });
  const program: CompiledMutatingPolicy = {
    variables: variables.compiled,
    matchConditions: compileConditions(
      spec.matchConditions ?? [],
      expressions,
      expressionEnvironment({ params }),
    ),
    mutations: (spec.mutations ?? []).flatMap((mutation, index) =>
      compileMutation(mutation, `spec.mutations[${index}]`, expressions, environment),
    ),
  };
  return { program, faults: expressions.faults };
}

function compileMutation(
  { patchType, applyConfiguration, jsonPatch }: Mutation,
  path: string,
  expressions: Expressions,
  environment: Environment,
): readonly CompiledMutation[] {
  const isJson = patchType === 'JSONPatch';
  const expression = ((isJson ? jsonPatch : applyConfiguration)?.expression ?? '').trim();
  if (expression === '') return [];
  const at = `${path}.${isJson ? 'jsonPatch' : 'applyConfiguration'}.expression`;
  const result = isJson ? listOf(jsonPatchType) : objectPatchType;
  const patch = expressions.compile(expression, at, environment, [result]);
  return patch ? [{ patchType, expression, patch }] : [];
}
