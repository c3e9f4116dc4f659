/** A LimitRange applies to pods and claims that are created after the server has seen it. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const inDefault = '/api/v1/namespaces/default';
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
const range = {
  metadata: { name: 'limits' },
  spec: {
    limits: [
      { type: 'Container', min: { cpu: '50m' }, max: { cpu: '500m' }, defaultRequest: { cpu: '100m' } },
      { type: 'PersistentVolumeClaim', max: { storage: '1Gi' } },
    ],
  },
};

describe('a limit range', () => {
  let server: TestServer;
  let count = 0;
  before(async () => {
    server = await startTestServer();
    const made = await server.call('POST', `${inDefault}/limitranges`, range);
    assert.equal(made.status, 201, made.text);
    assert.equal(made.headers.get('warning'), null);
    await seen();
  });
  after(() => server.stop());

  /** A list waits until the cache is as new as the store, so the server has seen all earlier writes. */
  const seen = async () => assert.equal((await server.call('GET', `${inDefault}/limitranges`)).status, 200);

  const create = (resources: object) =>
    server.call('POST', `${inDefault}/pods`, {
      metadata: { name: `p${count++}` },
      spec: { containers: [{ name: 'a', image: 'b', resources }] },
    });
  const claim = (name: string, storage: string) =>
    server.call('POST', `${inDefault}/persistentvolumeclaims`, {
      metadata: { name },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    });

  it('gives its defaults to a pod', async () => {
    const answer = await create({});
    assert.equal(answer.status, 201, answer.text);
    const { spec, status } = answer.json<Pod>();
    assert.deepEqual(spec.containers[0]?.resources, { requests: { cpu: '100m' }, limits: { cpu: '500m' } });
    assert.equal(status?.qosClass, 'Burstable');
  });

  it('uses a limit of the container as its request, too', async () => {
    const answer = await create({ limits: { cpu: '300m' } });
    assert.deepEqual(answer.json<Pod>().spec.containers[0]?.resources, {
      requests: { cpu: '300m' },
      limits: { cpu: '300m' },
    });
  });

  it('rejects a pod with all violations in one message', async () => {
    const answer = await create({ requests: { cpu: '10m' }, limits: { cpu: '600m' } });
    assert.equal(answer.status, 403, answer.text);
    assert.equal(
      answer.json<Status>().message,
      `pods "p${count - 1}" is forbidden: [minimum cpu usage per Container is 50m, but request is 10m, ` +
        'maximum cpu usage per Container is 500m, but limit is 600m]',
    );
  });

  it('refuses a claim that is too large, and one that grows too large', async () => {
    const refused = await claim('large', '2Gi');
    assert.equal(refused.status, 403, refused.text);
    const why = 'maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi';
    assert.equal(refused.json<Status>().message, `persistentvolumeclaims "large" is forbidden: ${why}`);
    assert.equal((await claim('small', '1Gi')).status, 201);
    const path = `${inDefault}/persistentvolumeclaims/small`;
    assert.equal(
      (await server.call('PATCH', `${path}/status`, { status: { phase: 'Bound' } }, merge)).status,
      200,
    );
    const larger = { spec: { resources: { requests: { storage: '2Gi' } } } };
    const grown = await server.call('PATCH', path, larger, merge);
    assert.equal(grown.status, 403, grown.text);
    assert.ok(grown.json<Status>().message?.includes(why), grown.text);
  });

  it('no longer applies when it is deleted', async () => {
    assert.equal((await server.call('DELETE', `${inDefault}/limitranges/limits`)).status, 200);
    await seen();
    const answer = await create({});
    assert.deepEqual(answer.json<Pod>().spec.containers[0]?.resources, {});
  });
});
