/** A short version of `npm run walk:kills`, which kills an agent or an engine while a pod starts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Kill, KillWalk, type Victim } from './harness/kill-walk.ts';

/** Calls at which to kill; they differ a little from run to run: some early ones, and some near the end. */
const kills: readonly (readonly [Victim, readonly Kill[]])[] = [
  [
    'agent',
    [
      { moment: 'during', at: 5 },
      { moment: 'after', at: 22 },
    ],
  ],
  ['dockerd --live-restore', [{ moment: 'after', at: 15 }]],
];

for (const [victim, steps] of kills) {
  test(`a pod starts although ${victim} is killed with kill -9 meanwhile`, async (context) => {
    const walk = await KillWalk.start(context, victim);
    for (const kill of steps) {
      await context.test(`${kill.moment} call ${kill.at}`, async (step) => {
        const outcome = await walk.step(kill);
        assert.ok(outcome, 'it came to that call');
        step.diagnostic(outcome.call);
      });
    }
  });
}
