/** Pulls of an image and their events, with an engine and an API server that are only data. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { secretResource } from '../../../../src/api/core/v1/secret.ts';
import { newNotFound } from '../../../../src/apimachinery/status-error.ts';
import type { Client } from '../../../../src/client/client.ts';
import { RuntimeError } from '../../../../src/docker/runtime-error.ts';
import { ImagePuller } from '../../../../src/kubelet/images/image-puller.ts';
import type { RegistryCredentials, RuntimeImage } from '../../../../src/kubelet/runtime/runtime.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { makePod } from '../builders.ts';

const never = new AbortController().signal;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const config = (login: string) => ({
  metadata: { name: 'pull' },
  type: 'kubernetes.io/dockerconfigjson',
  data: { '.dockerconfigjson': base64(JSON.stringify({ auths: { 'r.io': { auth: base64(login) } } })) },
});
const failed = (engineMessage: string) =>
  new RuntimeError('PullFailed', `Docker cannot pull: ${engineMessage}`, { engineMessage });

describe('an image', () => {
  let clock: FakeClock;
  let events: string[];
  let recorded: string[];
  let present: string | undefined;
  let secrets: Record<string, unknown>;
  /** Outcome of a pull with these credentials. */
  let pull: (credentials: RegistryCredentials | undefined, signal: AbortSignal) => Promise<void>;
  let find: () => Promise<RuntimeImage | undefined>;
  let puller: ImagePuller;

  const gives = (id: string) => async () => {
    present = id;
  };

  beforeEach(() => {
    clock = new FakeClock(0);
    [events, recorded, present, secrets] = [[], [], undefined, {}];
    pull = gives('sha256:new');
    const image = { names: [], sizeBytes: 42, entrypoint: [], command: [], user: '', stopSignal: '' };
    find = async () => (present === undefined ? undefined : { ...image, id: present });
    const client = {
      resource: () => ({
        get: async (name: string) => {
          if (!Object.hasOwn(secrets, name)) throw newNotFound(secretResource, name);
          return secrets[name];
        },
      }),
    } as unknown as Client;
    puller = new ImagePuller({
      client,
      clock,
      runtime: {
        findImage: () => find(),
        pullImage: (_name, signal, credentials) => pull(credentials, signal),
      },
      events: { event: (_about, type, reason, message) => void events.push(`${type} ${reason} ${message}`) },
      record: {
        pulling: async (name) => void recorded.push(`pulling ${name}`),
        gaveUp: async (name) => void recorded.push(`gave up ${name}`),
        pulled: async (name, id) => void recorded.push(`pulled ${name} ${id}`),
      },
      atOnce: 1,
    });
  });

  const ensure = (more: object = {}, spec: object = {}, signal = never) =>
    puller.ensure(makePod(spec), { image: 'r.io/app:1', ...more }, signal);
  const refused = (reason: string, message: string) => ({ name: 'ImageError', reason, message });

  it('is used without a pull if it is present', async () => {
    present = 'sha256:old';
    assert.equal((await ensure()).id, 'sha256:old');
    assert.deepEqual(events, ['Normal Pulled Container image "r.io/app:1" already present on machine']);
    assert.deepEqual(recorded, []);
  });

  it('is pulled once for all image volumes of one pod, and again for the next pod', async () => {
    const pod = makePod();
    const other = makePod({}, { uid: 'another' });
    const once = (of = pod, imagePullPolicy: 'Always' | 'IfNotPresent' = 'Always') =>
      puller.ensureOnce(of, { image: 'r.io/data:1', imagePullPolicy }, never);
    const pulls = () => events.filter((event) => event.includes('Pulling')).length;
    const [first, second] = await Promise.all([once(), once()]);
    assert.equal(first, second);
    assert.equal(pulls(), 1);
    await Promise.all([once(), once(other), once(pod, 'IfNotPresent')]);
    assert.equal(pulls(), 3);
    pull = async () => {
      throw failed('no such image');
    };
    const both = await Promise.allSettled([once(), once()]);
    assert.deepEqual(
      both.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    pull = gives('sha256:newer');
    assert.equal((await once()).id, 'sha256:newer');
  });

  it('is pulled and recorded if it is absent, and the event has the duration and the size', async () => {
    pull = async () => {
      await clock.advance(1500);
      present = 'sha256:new';
    };
    const first = ensure();
    const second = ensure({ imagePullPolicy: 'Always' });
    assert.equal((await first).id, 'sha256:new');
    await second;
    assert.deepEqual(events, [
      'Normal Pulling Pulling image "r.io/app:1"',
      'Normal Pulling Pulling image "r.io/app:1"',
      'Normal Pulled Successfully pulled image "r.io/app:1" in 1.5s (1.5s including waiting). Image size: 42 bytes.',
      'Normal Pulled Successfully pulled image "r.io/app:1" in 1.5s (3s including waiting). Image size: 42 bytes.',
    ]);
    assert.deepEqual(recorded.slice(0, 2), ['pulling r.io/app:1', 'pulling r.io/app:1']);
    assert.ok(recorded.includes('pulled r.io/app:1 sha256:new'));
  });

  it('is not recorded as pulled if it was present and the pull did not change it', async () => {
    present = 'sha256:new';
    await ensure({ imagePullPolicy: 'Always' });
    assert.deepEqual(recorded, []);
    pull = gives('sha256:newer');
    await ensure({ imagePullPolicy: 'Always' });
    assert.deepEqual(recorded, ['pulled r.io/app:1 sha256:newer']);
  });

  it('is pulled with each matching credential until one is accepted, and without credentials if none matches', async () => {
    const tried: unknown[] = [];
    pull = async (credentials) => {
      tried.push(credentials?.username);
      if (credentials?.username === 'wrong') throw failed('unauthorized');
      present = 'sha256:new';
    };
    secrets = { a: config('wrong:1'), b: config('right:1'), c: config('more:1') };
    await ensure({}, { imagePullSecrets: [{ name: 'a' }, { name: 'b' }, { name: 'c' }, {}] });
    assert.deepEqual(tried, ['wrong', 'right']);
    present = undefined;
    await puller.ensure(makePod(), { image: 'other.io/app:1' }, never);
    assert.deepEqual(tried, ['wrong', 'right', undefined]);
  });

  it('is pulled although pull secrets are missing, and one event names each of them once', async () => {
    await ensure({}, { imagePullSecrets: [{ name: 'x' }, { name: 'y' }, { name: 'x' }] });
    assert.ok(
      events.includes(
        'Warning FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets (x, y); attempting to pull the image may not succeed.',
      ),
    );
    assert.equal(present, 'sha256:new');
  });

  it('has an event with the reason when the pull fails', async () => {
    pull = async () => Promise.reject(failed('no such thing'));
    await assert.rejects(ensure(), refused('ErrImagePull', 'no such thing'));
    assert.equal(events.at(-1), 'Warning Failed Failed to pull image "r.io/app:1": no such thing');
    assert.deepEqual(recorded, ['pulling r.io/app:1', 'gave up r.io/app:1']);
    secrets = { a: { ...config('x'), data: { '.dockerconfigjson': base64('{"word') } } };
    await assert.rejects(
      ensure({}, { imagePullSecrets: [{ name: 'a' }] }),
      refused('ErrImagePull', 'the image pull secret "pull" cannot be read'),
    );
  });

  it('has an event with the reason if pulls are forbidden, the name is invalid or the lookup fails', async () => {
    await assert.rejects(
      ensure({ imagePullPolicy: 'Never' }),
      refused('ErrImageNeverPull', 'Container image "r.io/app:1" is not present with pull policy of Never'),
    );
    await assert.rejects(ensure({ image: 'A B' }), { reason: 'InvalidImageName' });
    find = async () =>
      Promise.reject(new RuntimeError('Failed', 'Docker cannot inspect', { engineMessage: 'broken' }));
    await assert.rejects(
      ensure(),
      refused('ImageInspectError', 'Failed to inspect image "r.io/app:1": broken'),
    );
    assert.deepEqual(
      events.map((event) => event.split(' ').slice(0, 2).join(' ')),
      ['Warning ErrImageNeverPull', 'Warning InspectFailed', 'Warning InspectFailed'],
    );
  });

  it('has no failure event while the engine is unavailable', async () => {
    const away = new RuntimeError('Unavailable', 'Docker is away');
    find = async () => Promise.reject(away);
    await assert.rejects(ensure(), away);
    assert.deepEqual(events, []);
  });

  it('is no longer awaited when the pod is deleted, before or during the pull', async () => {
    const leave = new AbortController();
    pull = (_, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const [first, second] = [ensure({}, {}, leave.signal), ensure({}, {}, leave.signal)];
    leave.abort(new Error('the pod goes'));
    await assert.rejects(first, /the pod goes/);
    await assert.rejects(second, /the pod goes/);
    assert.ok(!events.some((event) => event.startsWith('Warning')));
  });
});
