import assert from 'node:assert/strict';
import { it } from 'node:test';
import type {
  ContainerRuntime,
  RuntimeObject,
  SandboxState,
} from '../../../../src/kubelet/runtime/runtime.ts';
import { RuntimeCache } from '../../../../src/kubelet/runtime/runtime-cache.ts';

const sandbox = (state: SandboxState['state']): SandboxState => ({
  kind: 'sandbox',
  id: 's',
  pod: { name: 'web', namespace: 'default', uid: 'u' },
  state,
  pid: 1,
  ip: '10.0.0.2',
  hostname: 'web',
  attempt: 0,
  createdAt: 0,
});

/** A runtime whose queries wait for an answer of the test. */
function slowRuntime() {
  const answers: ((object: RuntimeObject | undefined) => void)[] = [];
  const inspect: ContainerRuntime['inspect'] = () => new Promise((resolve) => answers.push(resolve));
  return { cache: new RuntimeCache({ inspect } as ContainerRuntime), answers };
}

it('the runtime cache keeps the newest inspection, for which an overtaken inspection waits', async () => {
  const { cache, answers } = slowRuntime();
  const seen: string[] = [];
  const first = cache.refresh('s').then((uid) => seen.push(`first ${uid} ${cache.sandboxes()[0]?.state}`));
  const second = cache.refresh('s').then((uid) => seen.push(`second ${uid}`));
  answers[0]?.(sandbox('running'));
  await new Promise(setImmediate);
  assert.deepEqual(seen, []);
  assert.deepEqual(cache.sandboxes(), []);
  answers[1]?.(sandbox('exited'));
  await Promise.all([first, second]);
  assert.deepEqual(seen.toSorted(), ['first u exited', 'second u']);
});

it('the runtime cache drops an answer that arrives after a newer one, also after a deletion', async () => {
  const { cache, answers } = slowRuntime();
  const known = cache.refresh('s');
  answers[0]?.(sandbox('running'));
  assert.equal(await known, 'u');
  const old = cache.refresh('s');
  const newest = cache.refresh('s');
  answers[2]?.(undefined);
  assert.equal(await newest, 'u');
  answers[1]?.(sandbox('running'));
  assert.equal(await old, 'u');
  assert.deepEqual(cache.sandboxes(), []);
});
