/** Log that a request names, and the requested part of it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { ContainerState } from '../../../../../src/kubelet/runtime/runtime.ts';
import {
  logTarget,
  parseLogQuery,
  RequestError,
} from '../../../../../src/kubelet/server/plan/log-request.ts';
import { exited, makeContainer, makePod, now, observed } from '../../builders.ts';

const read = (query: string) => parseLogQuery(new URLSearchParams(query), now);
const refusal = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof RequestError);
  assert.equal(error.code, 400);
  assert.equal(error.name, 'RequestError');
  assert.match(error.message, message);
  return true;
};

describe('a request for a log', () => {
  it('returns the whole log once by default', () => {
    const whole = {
      follow: false,
      previous: false,
      timestamps: false,
      tailLines: undefined,
      limitBytes: undefined,
      since: undefined,
    };
    assert.deepEqual(read(''), whole);
    assert.deepEqual(read('tailLines=&limitBytes=&sinceSeconds=&sinceTime='), whole);
  });

  it('has the options of its parameters', () => {
    assert.deepEqual(
      read('follow=true&previous=true&timestamps=true&tailLines=0&limitBytes=1&sinceSeconds=1'),
      {
        follow: true,
        previous: true,
        timestamps: true,
        tailLines: 0,
        limitBytes: 1,
        since: now - 1000,
      },
    );
    assert.equal(read('sinceTime=2026-01-01T11:00:00Z').since, now - 3_600_000);
    assert.equal(read('sinceTime=2026-01-01T11:00:00Z&sinceSeconds=60').since, now - 60_000);
  });

  for (const query of [
    'tailLines=-1',
    'tailLines=1.5',
    'tailLines=x',
    'limitBytes=0',
    'sinceSeconds=0',
    'tailLines=9007199254740993',
  ])
    it(`is refused: ${query}`, () =>
      assert.throws(() => read(query), refusal(/is not a whole number of at least [01]$/)));
  it('is refused: sinceTime=yesterday', () =>
    assert.throws(() => read('sinceTime=yesterday'), refusal(/"yesterday" is not a time/)));
});

describe('the container of a log request', () => {
  const idOf = (containers: readonly ContainerState[], previous = false, pod: Pod = makePod()) =>
    logTarget(pod, observed(...containers), 'main', previous).id;
  const rest = { image: 'app:1', imageID: '', ready: false, restartCount: 0, lastState: {} };
  const waiting = makePod(
    {},
    {},
    {
      containerStatuses: [{ ...rest, name: 'main', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
    },
  );
  const other = makeContainer({ name: 'other', attempt: 7 });
  const [zeroth, first] = [exited(1), exited(1, { attempt: 1 })];
  const second = makeContainer({ attempt: 2 });

  it('may be any container of the pod', () => {
    const pod = makePod({ containers: ['main', 'other'].map((name) => ({ name, image: 'app:1' })) });
    assert.equal(idOf([other, second], false, pod), 'main-2');
    assert.equal(logTarget(pod, observed(other, second), 'other', false).id, 'other-7');
  });

  it('is the newest started container of its name', () => {
    assert.equal(idOf([first, other, second, zeroth]), 'main-2');
    assert.equal(idOf([first, makeContainer({ attempt: 2, state: 'created' })]), 'main-1');
  });

  it('is the previous container of its name if that is requested', () => {
    assert.equal(idOf([zeroth, second, first], true), 'main-1');
    assert.equal(idOf([zeroth, first], true), 'main-0');
  });

  it('is the container that ended last if the previous one is requested before a restart', () => {
    assert.equal(idOf([zeroth, first], true, waiting), 'main-1');
    assert.equal(idOf([zeroth, first, second], true, waiting), 'main-1');
  });

  it('is not found if no previous container exists', () => {
    const message = /^previous terminated container "main" in pod "web" not found$/;
    assert.throws(() => idOf([second], true), refusal(message));
    assert.throws(() => idOf([], true, waiting), refusal(message));
  });

  it('is reported as waiting with the reason of its status if it has not started', () => {
    assert.throws(
      () => idOf([other]),
      refusal(/ "main" in pod "web" is waiting to start: ContainerCreating$/),
    );
    assert.throws(() => idOf([], false, waiting), refusal(/: CrashLoopBackOff$/));
  });

  it('may be an init container, and is refused if the pod has none of that name', () => {
    assert.throws(
      () => logTarget(makePod(), observed(), 'x', false),
      refusal(/^container x is not valid for pod web$/),
    );
    const init = { name: 'init', image: 'i' };
    const state = { waiting: { reason: 'ErrImagePull' } };
    const pod = makePod(
      { initContainers: [init] },
      {},
      { initContainerStatuses: [{ ...init, state, imageID: '', ready: false, restartCount: 0 }] },
    );
    assert.throws(() => logTarget(pod, observed(), 'init', false), refusal(/ "init" .*: ErrImagePull$/));
    assert.equal(logTarget(pod, observed(exited(0, init)), 'init', false).id, 'init-0');
  });
});
