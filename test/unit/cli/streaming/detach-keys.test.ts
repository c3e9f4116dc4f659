/** Keys that end a connection to a terminal of a container. */
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { DetachFilter, detachBytes, usualDetachKeys } from '../../../../src/cli/streaming/detach-keys.ts';

describe('the keys for detaching', () => {
  for (const [keys, bytes] of [
    [usualDetachKeys, [16, 17]],
    ['q', [113]],
    ['ctrl-@,ctrl-_,DEL', [0, 31, 127]],
    ['ctrl-[,ctrl-\\,ctrl-],ctrl-^', [27, 28, 29, 30]],
  ] as const)
    it(`are the bytes ${bytes.join(' ')} for ${keys}`, () => {
      assert.deepEqual([...detachBytes(keys)], bytes);
    });

  for (const keys of ['', 'ctrl-P', 'ctrl-pp', 'p,,q', 'ä', 'esc'])
    it(`are rejected as ${JSON.stringify(keys)}`, () => {
      assert.throws(() => detachBytes(keys), /could not bind detach keys: Unknown character/);
    });
});

/** Types the parts, and returns what passed and whether the connection was ended. */
async function typed(keys: string, ...parts: readonly string[]) {
  const filter = new DetachFilter(detachBytes(keys));
  let isDetached = false;
  void filter.detached.then(() => {
    isDetached = true;
  });
  for (const part of parts) filter.write(part);
  filter.end();
  return { passed: await text(filter), isDetached };
}

describe('typed bytes', () => {
  for (const [what, keys, parts, passed, isDetached] of [
    ['pass without the keys', 'a,b', ['xay'], 'xay', false],
    ['end at the keys, which do not pass', 'a,b', ['xaby'], 'x', true],
    ['end at keys that are typed one by one', 'a,b', ['x', 'a', 'b', 'y'], 'x', true],
    ['pass if only the first key was typed', 'a,b', ['a', 'x'], 'ax', false],
    ['pass if they end after the first key', 'a,b', ['xa'], 'xa', false],
    ['end at keys after a repeated first key', 'a,b', ['aab'], 'a', true],
    ['end at keys that begin within others', 'a,a,b', ['aaab'], 'a', true],
    ['end at a single key', 'ctrl-a', ['x\u0001y'], 'x', true],
  ] as const)
    it(what, async () => {
      assert.deepEqual(await typed(keys, ...parts), { passed, isDetached });
    });
});
