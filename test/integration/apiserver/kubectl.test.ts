/** Unmodified kubectls against the real HTTPS listener. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { Deployment } from '../../../src/api/apps/v1/deployment.ts';
import { storedObject } from '../../fixtures/api-server.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';
import { kubectlOf, kubectlsOf, unlessKubectl } from '../../fixtures/kubectls.ts';

const manifest = (replicas: number) => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: "nginx:1", ports: [{containerPort: 80}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
`;

for (const { version, path: binary } of kubectlsOf(['1.32', '1.27'])) {
  describe(`kubectl ${version}`, { timeout: 300_000 }, () => {
    let server: HttpsTestServer;
    let env: NodeJS.ProcessEnv;

    before(async () => {
      server = await startHttpsTestServer();
      const KUBECONFIG = await server.kubeconfigFor('kubernetes-admin', ['system:masters']);
      env = { ...process.env, HOME: server.directory, KUBECONFIG };
    });
    after(() => server.stop());

    const kubectl = async (...args: string[]) =>
      (await promisify(execFile)(binary, args, { env, timeout: 120_000 })).stdout;
    const deployment = async () =>
      (await storedObject(server, '/registry/deployments.apps/default/web')) as Deployment | undefined;

    it('applies a manifest, and applies it again without a write', async () => {
      const path = join(server.directory, 'web.yaml');
      await writeFile(path, manifest(2));
      assert.match(await kubectl('apply', '-f', path), /deployment.apps\/web created\nservice\/web created/);
      const first = await deployment();
      assert.equal(first?.spec.replicas, 2);
      assert.match(await kubectl('apply', '-f', path), /web unchanged\nservice\/web unchanged/);
      assert.equal((await deployment())?.metadata.resourceVersion, first?.metadata.resourceVersion);
      await writeFile(path, manifest(3));
      assert.match(await kubectl('apply', '-f', path), /deployment.apps\/web configured/);
      assert.equal((await deployment())?.spec.replicas, 3);
    });

    it('answers auth can-i', async () => {
      assert.equal(await kubectl('auth', 'can-i', '*', '*'), 'yes\n');
      const KUBECONFIG = await server.kubeconfigFor('bob', []);
      const asked = promisify(execFile)(binary, ['auth', 'can-i', 'list', 'pods'], {
        env: { ...env, KUBECONFIG },
        timeout: 120_000,
      });
      await assert.rejects(asked, ({ stdout, code }) => stdout === 'no\n' && code === 1);
    });

    it('creates roles, impersonates users, and lists their rights', async () => {
      const bob = ['--as=bob', '--as-group=staff'];
      const refused = (message: RegExp, ...args: string[]) =>
        assert.rejects(kubectl(...args), ({ stderr }) => {
          // The message is the same whether kubectl has the kinds cached or requests them first.
          assert.match(stderr, message);
          return true;
        });
      await refused(/User "bob" cannot list resource "pods"/, 'get', 'pods', ...bob);
      await kubectl('create', 'role', 'looks', '--verb=get,list', '--resource=pods,deployments/scale');
      await kubectl('create', 'rolebinding', 'staff', '--role=looks', '--group=staff');
      await kubectl('get', 'pods', ...bob);
      assert.equal(
        await kubectl('auth', 'can-i', 'get', 'deployments.apps/web', '--subresource=scale', ...bob),
        'yes\n',
      );
      const rules = await kubectl('auth', 'can-i', '--list', ...bob);
      assert.match(rules, /^pods +\[\] +\[\] +\[get list\]$/m);
      assert.match(rules, /^selfsubjectrulesreviews.authorization.k8s.io +\[\] +\[\] +\[create\]$/m);
      assert.doesNotMatch(rules, /^\*/m);
      await kubectl(
        'create',
        'role',
        'maker',
        '--verb=create',
        '--resource=rolebindings.rbac.authorization.k8s.io',
      );
      await kubectl('create', 'rolebinding', 'maker', '--role=maker', '--user=maker');
      await refused(
        /not currently held/,
        'create',
        'rolebinding',
        'more',
        '--clusterrole=cluster-admin',
        '--user=bob',
        '--as=maker',
      );
      const KUBECONFIG = await server.kubeconfigFor('bob', ['staff']);
      const asked = promisify(execFile)(binary, ['get', 'pods', '--as=root', '--as-group=system:masters'], {
        env: { ...env, KUBECONFIG },
        timeout: 120_000,
      });
      await assert.rejects(asked, ({ stderr }) => {
        assert.match(stderr, /^Error.*User "bob" cannot impersonate resource "users"/m);
        return true;
      });
      const path = join(server.directory, 'roles.yaml');
      const head =
        'apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: looks, namespace: default}\n';
      await writeFile(path, `${head}rules: [{apiGroups: [""], resources: [pods], verbs: [get, watch]}]`);
      assert.match(await kubectl('auth', 'reconcile', '-f', path), /looks reconciled/);
      assert.equal(await kubectl('auth', 'can-i', 'watch', 'pods', ...bob), 'yes\n');
    });

    it('reports an unknown kind, and applies the other objects of the file', async () => {
      const path = join(server.directory, 'unknown.yaml');
      const manifests = `
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: changes}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: beside-unknown}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: thing}
`;
      await writeFile(path, manifests);
      for (const verb of ['apply', 'create']) {
        await assert.rejects(kubectl(verb, '-f', path), ({ stderr }) => {
          assert.match(stderr, /no matches for kind "ResourceClaim"/);
          assert.match(stderr, /no matches for kind "Thing"/);
          assert.doesNotMatch(stderr, /failed to list CRDs/);
          return true;
        });
        assert.match(await kubectl('get', 'configmaps'), /^beside-unknown/m);
        await kubectl('delete', 'configmap', 'beside-unknown');
      }
    });

    it('reports the health of the scheduler, the controllers and etcd, with the deprecation', async () => {
      const printed = await kubectl('get', 'componentstatuses');
      assert.match(printed, /^NAME +STATUS +MESSAGE +ERROR *$/m);
      for (const name of ['scheduler', 'controller-manager', 'etcd-0'])
        assert.match(printed, new RegExp(`^${name} +Healthy +ok`, 'm'));
      assert.equal(await kubectl('get', 'cs', 'etcd-0', '-o', 'name'), 'componentstatus/etcd-0\n');
      await assert.rejects(kubectl('get', 'cs', 'other'), /componentstatuses "other" not found/);
      const { stderr } = await promisify(execFile)(binary, ['get', 'cs'], { env, timeout: 120_000 });
      assert.match(stderr, /^Warning: v1 ComponentStatus is deprecated/m);
    });

    it('prints objects as tables', async () => {
      const wide = await kubectl('get', 'deploy,svc', '-o', 'wide');
      assert.match(wide, /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE +CONTAINERS +IMAGES +SELECTOR$/m);
      assert.match(wide, /^service\/web +ClusterIP +10\.96\.\d+\.\d+ +<none> +80\/TCP/m);
      assert.match(await kubectl('get', 'ns', '--no-headers'), /^kube-system +Active/m);
      assert.match(await kubectl('get', 'all', '-A'), /deployment.apps\/web/);
    });

    it('scales, labels and patches objects', async () => {
      await kubectl('scale', 'deploy/web', '--replicas=5');
      await kubectl('scale', 'deploy/web', '--current-replicas=5', '--replicas=4');
      await kubectl('label', 'deploy/web', 'tier=front');
      await kubectl(
        'patch',
        'deploy/web',
        '-p',
        '{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"nginx:2"}]}}}}',
      );
      await kubectl(
        'patch',
        'deploy/web',
        '--type=json',
        '-p',
        '[{"op":"add","path":"/metadata/annotations/x","value":"y"}]',
      );
      await kubectl('set', 'env', 'deploy/web', 'A=1');
      const found = await deployment();
      assert.equal(found?.spec.replicas, 4);
      assert.equal(found?.metadata.labels?.tier, 'front');
      assert.equal(found?.metadata.annotations?.x, 'y');
      const [container] = found?.spec.template.spec.containers ?? [];
      assert.deepEqual(
        [container?.image, container?.ports?.length, container?.env],
        ['nginx:2', 1, [{ name: 'A', value: '1' }]],
      );
    });

    it('explains resources, and finds them by short name and category', async () => {
      assert.match(await kubectl('explain', 'deployment.spec.replicas'), /replicas/);
      const pod = await kubectl('explain', 'pod.spec');
      // Kubernetes' descriptions of the type and of one of its fields.
      assert.match(pod, /\nDESCRIPTION:\n +\S+( \S+){3}/);
      assert.match(pod, /\n +hostname\t.*\n +\S+( \S+){3}/);
      assert.match(
        await kubectl('api-resources', '--no-headers'),
        /^deployments +deploy +apps\/v1 +true +Deployment/m,
      );
      assert.match(await kubectl('get', 'po,no,cm,ev', '-A', '--ignore-not-found'), /^$|NAME/);
    });

    it('watches objects with get -w', async () => {
      const watching = spawn(binary, ['get', 'pods', '-w', '--no-headers'], { env });
      const lines = createInterface({ input: watching.stdout })[Symbol.asyncIterator]();
      try {
        await kubectl('run', 'p1', '--image=busybox');
        assert.match((await lines.next()).value ?? '', /^p1 +0\/1 +Pending/);
        await kubectl('label', 'pod/p1', 'a=b');
        assert.match((await lines.next()).value ?? '', /^p1 +0\/1 +Pending/);
      } finally {
        watching.kill();
        await once(watching, 'exit');
      }
    });

    it('shows errors and warnings', async () => {
      await assert.rejects(
        kubectl('get', 'pod', 'nope'),
        /Error from server \(NotFound\): pods "nope" not found/,
      );
      const bad = join(server.directory, 'bad.yaml');
      await writeFile(bad, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\ndta: {}\n');
      await assert.rejects(kubectl('create', '-f', bad), /unknown field "dta"/);
      await assert.rejects(kubectl('create', '-f', bad, '-n', 'nope'), /./);
      await assert.rejects(kubectl('run', 'Bad_Name', '--image=x'), /Invalid|invalid/);
    });

    it('adds a container to a pod', async () => {
      await kubectl('run', 'debugged', '--image=x');
      const added = ['--image=y', '--container=look', '--target=debugged', '--profile=general'];
      await kubectl('debug', 'debugged', ...added);
      const found = '{.spec.ephemeralContainers[0].name} {.spec.ephemeralContainers[0].targetContainerName}';
      assert.equal(await kubectl('get', 'pod', 'debugged', '-o', `jsonpath=${found}`), 'look debugged');
      await kubectl('delete', 'pod', 'debugged', '--now');
    });

    it('deletes and waits until the object no longer exists', async () => {
      assert.match(
        await kubectl('delete', 'deploy/web', 'svc/web', 'pod/p1'),
        /deployment.apps "web" deleted/,
      );
      assert.equal(await deployment(), undefined);
      await kubectl('wait', '--for=delete', 'deploy/web', '--timeout=5s').catch((error) =>
        assert.match(String(error), /NotFound|not found|no matching resources/),
      );
    });
  });
}

