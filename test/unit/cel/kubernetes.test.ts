/**
 * Values, types, costs, estimates and errors, compared with those of Kubernetes 1.32.5. The answers were
 * recorded by data/record/main.go, which links Kubernetes' own packages.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '../../../src/cel/compile.ts';
import { CelError } from '../../../src/cel/error.ts';
import { Budget } from '../../../src/cel/evaluation/run.ts';
import { dyn, showType } from '../../../src/cel/types/type.ts';
import { shown } from '../../fixtures/cel/shown.ts';
import recorded from './data/kubernetes.json' with { type: 'json' };

interface Recorded {
  readonly expression: string;
  readonly type?: string;
  readonly error?: string;
  readonly failure?: string;
  readonly value?: unknown;
  readonly cost?: number;
  readonly min?: number;
  readonly max?: number;
}

function answerTo(expression: string): Recorded {
  const budget = new Budget(1_000_000);
  let type: string | undefined;
  let estimates = {};
  try {
    const compiled = compile(expression, { variables: { self: dyn } });
    type = showType(compiled.resultType);
    const { min, max } = compiled.estimatedCost;
    estimates = { type, min, max: rounded(max) };
    const value = shown(compiled.evaluate({ self: recorded.self }, budget));
    return { expression, ...estimates, value, cost: 1_000_000 - budget.remaining };
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    if (type === undefined) return { expression, error: error.message };
    return { expression, ...estimates, failure: error.message, cost: 1_000_000 - budget.remaining };
  }
}

/** Rounds estimates above 2^53, whose last digits are lost. */
function rounded(estimate: number): number {
  return estimate > 2 ** 53 ? Number(estimate.toPrecision(9)) : estimate;
}

function expected({ expression, error, failure, ...rest }: Recorded): Recorded {
  if (error !== undefined) return { expression, error };
  const { type = '', min = 0, max = 0, cost = 0 } = rest;
  const known = { expression, type, min, max: rounded(max), cost };
  return failure === undefined ? { ...known, value: rest.value ?? null } : { ...known, failure };
}

for (const [library, answers] of Object.entries<readonly Recorded[]>(recorded.libraries)) {
  test(`values, costs and errors of ${library} are the same as in Kubernetes`, () => {
    for (const answer of answers)
      assert.deepEqual(normalized(answerTo(answer.expression)), normalized(expected(answer)));
  });
}

/** Removes undefined values. */
function normalized(answer: Recorded): unknown {
  return JSON.parse(JSON.stringify(answer));
}
