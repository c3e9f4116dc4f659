/** Containers whose logs are shown. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type LogChoice,
  logPath,
  logSources,
} from '../../../../src/dashboard/app/pages/logs/plan/log-sources.ts';
import { pod } from '../../why/why-objects.ts';

const running = (name: string, labels: object, restartCount = 0) =>
  pod(name, {
    metadata: { labels },
    spec: { containers: [{ name: 'main' }, { name: 'proxy' }], initContainers: [{ name: 'init' }] },
    status: {
      containerStatuses: [
        { name: 'main', restartCount, state: restartCount > 0 ? { waiting: {} } : { running: {} } },
        { name: 'proxy', state: { waiting: {} } },
      ],
    },
  });
const pods = [running('web-2', { app: 'web' }, 4), running('web-1', { app: 'web' }), running('db', {})];
const all: LogChoice = { namespace: '', pod: '', labels: '', container: '' };
const namesOf = (choice: Partial<LogChoice>) =>
  logSources(pods, { ...all, ...choice }).map(({ pod: name, container }) => `${name}/${container}`);

describe('the sources of logs', () => {
  it('are the containers of the pods that labels select, by name, without init containers', () => {
    assert.deepEqual(namesOf({ labels: 'app=web' }), [
      ...['web-1/main', 'web-1/proxy', 'web-2/main', 'web-2/proxy'],
    ]);
  });

  it('are the containers of one pod, or one of its containers, which may be an init container', () => {
    assert.deepEqual(namesOf({ namespace: 'default', pod: 'db' }), ['db/main', 'db/proxy']);
    assert.deepEqual(namesOf({ pod: 'db', container: 'init' }), ['db/init']);
    assert.deepEqual(namesOf({ namespace: 'other' }), []);
  });

  it('are empty for an invalid selector', () => {
    assert.deepEqual(namesOf({ labels: 'app in (' }), []);
  });

  it('have a log if the container runs or has run', () => {
    const found = logSources(pods, { ...all, labels: 'app=web' });
    assert.deepEqual(
      found.map(({ isStarted, restarts }) => [isStarted, restarts]),
      [
        [true, 0],
        [false, 0],
        [true, 4],
        [false, 0],
      ],
    );
  });

  it('have a path that requests the time of each line', () => {
    const [source] = logSources(pods, { ...all, pod: 'db' });
    assert.ok(source);
    const options = { isFollowing: true, isPrevious: false, tail: 100, since: '' };
    assert.equal(
      logPath(source, options),
      '/api/v1/namespaces/default/pods/db/log?container=main&timestamps=true&follow=true&tailLines=100',
    );
    assert.doesNotMatch(logPath(source, { ...options, isPrevious: true }), /follow/);
  });
});
