import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Lane } from '../../../../../src/features/slurm/client/lanes.ts';

/** Lets all reactions of promises run. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Starts operations by name, and records the order in which they begin. */
function laneOf(width: number) {
  const lane = new Lane(width);
  const began: string[] = [];
  const open = new Map<string, PromiseWithResolvers<string>>();
  return {
    began,
    start: (name: string) =>
      lane.run(() => {
        began.push(name);
        const one = Promise.withResolvers<string>();
        open.set(name, one);
        return one.promise;
      }),
    end: (name: string) => open.get(name)?.resolve(`${name} done`),
    fail: (name: string) => open.get(name)?.reject(new Error(`${name} failed`)),
    lane,
  };
}

describe('Lane', () => {
  it('runs as many operations at once as its width, and further operations in the order of their arrival', async () => {
    const { began, start, end } = laneOf(2);
    const runs = ['a', 'b', 'c', 'd', 'e'].map(start);
    await turn();
    assert.deepEqual(began, ['a', 'b']);
    end('b');
    await turn();
    assert.deepEqual(began, ['a', 'b', 'c']);
    end('a');
    end('c');
    await turn();
    assert.deepEqual(began, ['a', 'b', 'c', 'd', 'e']);
    end('d');
    end('e');
    assert.deepEqual(await Promise.all(runs), ['a done', 'b done', 'c done', 'd done', 'e done']);
  });
  it('runs an operation that arrives late after the waiting ones', async () => {
    const { began, start, end } = laneOf(1);
    for (const name of ['a', 'b']) void start(name);
    end('a');
    void start('c');
    await turn();
    assert.deepEqual(began, ['a', 'b']);
    end('b');
    await turn();
    assert.deepEqual(began, ['a', 'b', 'c']);
  });
  it('returns the error of an operation and releases its place', async () => {
    const { began, start, end, fail, lane } = laneOf(1);
    const failing = assert.rejects(start('a'), /a failed/);
    const next = start('b');
    await turn();
    fail('a');
    await failing;
    await turn();
    assert.deepEqual(began, ['a', 'b']);
    end('b');
    assert.equal(await next, 'b done');
    await assert.rejects(
      lane.run(() => {
        throw new Error('thrown');
      }),
      /thrown/,
    );
    assert.equal(await lane.run(async () => 'still free'), 'still free');
  });
  it('has all its places again when every operation has ended', async () => {
    const { began, start, end } = laneOf(2);
    const first = ['a', 'b', 'c'].map(start);
    for (const name of ['a', 'b', 'c']) {
      await turn();
      end(name);
    }
    await Promise.all(first);
    for (const name of ['d', 'e', 'f']) void start(name);
    await turn();
    assert.deepEqual(began, ['a', 'b', 'c', 'd', 'e'], 'two run at once, not more and not fewer');
  });
});
