/** Failed requests for a log that are sent again, and those that are not. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isRequestedAgain } from '../../../../src/dashboard/app/pages/logs/plan/log-again.ts';

describe('a log whose request failed', () => {
  for (const [what, status, wasRead, isEndless, expected] of [
    ['after a broken connection', undefined, false, false, true],
    ['after a failure of the server, while its container runs', 503, false, true, true],
    ['after a failure of the server, if its container has ended', 503, true, false, false],
    ['if a node that starts again does not know a container whose log was read', 404, true, true, true],
    ['if the container has no log yet that was read', 404, false, true, false],
    ['if the log was read and its container has ended', 404, true, false, false],
    ['once the session has ended', 401, true, true, false],
  ] as const)
    it(`is ${expected ? '' : 'not '}requested again ${what}`, () => {
      assert.equal(isRequestedAgain({ status, wasRead, isEndless }), expected);
    });
});
