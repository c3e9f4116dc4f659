import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CallOutcome } from '../../../../../src/features/functions/api/placed-calls.ts';
import { eventOf } from '../../../../../src/features/workflows/controller/call-outcome-plan.ts';

const answered = (
  status: number,
  body: string,
  more: { error?: string; isJson?: boolean } = {},
): CallOutcome => ({
  type: 'answered',
  status,
  error: more.error,
  isJson: more.isJson ?? true,
  body: Buffer.from(body),
});
const succeeded = (output: unknown) => ({ type: 'TaskSucceeded', id: '0-0', output });
const failed = (error: string, cause: string) => ({ type: 'TaskFailed', id: '0-0', error, cause });

const rows: readonly (readonly [string, CallOutcome, unknown])[] = [
  ['JSON', answered(200, '{"a":[1]}'), succeeded({ a: [1] })],
  ['a text', answered(200, '12', { isJson: false }), succeeded('12')],
  ['an answer with the type JSON that is not JSON', answered(200, '{', { isJson: true }), succeeded('{')],
  ['nothing', answered(204, '', { isJson: false }), succeeded(null)],
  [
    'an error',
    answered(500, '{"error":"NoMoney: none left"}', { error: 'NoMoney' }),
    failed('NoMoney', 'none left'),
  ],
  [
    'an error without a type in its text',
    answered(500, '{"error":"none"}', { error: 'E' }),
    failed('E', 'none'),
  ],
  ['an error that is not JSON', answered(500, 'oh', { error: 'E' }), failed('E', 'oh')],
  ['an error that is null', answered(500, 'null', { error: 'E' }), failed('E', 'null')],
  [
    'the status 300, which is a failure',
    answered(300, ''),
    failed('Function.Status', 'the function answered with the status 300: '),
  ],
  [
    'the status 199, which is a failure',
    answered(199, ''),
    failed('Function.Status', 'the function answered with the status 199: '),
  ],
  ['the status 200, which is a success', answered(200, '1'), succeeded(1)],
  [
    'a long text with a status, cut to 4,096 characters',
    answered(500, 'x'.repeat(5000)),
    failed('Function.Status', `the function answered with the status 500: ${'x'.repeat(4053)}`),
  ],
  [
    'a long error, cut to 4,096 characters',
    answered(500, 'x'.repeat(5000), { error: 'E' }),
    failed('E', 'x'.repeat(4096)),
  ],
  [
    'an error that names another type first',
    answered(500, '{"error":"Other: none left"}', { error: 'E' }),
    failed('E', 'Other: none left'),
  ],
  [
    'an error whose message is not a text',
    answered(500, '{"error":7}', { error: 'E' }),
    failed('E', '{"error":7}'),
  ],
  ['an error with the status 200', answered(200, '{"error":"E: no"}', { error: 'E' }), failed('E', 'no')],
  ['the status 299, which is a success', answered(299, '1'), succeeded(1)],
  [
    'a status',
    answered(404, 'no'),
    failed('Function.Status', 'the function answered with the status 404: no'),
  ],
  [
    'a redirection',
    answered(302, ''),
    failed('Function.Status', 'the function answered with the status 302: '),
  ],
  [
    'a lost call',
    { type: 'lost', why: 'gone' },
    failed('Function.Lost', 'gone: the call may have been made, and is not made again'),
  ],
  ['a late call', { type: 'late', why: 'slow' }, failed('States.Timeout', 'slow')],
  ['a call that was not made', { type: 'notMade', why: 'busy' }, undefined],
  ['an unclear call', { type: 'unclear', why: 'cut' }, undefined],
];

describe('the outcome of a task after', () => {
  for (const [name, outcome, expected] of rows)
    it(name, () => assert.deepEqual(eventOf('0-0', outcome), expected));
});
