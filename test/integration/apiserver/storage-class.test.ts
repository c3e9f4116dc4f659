/** Fields that claims inherit from StorageClasses. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PersistentVolumeClaim } from '../../../src/api/core/v1/types.gen.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
const classes = '/apis/storage.k8s.io/v1/storageclasses';
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
const annotation = 'storageclass.kubernetes.io/is-default-class';
const older = 'volume.beta.kubernetes.io/storage-class';

describe('a claim', () => {
  let server: TestServer;
  let count = 0;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const makeClass = async (name: string, isDefault: boolean, more: object = {}) => {
    const annotations = isDefault ? { [annotation]: 'true' } : {};
    const body = { metadata: { name, annotations }, provisioner: 'example.com/x', ...more };
    const made = await server.call('POST', classes, body);
    assert.equal(made.status, 201, made.text);
    // A list waits until the cache is as new as the store, so the server has seen all earlier writes.
    assert.equal((await server.call('GET', classes)).status, 200);
  };
  const claim = async (spec: object = {}, annotations: object = {}): Promise<PersistentVolumeClaim> => {
    const made = await server.call('POST', claims, {
      metadata: { name: `c${count++}`, annotations },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
    });
    assert.equal(made.status, 201, made.text);
    return made.json<PersistentVolumeClaim>();
  };
  const classOf = async (spec: object = {}, annotations: object = {}) =>
    (await claim(spec, annotations)).spec.storageClassName;
  const bind = async ({ metadata: { name } }: PersistentVolumeClaim) => {
    const status = { phase: 'Bound', capacity: { storage: '1Gi' } };
    const bound = await server.call('PATCH', `${claims}/${name}/status`, { status }, merge);
    assert.equal(bound.status, 200, bound.text);
  };
  const grow = ({ metadata: { name } }: PersistentVolumeClaim, storage = '2Gi') =>
    server.call('PATCH', `${claims}/${name}`, { spec: { resources: { requests: { storage } } } }, merge);

  it('without a class gets the default class, as soon as it exists', async () => {
    // Every cluster has a default class from the start; this test removes it.
    assert.equal(await classOf(), 'local');
    const notDefault = { metadata: { annotations: { [annotation]: 'false' } } };
    const path = '/apis/storage.k8s.io/v1/storageclasses/local';
    assert.equal((await server.call('PATCH', path, notDefault, merge)).status, 200);
    assert.equal(await classOf(), undefined);
    await makeClass('plain', false);
    assert.equal(await classOf(), undefined);
    await makeClass('usual', true);
    assert.equal(await classOf(), 'usual');
  });

  it('with a class, or an empty one, keeps its class', async () => {
    assert.equal(await classOf({ storageClassName: 'plain' }), 'plain');
    assert.equal(await classOf({ storageClassName: '' }), '');
    assert.equal(await classOf({}, { [older]: 'plain' }), undefined);
  });

  it('gets the newest default class; among classes of the same second, the first by name', async () => {
    await makeClass('also', true);
    assert.equal(await classOf(), 'also');
    await server.clock.advance(60_000);
    await makeClass('zeta', true);
    assert.equal(await classOf(), 'zeta');
  });

  it('keeps its class, or its lack of one, when it changes', async () => {
    const { metadata } = await claim({ storageClassName: '' });
    const body = { metadata: { labels: { a: 'b' } } };
    const changed = await server.call('PATCH', `${claims}/${metadata.name}`, body, merge);
    assert.equal(changed.json<PersistentVolumeClaim>().spec.storageClassName, '');
  });

  it('may grow if its class permits it, once it is bound', async () => {
    await makeClass('growing', false, { allowVolumeExpansion: true });
    const growing = await claim({ storageClassName: 'growing' });
    const early = await grow(growing);
    assert.equal(early.status, 422, 'which validation says first');
    await bind(growing);
    const grown = await grow(growing);
    assert.equal(grown.status, 200, grown.text);
    assert.equal((await grow(growing, '2Gi')).status, 200, 'the same is no growth');
    const inOlderWay = await claim({}, { [older]: 'growing' });
    await bind(inOlderWay);
    assert.equal((await grow(inOlderWay)).status, 200);
  });

  it('may not grow if its class does not permit it or is missing', async () => {
    await makeClass('fixed', false, { allowVolumeExpansion: false });
    for (const storageClassName of ['fixed', 'plain', 'nowhere', '']) {
      const one = await claim({ storageClassName });
      await bind(one);
      const refused = await grow(one);
      assert.equal(refused.status, 403, refused.text);
      assert.match(
        refused.json<Status>().message ?? '',
        /forbidden: only dynamically provisioned pvc can be resized and the storageclass .* must support resize$/,
      );
    }
  });
});
