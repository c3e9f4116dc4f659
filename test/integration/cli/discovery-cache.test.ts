/** Discovery cache of ctl: when the resources on disk are used, and when the server is asked. */
import assert from 'node:assert/strict';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

describe('the discovery cache of ctl', { timeout: 300_000 }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let home: string;
  let now = systemClock.now();
  const folder = () => join(home, '.kube', 'cache', 'minik8s', 'discovery');
  const file = async () => join(folder(), (await readdir(folder()))[0] ?? '');

  before(async () => {
    server = await startHttpsTestServer();
    home = join(server.directory, 'home');
    const kubeconfig = await server.kubeconfigFor('kubernetes-admin', ['system:masters']);
    ctl = ctlFor(kubeconfig, { homeDirectory: home, clock: { ...systemClock, now: () => now } });
  });
  after(() => server.stop());
  beforeEach(() => rm(home, { recursive: true, force: true }));

  const succeeds = async (line: string, stdin = '') => {
    const { status, out, err } = await ctl(line.split(' '), { stdin });
    assert.equal(status, 0, err);
    return out;
  };
  /** Writes other resources into the file, as an outdated file has them. */
  const withoutConfigMaps = async () => {
    const kept = JSON.parse(await readFile(await file(), 'utf8')) as { resources: { plural: string }[] };
    const resources = kept.resources.filter(({ plural }) => plural !== 'configmaps');
    await writeFile(await file(), JSON.stringify({ ...kept, resources }));
  };
  const keepsConfigMaps = async () => (await readFile(await file(), 'utf8')).includes('"configmaps"');

  it('is one file for a server, which only its user may read', async () => {
    await succeeds('get pods');
    await succeeds('get services');
    assert.equal((await readdir(folder())).length, 1);
    assert.match(await file(), /127\.0\.0\.1_\d+-[0-9a-f]{16}\.json$/);
    assert.equal((await stat(await file())).mode & 0o777, 0o600);
  });

  it('is used by the next command', async () => {
    await succeeds('get pods');
    await withoutConfigMaps();
    await succeeds('get pods');
    assert.equal(await keepsConfigMaps(), false);
  });

  it('is replaced when a command names a resource that it lacks', async () => {
    await succeeds('get pods');
    await withoutConfigMaps();
    await succeeds('get configmaps');
    assert.equal(await keepsConfigMaps(), true);
  });

  it('is replaced when a manifest has a kind that it lacks', async () => {
    await succeeds('get pods');
    await withoutConfigMaps();
    const manifest = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made' } });
    assert.equal(await succeeds('apply -f -', manifest), 'configmap/made created\n');
  });

  it('is replaced after six hours, and when the clock was set back', async () => {
    for (const ms of [6 * 3600_000 + 1, -1000]) {
      await succeeds('get pods');
      await withoutConfigMaps();
      now += ms;
      await succeeds('get pods');
      assert.equal(await keepsConfigMaps(), true, `${ms} ms later`);
      await rm(home, { recursive: true });
    }
  });

  for (const [what, text] of [
    ['no JSON', '{'],
    ['another form', '{"version":1}'],
    ['resources without names', '{"resources":[{}]}'],
  ] as const)
    it(`is replaced when its file has ${what}`, async () => {
      await succeeds('get pods');
      await writeFile(await file(), text);
      await succeeds('get pods');
      assert.equal(await keepsConfigMaps(), true);
    });

  it('is refreshed by api-resources', async () => {
    await succeeds('get pods');
    await withoutConfigMaps();
    assert.match(await succeeds('api-resources -o name'), /^configmaps$/m);
    assert.equal(await keepsConfigMaps(), true);
  });

  it('is removed when the server no longer has a resource that it names', async () => {
    await succeeds('get pods');
    const kept = JSON.parse(await readFile(await file(), 'utf8')) as { resources: object[] };
    const lamp = { ...kept.resources[0], group: 'example.com', version: 'v1', plural: 'lamps', kind: 'Lamp' };
    await writeFile(await file(), JSON.stringify({ ...kept, resources: [...kept.resources, lamp] }));
    const { status, err } = await ctl(['get', 'lamps']);
    assert.equal(status, 1, err);
    assert.match((await ctl(['get', 'lamps'])).err, /doesn't have a resource type "lamps"/);
  });

  it('is in the folder of --cache-dir or $KUBECACHEDIR, and a folder that is not writable is no error', async () => {
    const other = join(server.directory, 'other');
    await succeeds(`get pods --cache-dir=${other}`);
    assert.equal((await readdir(join(other, 'minik8s', 'discovery'))).length, 1);
    const third = join(server.directory, 'third');
    assert.equal((await ctl(['get', 'pods'], { env: { KUBECACHEDIR: third } })).status, 0);
    assert.equal((await readdir(join(third, 'minik8s', 'discovery'))).length, 1);
    const { status, err } = await ctl(['get', 'pods', '--cache-dir=/proc/none']);
    assert.deepEqual([status, err], [0, 'No resources found in default namespace.\n']);
  });
});