const skip = unlessKubectl('1.32') || unlessKubectl('1.27');

describe('kubectl create', { timeout: 300_000, skip }, () => {
  let server: HttpsTestServer;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    server = await startHttpsTestServer();
    const KUBECONFIG = await server.kubeconfigFor('kubernetes-admin', ['system:masters']);
    env = { ...process.env, HOME: server.directory, KUBECONFIG };
  });
  after(() => server.stop());

  const create = (version: string, ...args: string[]) =>
    promisify(execFile)(kubectlOf(version)?.path ?? '', ['create', ...args], { env, timeout: 120_000 });

  /** Returns the object that a command stored, without the fields that differ between any two objects. */
  const stored = async (key: string) => {
    const { metadata, ...rest } = (await storedObject(server, key)) ?? assert.fail(`${key} is not there`);
    const { uid, creationTimestamp, resourceVersion, namespace, ...shared } = metadata;
    assert.ok(uid && creationTimestamp && resourceVersion);
    for (const entry of shared.managedFields as { time?: string }[]) {
      assert.ok(entry.time);
      delete entry.time;
    }
    return { ...rest, metadata: shared };
  };

  it('stores the same from protobuf as from JSON', async () => {
    const file = join(server.directory, 'file.bin');
    await writeFile(file, Uint8Array.of(0, 255, 1, 254));
    const commands: [key: string, ...args: string[]][] = [
      ['deployments.apps/N/web', 'deployment', 'web', '--image=x', '--replicas=2', '--port=80'],
      ['deployments.apps/N/none', 'deployment', 'none', '--image=x', '--replicas=0', '--', 'sleep', '1'],
      ['configmaps/N/one', 'configmap', 'one', '--from-literal=k=v', `--from-file=${file}`],
      ['secrets/N/two', 'secret', 'generic', 'two', '--from-literal=k=v', `--from-file=${file}`],
      ['services/N/ip', 'service', 'clusterip', 'ip', '--clusterip=None', '--tcp=80:8080'],
      ['services/N/out', 'service', 'externalname', 'out', '--external-name=example.com'],
    ];
    for (const [version, namespace] of [['1.32', 'protobuf'] as const, ['1.27', 'json'] as const]) {
      assert.match((await create(version, 'namespace', namespace)).stdout, /created/);
      for (const [, ...args] of commands) {
        const { stdout, stderr } = await create(version, '-n', namespace, ...args);
        assert.match(stdout, /created/);
        assert.equal(stderr, '');
      }
    }
    for (const [key] of commands) {
      const fromProtobuf = await stored(`/registry/${key.replace('N', 'protobuf')}`);
      assert.deepEqual(fromProtobuf, await stored(`/registry/${key.replace('N', 'json')}`), key);
    }
    const namespace = (name: string) => stored(`/registry/namespaces/${name}`);
    const rename = (value: object) => JSON.parse(JSON.stringify(value).replaceAll('"protobuf"', '"json"'));
    assert.deepEqual(rename(await namespace('protobuf')), await namespace('json'));
  });

  it('stores the object that the command describes', async () => {
    const said = ['deployment', 'said', '--image=x:1', '--replicas=2', '--port=80'];
    const { stderr } = await create('1.32', '-v=8', ...said);
    assert.match(stderr, /Content-Type: application\/vnd\.kubernetes\.protobuf/);
    const { spec } = (await storedObject(server, '/registry/deployments.apps/default/said')) as Deployment;
    const [container] = spec.template.spec.containers;
    assert.equal(spec.replicas, 2);
    assert.deepEqual(
      [container?.name, container?.image, container?.ports],
      ['x', 'x:1', [{ containerPort: 80, protocol: 'TCP' }]],
    );
    await assert.rejects(create('1.32', 'deployment', 'said', '--image=x'), /already exists/);
    await assert.rejects(create('1.32', 'deployment', 'Bad_Name', '--image=x'), /Invalid value: "Bad_Name"/);
  });
});
