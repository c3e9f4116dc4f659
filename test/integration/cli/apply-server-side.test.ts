/** `ctl apply --server-side`, alone and mixed with client-side apply. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ManagedFieldsEntry } from '../../../src/apimachinery/managed-fields/managers.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
const annotation = 'kubectl.kubernetes.io/last-applied-configuration';

describe('ctl apply --server-side', { timeout: 300_000 }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  before(async () => {
    server = await startHttpsTestServer();
    ctl = ctlFor(await server.kubeconfigFor('kubernetes-admin', ['system:masters']));
  });
  after(() => server.stop());

  const apply = async (name: string, data: Record<string, string>, ...more: string[]) => {
    const file = join(server.directory, 'map.json');
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
    await writeFile(file, JSON.stringify(map));
    return ctl(['apply', '-f', file, ...more]);
  };
  const get = async (name: string) =>
    (await server.call('GET', `${maps}/${name}`)).json<KubeObject & { data?: object }>();
  const managersOf = ({ metadata }: KubeObject) =>
    (metadata.managedFields as ManagedFieldsEntry[]).map(
      ({ manager, operation }) => `${manager} ${operation}`,
    );

  it('creates, changes and removes fields as kubectl unless flags change that', async () => {
    const made = await apply('one', { a: '1', b: '1' }, '--server-side');
    assert.deepEqual([made.status, made.out], [0, 'configmap/one serverside-applied\n'], made.err);
    await apply('one', { a: '2' }, '--server-side');
    const object = await get('one');
    assert.deepEqual(object.data, { a: '2' });
    assert.deepEqual(managersOf(object), ['kubectl Apply']);
    await apply('one', { a: '2' }, '--server-side', '--field-manager', 'ci');
    assert.deepEqual(managersOf(await get('one')).sort(), ['ci Apply', 'kubectl Apply']);
  });

  it('is rejected for fields of other managers with advice, and takes them with --force-conflicts', async () => {
    await apply('two', { a: '1' }, '--server-side', '--field-manager', 'ci');
    const refused = await apply('two', { a: '2' }, '--server-side');
    assert.equal(refused.status, 1);
    assert.match(refused.err, /Apply failed with 1 conflict: conflict with "ci": \.data\.a/);
    assert.match(refused.err, /run the command again with --force-conflicts/);
    const forced = await apply('two', { a: '2' }, '--server-side', '--force-conflicts');
    assert.equal(forced.status, 0, forced.err);
    assert.deepEqual((await get('two')).data, { a: '2' });
  });

  it('takes over the fields of a client-side apply, and keeps its annotation for a later client-side apply', async () => {
    assert.equal((await apply('three', { a: '1', b: '1' })).status, 0);
    assert.deepEqual(managersOf(await get('three')), ['minik8s-ctl Update']);
    const moved = await apply('three', { a: '2' }, '--server-side');
    assert.deepEqual([moved.status, moved.err], [0, '']);
    const object = await get('three');
    assert.deepEqual(object.data, { a: '2' }, 'what only the client applied is gone');
    assert.deepEqual(managersOf(object), ['kubectl-last-applied Apply', 'kubectl Apply']);
    assert.match(object.metadata.annotations?.[annotation] ?? '', /"data":\{"a":"2"\}/);
    const back = await apply('three', { c: '3' });
    assert.equal(back.status, 0, back.err);
    assert.deepEqual((await get('three')).data, { c: '3' });
  });

  it('stores nothing with --dry-run=server, and rejects --dry-run=client', async () => {
    const dry = await apply('four', { a: '1' }, '--server-side', '--dry-run', 'server');
    assert.equal(dry.out, 'configmap/four serverside-applied (server dry run)\n');
    assert.equal((await server.call('GET', `${maps}/four`)).status, 404);
    const client = await apply('four', {}, '--server-side', '--dry-run', 'client');
    assert.equal(client.status, 1);
    assert.match(client.err, /--dry-run=client doesn't work with --server-side/);
    const force = await apply('four', {}, '--force-conflicts');
    assert.match(force.err, /--force-conflicts only works with --server-side/);
  });

  it('is shown by get if managers are requested', async () => {
    const plain = await ctl(['get', 'configmap', 'one', '-o', 'yaml']);
    assert.doesNotMatch(plain.out, /managedFields/);
    const shown = await ctl(['get', 'configmap', 'one', '-o', 'yaml', '--show-managed-fields']);
    assert.match(shown.out, /managedFields:\n\s*- apiVersion: v1\n/);
  });
});
