/** Unmodified `kubectl apply --server-side`, and the migration from client-side apply. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Deployment } from '../../../src/api/apps/v1/deployment.ts';
import type { ManagedFieldsEntry } from '../../../src/apimachinery/managed-fields/managers.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { kubectlsOf } from '../../fixtures/kubectls.ts';

const annotation = 'kubectl.kubernetes.io/last-applied-configuration';

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const managersOf = (object: KubeObject) =>
  ((object.metadata.managedFields ?? []) as ManagedFieldsEntry[]).map(
    ({ manager, operation }) => `${manager} ${operation}`,
  );

const deployment = (replicas: number | undefined, image: string, env: string[] = []) =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      ...(replicas !== undefined && { replicas }),
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'c', image, env: env.map((name) => ({ name, value: 'v' })) }] },
      },
    },
  });

for (const { version, path } of kubectlsOf([
  '1.27',
  '1.28',
  '1.29',
  '1.30',
  '1.31',
  '1.32',
  '1.33',
  '1.34',
])) {
  describe(`kubectl ${version} apply --server-side`, { timeout: 300_000 }, () => {
    let server: HttpsTestServer;
    let env: NodeJS.ProcessEnv;
    before(async () => {
      server = await startHttpsTestServer();
      const KUBECONFIG = await server.kubeconfigFor('kubernetes-admin', ['system:masters']);
      env = { ...process.env, HOME: server.directory, KUBECONFIG };
    });
    after(() => server.stop());

    const kubectl = (...args: string[]): Promise<Ran> =>
      new Promise((resolve) => {
        execFile(path, args, { env, timeout: 120_000 }, (error, out, err) =>
          resolve({ code: error ? Number(error.code ?? 1) : 0, out, err }),
        );
      });
    const file = async (content: string) => {
      const name = join(server.directory, 'manifest.json');
      await writeFile(name, content);
      return name;
    };
    const serverSide = async (content: string, ...more: string[]) =>
      kubectl('apply', '--server-side', '-f', await file(content), ...more);
    const get = async (name = 'web') => {
      const { out } = await kubectl('get', 'deployment', name, '-o', 'json', '--show-managed-fields');
      return JSON.parse(out) as Deployment;
    };

    it('creates, changes and removes fields', async () => {
      const made = await serverSide(deployment(2, 'one', ['A', 'B']));
      assert.deepEqual(made, { code: 0, out: 'deployment.apps/web serverside-applied\n', err: '' });
      const changed = await serverSide(deployment(undefined, 'two', ['B']));
      assert.equal(changed.code, 0, changed.err);
      const { spec, metadata } = await get();
      assert.equal(spec.replicas, 1, 'the default again');
      assert.deepEqual(spec.template.spec.containers[0]?.env, [{ name: 'B', value: 'v' }]);
      assert.deepEqual(managersOf({ metadata } as KubeObject), ['kubectl Apply']);
    });

    it('fails for a field of another manager, and takes it over with --force-conflicts', async () => {
      await kubectl('scale', 'deployment', 'web', '--replicas=7');
      const refused = await serverSide(deployment(3, 'two', ['B']));
      assert.equal(refused.code, 1);
      assert.match(
        refused.err,
        /Apply failed with 1 conflict: conflict with "kubectl[.\d]*" with subresource "scale" using apps\/v1: \.spec\.replicas/,
      );
      assert.match(refused.err, /Please review the fields above--they currently have other managers/);
      const forced = await serverSide(deployment(3, 'two', ['B']), '--force-conflicts');
      assert.equal(forced.code, 0, forced.err);
      assert.equal((await get()).spec.replicas, 3);
    });

    it('acts as the given field manager', async () => {
      const other = await serverSide(deployment(3, 'two', ['B']), '--field-manager=ci');
      assert.equal(other.code, 0, other.err);
      assert.deepEqual(managersOf(await get()), ['ci Apply', 'kubectl Apply'].sort());
      const conflict = await serverSide(deployment(4, 'two', ['B']), '--field-manager=ci');
      assert.match(conflict.err, /conflict with "kubectl": \.spec\.replicas/);
    });

    it('changes nothing in a dry run, and shows the difference', async () => {
      const content = deployment(3, 'three', ['B']);
      const before = await get();
      const dry = await serverSide(content, '--dry-run=server', '--force-conflicts');
      assert.equal(dry.out, 'deployment.apps/web serverside-applied (server dry run)\n');
      const diff = await kubectl('diff', '--server-side', '--force-conflicts', '-f', await file(content));
      assert.equal(diff.code, 1, diff.err);
      assert.match(diff.out, /^-.*image: two$/m);
      assert.match(diff.out, /^\+.*image: three$/m);
      assert.deepEqual(await get(), before);
    });

    it('continues from the fields that the client applied, and leaves none of its entries', async () => {
      await kubectl('delete', 'deployment', 'web');
      const first = await kubectl('apply', '-f', await file(deployment(2, 'one', ['A', 'B'])));
      assert.equal(first.code, 0, first.err);
      assert.deepEqual(managersOf(await get()), ['kubectl-client-side-apply Update']);
      const next = await serverSide(deployment(3, 'two', ['B']));
      assert.equal(next.code, 0, next.err);
      const object = await get();
      // kubectl owns the annotation under a separate manager name.
      assert.deepEqual(managersOf(object), ['kubectl-last-applied Apply', 'kubectl Apply']);
      assert.equal(object.spec.replicas, 3);
      const last = JSON.parse(object.metadata.annotations?.[annotation] ?? '{}') as Deployment;
      assert.equal(last.spec.replicas, 3, 'the client could go on from here');
      const removed = await serverSide(deployment(3, 'two', []));
      assert.equal(removed.code, 0, removed.err);
      assert.equal((await get()).spec.template.spec.containers[0]?.env, undefined);
    });

    it('reports a field that the kind does not have', async () => {
      const wrong = await serverSide(
        deployment(1, 'one').replace('"replicas"', '"replica"'),
        '--validate=false',
      );
      assert.equal(wrong.code, 1);
      assert.match(
        wrong.err,
        /failed to create typed patch object \(default\/web; apps\/v1, Kind=Deployment\): \.spec\.replica: field not declared in schema/,
      );
    });

    it('shows managers only if they are requested', async () => {
      const plain = await kubectl('get', 'deployment', 'web', '-o', 'yaml');
      assert.doesNotMatch(plain.out, /managedFields/);
      const shown = await kubectl('get', 'deployment', 'web', '-o', 'yaml', '--show-managed-fields');
      assert.match(shown.out, /managedFields:\n {2}- apiVersion: apps\/v1\n {4}fieldsType: FieldsV1/);
    });
  });
}
