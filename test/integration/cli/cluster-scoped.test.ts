/** ctl with a manifest of a cluster-scoped object that names a namespace, as kubectl takes it. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ClusterRole } from '../../../src/api/rbac/v1/types.gen.ts';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';

describe('a ClusterRole with metadata.namespace', { timeout: 300_000 }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  before(async () => {
    server = await startHttpsTestServer();
    ctl = ctlFor(await server.kubeconfigFor('kubernetes-admin', ['system:masters']));
  });
  after(() => server.stop());

  const run = async (name: string, verbs: readonly string[], ...args: string[]) => {
    const file = join(server.directory, 'role.json');
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name, namespace: 'somewhere' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs }],
    };
    await writeFile(file, JSON.stringify(role));
    return ctl([...args, '-f', file]);
  };
  const succeeds = async (name: string, verbs: readonly string[], out: RegExp, ...args: string[]) => {
    const result = await run(name, verbs, ...args);
    assert.equal(result.status, 0, result.err);
    assert.match(result.out, out);
  };
  const stored = async (name: string) => {
    const answer = await server.call('GET', `${roles}/${name}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json<ClusterRole>();
  };
  const verbsOf = async (name: string) => (await stored(name)).rules?.[0]?.verbs;

  for (const [name, ...flags] of [['by-client'], ['by-server', '--server-side']] as const)
    it(`is applied, compared, replaced and deleted: ${name}`, async () => {
      await succeeds(name, ['get'], /by-\w+ (created|serverside-applied)\n$/, 'apply', ...flags);
      assert.equal((await stored(name)).metadata.namespace, undefined);
      await succeeds(name, ['get', 'list'], /by-\w+ (configured|serverside-applied)\n$/, 'apply', ...flags);
      assert.deepEqual(await verbsOf(name), ['get', 'list']);
      await succeeds(name, ['get', 'list'], /^$/, 'diff');
      const changed = await run(name, ['watch'], 'diff');
      assert.equal(changed.status, 1, changed.err);
      assert.match(changed.out, /^\+ {2}- watch$/m);
      assert.doesNotMatch(changed.out, /somewhere/);
      assert.deepEqual(await verbsOf(name), ['get', 'list']);
      await succeeds(name, ['watch'], /by-\w+ replaced\n$/, 'replace');
      assert.deepEqual(await verbsOf(name), ['watch']);
      await succeeds(name, ['watch'], /"by-\w+" deleted/, 'delete');
      assert.equal((await server.call('GET', `${roles}/${name}`)).status, 404);
    });
});
