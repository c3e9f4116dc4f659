/**
 * Definitions of well-known operators, as their modules have them, are applied on the server, and validate
 * objects by their CEL rules.
 */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Cluster } from '../../e2e/harness/cluster.ts';
import { Host } from '../../e2e/harness/host.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { moduleFolder } from '../../fixtures/operators.ts';

/** Modules, and their folders of definitions. */
const sources: readonly (readonly [module: string, folders: readonly string[]])[] = [
  ['sigs.k8s.io/gateway-api@v1.6.3', ['config/crd/standard']],
  ['github.com/cert-manager/cert-manager@v1.21.2', ['deploy/crds']],
  ['github.com/kedacore/keda/v2@v2.21.0', ['config/crd/bases']],
  [
    'github.com/kyverno/kyverno@v1.19.1',
    ['kyverno', 'policies.kyverno.io', 'policyreport', 'reports'].map((name) => `config/crds/${name}`),
  ],
  ['github.com/prometheus-operator/prometheus-operator@v0.82.2', ['example/prometheus-operator-crd-full']],
  ['github.com/argoproj/argo-cd/v3@v3.4.0', ['manifests/crds']],
  ['github.com/argoproj/argo-rollouts@v1.9.0', ['manifests/crds']],
  ['github.com/fluxcd/source-controller@v1.8.0', ['config/crd/bases']],
];

const listener = (name: string, port: number) => ({ name, port, protocol: 'HTTP' });

test('definitions of well-known operators are accepted and validate objects', async (context) => {
  const host = await Host.start(context);
  const cluster = await Cluster.start(context, { host });
  const { kubectl } = cluster;
  const slowly = { timeoutMs: 300_000 };

  const apply = (root: string, folder: string) => {
    const files = readdirSync(join(root, folder)).filter(
      (name) => name.endsWith('.yaml') && name !== 'kustomization.yaml',
    );
    const flags = files.flatMap((name) => ['-f', join(root, folder, name)]);
    return kubectl.attempt(['apply', '--server-side', '--force-conflicts', ...flags], slowly);
  };
  const established = async (root: string, folder: string) => {
    const applied = await apply(root, folder);
    assert.deepEqual([applied.code, applied.stderr], [0, '']);
    const names = [...applied.stdout.matchAll(/^(customresourcedefinition\S+) serverside-applied/gm)];
    assert.ok(names.length > 0, applied.stdout);
    const each = names.map(([, name = '']) => name);
    const waited = ['wait', '--for=condition=Established', '--timeout=60s', ...each];
    assert.equal((await kubectl.attempt(waited, slowly)).code, 0);
  };

  for (const [module, folders] of sources) {
    await context.test(`the definitions of ${module} are established`, async () => {
      const root = await moduleFolder(module);
      for (const folder of folders) await established(root, folder);
    });
  }

  await context.test(
    'the policy of Gateway API rejects its experimental definitions until the policy is deleted',
    async () => {
      const root = await moduleFolder('sigs.k8s.io/gateway-api@v1.6.3');
      const refused = await apply(root, 'config/crd/experimental');
      assert.equal(refused.code, 1);
      assert.match(
        refused.stderr,
        /ValidatingAdmissionPolicy 'safe-upgrades\S+' with binding \S+ denied request/,
      );
      await kubectl('delete', 'validatingadmissionpolicies,validatingadmissionpolicybindings', '--all');
      await waitFor('the experimental definitions', async () => {
        await established(root, 'config/crd/experimental');
        return true;
      });
    },
  );

  await context.test('the rules of a Gateway reject two listeners with the same name', async () => {
    const gateway = (listeners: readonly object[], annotations = {}) => ({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { name: 'entrance' },
      spec: { gatewayClassName: 'none', listeners, infrastructure: { annotations } },
    });
    const create = async (object: object) => {
      const file = join(host.directory, 'gateway.json');
      writeFileSync(file, JSON.stringify(object));
      return kubectl.attempt(['apply', '-f', file]);
    };
    const twice = await create(gateway([listener('web', 80), listener('web', 81)]));
    assert.equal(twice.code, 1);
    assert.match(twice.stderr, /spec\.listeners: (Duplicate value|Invalid value)/);
    const odd = await create(gateway([listener('web', 80)], { 'a b': 'c' }));
    assert.match(odd.stderr, /spec\.infrastructure\.annotations: Invalid value/);
    const good = await create(gateway([listener('web', 80), listener('more', 81)], { 'example.com/a': 'c' }));
    assert.deepEqual([good.code, good.stdout], [0, 'gateway.gateway.networking.k8s.io/entrance created\n']);
    assert.match(await kubectl('explain', 'gateway.spec.listeners'), /Listeners/);
  });
});
