/** Run that a caller gets for a requested name. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newAlreadyExists, StatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { RequestScope } from '../../../../../src/apiserver/request/request-scope.ts';
import {
  type WorkflowRun,
  workflowRunResource,
} from '../../../../../src/features/workflows/api/workflow-run.ts';
import { invokeWorkflow, type RunClient } from '../../../../../src/features/workflows/server/invoke.ts';
import type { RunEnds } from '../../../../../src/features/workflows/server/run-ends.ts';
import { ownRoom } from '../../../../../src/kube-apiserver/forwarding/strangers-room.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../../../fixtures/seeded-random.ts';
import { at, meta } from '../../../controllers/objects.ts';

const there = (over: object = {}) =>
  ({
    metadata: meta('mine', { annotations: { 'minik8s.io/called-by': 'alice' } }),
    spec: { workflow: 'w', input: { a: 1 }, ...over },
    status: { phase: 'Succeeded', output: 'secret' },
  }) as unknown as WorkflowRun;

const named: string[] = [];

/** Returns the status and the text of the answer to a call that requests the name `mine`. */
async function call(user: string, run = there(), workflow: object = {}, wished = 'mine', underWay = 0) {
  const runs: RunClient = {
    create: async ({ metadata: { name = '' } }) => {
      named.push(name);
      throw newAlreadyExists(workflowRunResource, name);
    },
    get: async () => run,
  };
  const headers = { 'workflow-run-name': wished, 'content-length': '7' };
  const scope = {
    info: { namespace: 'default', name: 'w' },
    request: new Request('http://x/', { method: 'POST', headers, body: '{"a":1}' }),
    query: new URLSearchParams(),
    server: {
      clock: new FakeClock(),
      random: new SeededRandom(1),
      cache: {
        get: () => ({ object: { metadata: meta('w', workflow), spec: {} } }),
        index: () => ({ get: () => Array(underWay).fill({ bytes: '' }) }),
      },
    },
    user: { name: user, groups: [] },
    signal: new AbortController().signal,
  } as unknown as RequestScope;
  const ends = { of: () => assert.fail('it has ended') } as unknown as RunEnds;
  try {
    const answer = await invokeWorkflow(ends, runs)(scope);
    return [answer.status, await new Response(answer.body).text()];
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error));
    return [error.status.code];
  }
}

describe('a run with the requested name', () => {
  it('is the existing one for the same caller and the same input', async () => {
    assert.deepEqual(await call('alice'), [200, '"secret"']);
  });
  it('is private to its caller', async () => {
    for (const user of ['mallory', 'Alice']) assert.deepEqual(await call(user), [409], user);
  });
  it('is a secret of the anonymous caller, and does not reveal existing runs', async () => {
    assert.deepEqual(await call('system:anonymous'), [400]);
    const stranger = 'system:anonymous';
    const theirs = there();
    Object.assign(theirs.metadata, { annotations: { 'minik8s.io/called-by': stranger } });
    const secret = '0c7c8a4e-6f0b-4c52-8f0a-111111111111';
    named.length = 0;
    for (const wished of [secret, secret, secret.replace('0', '1')])
      assert.deepEqual(await call(stranger, theirs, {}, wished), [200, '"secret"']);
    const [first = '', second, third] = named;
    assert.deepEqual([first === second, first === third], [true, false]);
    assert.match(first, /^w-[0-9a-f]{32}$/);
    await call(stranger, theirs, { uid: 'another' }, secret);
    assert.notEqual(named.at(-1), first, 'of another workflow it is another one');
  });
  it('does not return a run with a similar name or a run of another user to an anonymous caller', async () => {
    const stranger = 'system:anonymous';
    const theirs = there();
    Object.assign(theirs.metadata, { annotations: { 'minik8s.io/called-by': stranger } });
    const secret = '0c7c8a4e-6f0b-4c52-8f0a-111111111111';
    await call(stranger, theirs, {}, secret);
    const shown = named.at(-1) ?? '';
    // The visible fields of a run do not give access to it, in whatever form they are sent.
    for (const wished of [shown, shown.slice(2), ` ${shown} `, `${secret}, ${secret}`]) {
      await call(stranger, theirs, {}, wished);
      assert.notEqual(named.at(-1), shown, wished);
    }
    // A user may send the visible name of the run, but does not own the run.
    assert.deepEqual(await call('alice', theirs, {}, shown), [409]);
    // The same holds for a user whose name resembles the beginning of the annotation, or that of an anonymous
    // caller.
    for (const user of ['system:anonymous ', 'system', 'System:Anonymous'])
      assert.deepEqual(await call(user, theirs, {}, shown), [409], user);
  });
  it('is not a run of another workflow, or with another input', async () => {
    assert.deepEqual(await call('alice', there({ workflow: 'other' })), [409]);
    assert.deepEqual(await call('alice', there({ input: { a: 2 } })), [409]);
  });
  it('is not started for a workflow that is being deleted', async () => {
    assert.deepEqual(await call('alice', there(), { deletionTimestamp: at(1) }), [404]);
  });
  it('is not started by an anonymous caller if anonymous callers have too many runs in progress; other users may start it', async () => {
    const secret = '0c7c8a4e-6f0b-4c52-8f0a-111111111111';
    const stranger = 'system:anonymous';
    const theirs = there();
    Object.assign(theirs.metadata, { annotations: { 'minik8s.io/called-by': stranger } });
    assert.deepEqual(await call(stranger, theirs, {}, secret, ownRoom.count), [429]);
    assert.deepEqual(await call(stranger, theirs, {}, secret, ownRoom.count - 1), [200, '"secret"']);
    assert.deepEqual(await call('alice', there(), {}, 'mine', ownRoom.count), [200, '"secret"']);
  });
});
