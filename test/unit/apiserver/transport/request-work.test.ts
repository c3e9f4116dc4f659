import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RequestWork } from '../../../../src/apiserver/transport/request-work.ts';
import type { Turns } from '../../../../src/apiserver/turns.ts';

/** Work that began at 500 on the clock, which need not have begun at zero. */
function world() {
  const clock = { at: 500, monotonic: () => clock.at };
  const given = { turns: 0, next: async () => void given.turns++ };
  const work = new RequestWork({ clock, turns: given as unknown as Turns });
  return { clock, given, work };
}

describe('work on a request', () => {
  it('continues while it has taken less than ten milliseconds', async () => {
    const { clock, given, work } = world();
    await work.pause();
    clock.at += 9.9;
    await work.pause();
    assert.equal(given.turns, 0);
  });

  it('yields to other work after ten milliseconds, and counts again from there', async () => {
    const { clock, given, work } = world();
    clock.at += 10;
    await work.pause();
    assert.equal(given.turns, 1);
    clock.at += 9;
    await work.pause();
    assert.equal(given.turns, 1);
    clock.at += 1;
    await work.pause();
    assert.equal(given.turns, 2);
  });

  it('also yields between the steps of one generator', async () => {
    const { clock, given, work } = world();
    function* steps(): Generator<undefined, string> {
      for (let step = 0; step < 6; step++) {
        clock.at += 5;
        yield undefined;
      }
      return 'done';
    }
    assert.equal(await work.through(steps()), 'done');
    assert.equal(given.turns, 3);
  });
});
