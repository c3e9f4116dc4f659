/** Results in the output of the Gateway API's suite. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { failuresOf, resultsIn } from '../../gateway-suite/suite-log.ts';

const run = (first: string, second: string) => `--- FAIL: TestConformance (2.00s)
    --- ${first}: TestConformance/HTTPRouteMatching (1.50s)
        --- ${first}: TestConformance/HTTPRouteMatching/1_request (0.50s)
    --- ${second}: TestConformance/GRPCRouteWeight (0.25s)
`;
const shown = (output: string) => resultsIn(output).map(({ name, state }) => `${name} ${state}`);

it('finds the results of tests in the order of their names, and the parts that failed', () => {
  const output = run('FAIL', 'PASS');
  assert.deepEqual(shown(output), ['GRPCRouteWeight passed', 'HTTPRouteMatching failed']);
  assert.deepEqual(
    resultsIn(output).map(({ seconds }) => seconds),
    [0.25, 1.5],
  );
  assert.deepEqual(failuresOf(output, 'HTTPRouteMatching'), ['1_request']);
});

it('keeps the failure of a test that a later run of another test skips', () => {
  const output = run('FAIL', 'SKIP') + run('SKIP', 'PASS');
  assert.deepEqual(shown(output), ['GRPCRouteWeight passed', 'HTTPRouteMatching failed']);
});
