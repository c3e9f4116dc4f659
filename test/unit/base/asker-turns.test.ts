import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AskerTurns } from '../../../src/base/asker-turns.ts';

describe('turns of callers', () => {
  it('alternate between callers and keep the order of each, one piece at a time', async () => {
    const turns = new AskerTurns();
    const done: string[] = [];
    let running = 0;
    const ask = (asker: string, name: string) =>
      turns.inTurn(asker, async () => {
        assert.equal(++running, 1);
        await Promise.resolve();
        running--;
        done.push(name);
        return name;
      });
    const names = await Promise.all([
      ...['a1', 'a2', 'a3'].map((name) => ask('a', name)),
      ...['b1', 'b2'].map((name) => ask('b', name)),
    ]);
    assert.deepEqual(names, ['a1', 'a2', 'a3', 'b1', 'b2']);
    assert.deepEqual(done, ['a1', 'a2', 'b1', 'a3', 'b2']);
  });
  it('continue after a piece that fails', async () => {
    const turns = new AskerTurns();
    const failed = assert.rejects(
      turns.inTurn('a', () => Promise.reject(new Error('no'))),
      /no/,
    );
    assert.equal(await turns.inTurn('a', async () => 2), 2);
    await failed;
    assert.equal(await turns.inTurn('b', async () => 3), 3);
  });
});
