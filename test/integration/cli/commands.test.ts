/** The commands against the real API server over HTTPS: their effects and exit statuses. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import { type HttpsTestServer, startHttpsTestServer } from '../../fixtures/https-api-server.ts';

const configMap = (name: string, data = '{}') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: ${data}\n`;
const pod = (name: string, containers: readonly string[]) => ({
  metadata: { name, labels: { app: 'web' } },
  spec: {
    nodeName: 'node-1',
    containers: containers.map((container) => ({ name: container, image: 'x:1' })),
  },
});
const deployment = {
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'x:1' }] } },
  },
};
const deployments = '/apis/apps/v1/namespaces/default/deployments';

describe('ctl', { timeout: 300_000 }, () => {
  let server: HttpsTestServer;
  let kubeconfig: string;
  let ctl: Ctl;
  /** Requests that the node agent received. */
  const asked: string[] = [];

  before(async () => {
    server = await startHttpsTestServer({
      nodeConnection: async (_node, path) => {
        asked.push(path);
        return new Response(`log of ${path.split('?')[0]}\nlast line`);
      },
    });
    kubeconfig = await server.kubeconfigFor('kubernetes-admin', ['system:masters']);
    ctl = ctlFor(kubeconfig);
    for (const [name, containers] of [
      ['one', ['c']],
      ['two', ['a', 'b']],
    ] as const)
      await server.call('POST', '/api/v1/namespaces/default/pods', pod(name, containers));
    await server.call('POST', deployments, deployment);
  });
  after(() => server.stop());

  const ok = async (...args: string[]) => {
    const { status, out, err } = await ctl(args);
    assert.equal(status, 0, err);
    return out;
  };

  it('documents before a bad one are applied, and the bad one is named', async () => {
    const file = join(server.directory, 'three.yaml');
    const bad = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b\n x: [\n';
    await writeFile(file, [configMap('t-a'), bad, configMap('t-c')].join('---\n'));
    const result = await ctl(['apply', '-f', file]);
    assert.equal(result.status, 1);
    assert.equal(result.out, 'configmap/t-a created\n');
    assert.match(result.err, /^error: error parsing \S+three\.yaml:\d+: .*\n$/);
  });

  it('names and errors with escapes of a terminal are printed without them', async () => {
    const name = 'a\u001b[2J\u009bb';
    const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';
    assert.equal((await server.call('POST', roles, { metadata: { name }, rules: [] })).status, 201);
    const missing = await ctl(['get', 'role', `${name}x`]);
    assert.match(missing.err, /"a\^\[\[2J\\u009bbx" not found\n$/);
    const asked = await ctl(['delete', 'roles', '--all', '--interactive'], { stdin: 'y\n' });
    const words = 'role\\.rbac\\.authorization\\.k8s\\.io';
    const listed = new RegExp(`^${words}/a\\^\\[\\[2J\\\\u009bb$`, 'm');
    assert.match(asked.out, listed);
    assert.match(asked.out, new RegExp(`${words} "a\\^\\[\\[2J\\\\u009bb" deleted\\n$`));
  });

  it('every error is reported in one line, and all other objects are applied', async () => {
    const file = join(server.directory, 'mixed.yaml');
    const documents = [
      configMap('m-a'),
      'apiVersion: foo/v1\nkind: Foo\nmetadata: {name: x}\n',
      'apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: x}\n',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m-b}\nmisspelt: 1\n',
      'apiVersion: v1\nkind: ConfigMap\n',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 5}\n',
      configMap('m-c'),
    ];
    await writeFile(file, documents.join('---\n'));
    const { status, out, err } = await ctl(['apply', '-f', file]);
    assert.equal(status, 1);
    assert.equal(out, 'configmap/m-a created\nconfigmap/m-c created\n');
    const lines = err
      .trimEnd()
      .split('\n')
      .map((line) => line.replaceAll(file, 'F'));
    assert.deepEqual(lines, [
      'error: F:6: the server has no kind Foo in foo/v1; see minik8s ctl api-resources for what it serves',
      'error: F:10: the server has no kind Deployment in apps/v1beta1; Deployment is served as apps/v1',
      'error: F:17: unknown field "misspelt"',
      'error: F:19: metadata.name is missing: the ConfigMap needs a name',
      'error: F:22: metadata.name: expected text, got 5: quote it',
    ]);
  });

  it('a manifest for another namespace than -n is rejected; objects are created in their own namespaces', async () => {
    const file = join(server.directory, 'ns.yaml');
    await writeFile(file, configMap('elsewhere').replace('{name', '{namespace: kube-public, name'));
    const refused = await ctl(['apply', '-n', 'default', '-f', file]);
    assert.equal(refused.status, 1);
    assert.match(refused.err, /"kube-public" does not match the namespace "default"/);
    await ok('apply', '-f', file);
    assert.equal(
      await ok('get', 'cm', 'elsewhere', '-n', 'kube-public', '-o', 'name'),
      'configmap/elsewhere\n',
    );
  });

  it('a dry run changes nothing', async () => {
    const stdin = configMap('dry');
    for (const [how, note] of [
      ['client', 'dry run'],
      ['server', 'server dry run'],
    ]) {
      const result = await ctl(['apply', '-f', '-', `--dry-run=${how}`], { stdin });
      assert.deepEqual(result, { status: 0, out: `configmap/dry created (${note})\n`, err: '' });
    }
    assert.equal((await ctl(['get', 'cm', 'dry'])).status, 1);
  });

  it('create refuses what exists, and takes names from the server', async () => {
    const generated = configMap('x').replace('name: x', 'generateName: gen-');
    assert.match(
      (await ctl(['create', '-f', '-'], { stdin: generated })).out,
      /^configmap\/gen-\w{5} created\n$/,
    );
    const stdin = configMap('twice');
    assert.equal((await ctl(['create', '-f', '-'], { stdin })).status, 0);
    const { status, err } = await ctl(['create', '-f', '-'], { stdin });
    assert.equal(status, 1);
    assert.equal(
      err,
      'Error from server (AlreadyExists): error when creating "STDIN:1": configmaps "twice" already exists\n',
    );
  });

  it('an object created without apply is adopted, with a warning', async () => {
    await ctl(['create', '-f', '-'], { stdin: configMap('taken', '{a: "1", b: "2"}') });
    const { status, out, err } = await ctl(['apply', '-f', '-'], { stdin: configMap('taken', '{a: "3"}') });
    assert.deepEqual([status, out], [0, 'configmap/taken configured\n']);
    assert.match(err, /^Warning: resource configmaps\/taken is missing the kubectl\S+ annotation/);
    assert.equal(await ok('get', 'cm', 'taken', '-o', 'jsonpath={.data}'), '{"a":"3","b":"2"}');
  });

  it('get -w shows the existing objects, then changes, and ends with 130 when interrupted', async () => {
    const stop = new AbortController();
    let deleted = false;
    const watching = ctl(['get', 'cm', '-w', '-n', 'kube-system'], {
      signal: stop.signal,
      onOut: (out) => {
        const rows = out.split('\n').filter((line) => line.startsWith('watched ')).length;
        if (rows > 0 && !deleted) {
          deleted = true;
          void ctl(['delete', 'cm', 'watched', '-n', 'kube-system']);
        }
        if (rows > 1) stop.abort(new DOMException('stopped', 'AbortError'));
      },
    });
    const created = await ctl(['create', '-f', '-', '-n', 'kube-system'], { stdin: configMap('watched') });
    assert.equal(created.status, 0, created.err);
    const { status, out, err } = await watching;
    assert.deepEqual([status, err], [130, '']);
    assert.match(out, /^NAME +DATA +AGE\nwatched +0 +\d+s\nwatched +0 +\d+s\n/);
  });

  it('sorting by a field that no object has, or that has no order, is rejected', async () => {
    const unsorted = (field: string) => ctl(['get', 'pods', '--sort-by', field]);
    assert.deepEqual(await unsorted('.spec.nosuch'), {
      status: 1,
      out: '',
      err: 'error: couldn\'t find any field with path "{.spec.nosuch}" in the list of objects\n',
    });
    assert.match((await unsorted('.metadata.labels')).err, /are objects, which have no order/);
  });

  it('custom columns of a watch have their headers once', async () => {
    const stop = new AbortController();
    const columns = 'custom-columns=NAME:.metadata.name,V:.data.v';
    const watching = ctl(['get', 'cm', '-w', '-n', 'kube-public', '-o', columns], {
      signal: stop.signal,
      onOut: (out) => {
        if (/^columns +2$/m.test(out)) stop.abort(new DOMException('stopped', 'AbortError'));
        else if (/^columns +1$/m.test(out))
          void ctl(['patch', 'cm', 'columns', '-n', 'kube-public', '-p', '{"data":{"v":"2"}}']);
      },
    });
    await ctl(['create', '-n', 'kube-public', '-f', '-'], { stdin: configMap('columns', '{v: "1"}') });
    const { out } = await watching;
    assert.equal(out.match(/NAME/g)?.length, 1, out);
    assert.match(out, /^NAME +V\n/);
    await ctl(['delete', 'cm', 'columns', '-n', 'kube-public']);
  });

  it('delete waits for finalizers, and gives up after --timeout', async () => {
    const stdin = configMap('held').replace('{name: held}', '{name: held, finalizers: [example.com/x]}');
    await ctl(['create', '-f', '-'], { stdin });
    const late = await ctl(['delete', 'cm', 'held', '--timeout=1s']);
    assert.equal(late.status, 1);
    assert.equal(late.err, 'error: timed out waiting for configmaps/held to be deleted\n');
    const waiting = ctl(['delete', 'cm', 'held'], {
      onOut: () => void ctl(['patch', 'cm', 'held', '-p', '{"metadata":{"finalizers":null}}']),
    });
    assert.deepEqual(await waiting, { status: 0, out: 'configmap "held" deleted\n', err: '' });
    assert.equal((await ctl(['get', 'cm', 'held'])).status, 1);
  });

  it('delete by selector and --all deletes only the selected objects', async () => {
    for (const name of ['s-a', 's-b'])
      await ctl(['create', '-f', '-', '-n', 'kube-node-lease'], { stdin: configMap(name) });
    await ok('label', 'cm', 's-a', 'x=y', '-n', 'kube-node-lease');
    assert.equal(await ok('delete', 'cm', '-l', 'x=y', '-n', 'kube-node-lease'), 'configmap "s-a" deleted\n');
    assert.equal(await ok('delete', 'cm', '--all', '-n', 'kube-node-lease'), 'configmap "s-b" deleted\n');
    assert.equal(await ok('delete', 'cm', '--all', '-n', 'kube-node-lease'), 'No resources found\n');
  });

  it('a pod is removed at once with --force, and gets a second with --now', async () => {
    await server.call('POST', '/api/v1/namespaces/kube-public/pods', pod('forced', ['c']));
    const { status, out, err } = await ctl(['delete', 'pod', 'forced', '--force', '-n', 'kube-public']);
    assert.deepEqual([status, out], [0, 'pod "forced" force deleted\n']);
    assert.match(err, /^Warning: Immediate deletion does not wait/);
    await server.call('POST', '/api/v1/namespaces/kube-public/pods', pod('now', ['c']));
    await ok('delete', 'pod', 'now', '--now', '--wait=false', '-n', 'kube-public');
    const path = 'jsonpath={.metadata.deletionGracePeriodSeconds}';
    assert.equal(await ok('get', 'pod', 'now', '-o', path, '-n', 'kube-public'), '1');
  });

  it('rollout status waits by a watch', async () => {
    const status = { observedGeneration: 99, replicas: 2, updatedReplicas: 2 };
    let step = 0;
    const advance = async () => {
      const available = step++;
      const body = { status: { ...status, availableReplicas: available } };
      await server.call('PATCH', `${deployments}/web/status`, body, {
        headers: { 'content-type': 'application/merge-patch+json' },
      });
    };
    const waiting = ctl(['rollout', 'status', 'deploy/web'], { onOut: () => void advance() });
    const finishing = 'Waiting for deployment "web" rollout to finish:';
    assert.deepEqual(await waiting, {
      status: 0,
      err: '',
      out:
        'Waiting for deployment spec update to be observed...\n' +
        `${finishing} 0 of 2 updated replicas are available...\n` +
        `${finishing} 1 of 2 updated replicas are available...\n` +
        'deployment "web" successfully rolled out\n',
    });
    const missing = await ctl(['rollout', 'status', 'deploy/nosuch']);
    assert.deepEqual(await ctl(['-n', 'default', 'rollout', 'status', 'deploy/nosuch']), missing);
    assert.equal(missing.err, 'Error from server (NotFound): deployments.apps "nosuch" not found\n');
  });

  it('rollout reads revisions of 64 bits exactly', async () => {
    const made = await server.call('POST', deployments, { ...deployment, metadata: { name: 'old' } });
    const { uid } = made.json<{ metadata: { uid: string } }>().metadata;
    // Adjacent numbers, which are equal as 53-bit numbers.
    for (const revision of ['3546343826724305832', '3546343826724305833']) {
      const annotations = { 'deployment.kubernetes.io/revision': revision };
      const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'old', uid };
      const { template } = deployment.spec;
      const containers = [{ name: 'c', image: `x:${revision}` }];
      const set = await server.call('POST', '/apis/apps/v1/namespaces/default/replicasets', {
        metadata: { name: `old-${revision}`, labels: { app: 'web' }, annotations, ownerReferences: [owner] },
        spec: { ...deployment.spec, template: { ...template, spec: { containers } } },
      });
      assert.equal(set.status, 201, set.text);
    }
    const rows = (await ok('rollout', 'history', 'deployment/old')).match(/^\d+/gm);
    assert.deepEqual(rows, ['3546343826724305832', '3546343826724305833']);
    await ok('rollout', 'undo', 'deployment/old', '--to-revision=3546343826724305832');
    const image = await ok('get', 'deployment', 'old', '-o', 'jsonpath={..image}');
    assert.equal(image, 'x:3546343826724305832');
    await server.call('DELETE', `${deployments}/old`);
  });

  it('scale sets replicas, with --current-replicas only from there', async () => {
    assert.equal(await ok('scale', 'deployment', 'web', '--replicas', '5'), 'deployment.apps/web scaled\n');
    const { status, err } = await ctl(['scale', 'deployment/web', '--replicas=1', '--current-replicas=2']);
    assert.deepEqual([status, err], [1, 'error: Expected replicas to be 2, was 5\n']);
    await ok('scale', 'deployment/web', '--replicas=1', '--current-replicas=5');
    assert.equal(await ok('get', 'deploy', 'web', '-o', 'jsonpath={.spec.replicas}'), '1');
    assert.match((await ctl(['scale', 'cm/twice', '--replicas=1'])).err, /^error: cannot scale configmaps/);
  });

  it('autoscale creates an autoscaler only for kinds with replicas', async () => {
    const made = await ok('autoscale', 'deployment', 'web', '--min=2', '--max=5', '--cpu-percent=60');
    assert.equal(made, 'horizontalpodautoscaler.autoscaling/web autoscaled\n');
    assert.equal(
      await ok('autoscale', 'deploy/web', '--max', '3', '--name=b', '-o', 'name'),
      'horizontalpodautoscaler.autoscaling/b\n',
    );
    const spec = async (name: string) => JSON.parse(await ok('get', 'hpa', name, '-o', 'jsonpath={.spec}'));
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    const cpu = (averageUtilization: number) => [
      { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } },
    ];
    assert.deepEqual(await spec('web'), { scaleTargetRef, minReplicas: 2, maxReplicas: 5, metrics: cpu(60) });
    assert.deepEqual(await spec('b'), { scaleTargetRef, minReplicas: 1, maxReplicas: 3, metrics: cpu(80) });
    assert.match((await ctl(['autoscale', 'deploy/web', '--max=3'])).err, /AlreadyExists|already exists/);
    const { status, err } = await ctl(['autoscale', 'cm/twice', '--max=3']);
    assert.deepEqual([status, err], [1, 'error: cannot autoscale a ConfigMap: it has no replicas\n']);
    await ok('delete', 'hpa', 'web', 'b');
  });

  it('logs work for a pod, one of its containers, and the pods of a deployment', async () => {
    assert.equal(await ok('logs', 'one'), 'log of /containerLogs/default/one/c\nlast line');
    assert.match(
      await ok('logs', 'pod/two', '-c', 'b', '--tail=5', '--since=2m', '--timestamps', '-p'),
      /two\/b\n/,
    );
    const query = new URLSearchParams(asked.at(-1)?.split('?')[1]);
    assert.deepEqual(Object.fromEntries(query), {
      tailLines: '5',
      sinceSeconds: '120',
      timestamps: 'true',
      previous: 'true',
    });
    const defaulted = await ctl(['logs', 'two']);
    assert.deepEqual([defaulted.status, defaulted.err], [0, 'Defaulted container "a" out of: a, b\n']);
    const chosen = await ctl(['logs', 'deployment/web']);
    assert.deepEqual(
      [chosen.out, chosen.err],
      ['log of /containerLogs/default/one/c\nlast line', 'Found 2 pods, using pod/one\n'],
    );
    assert.equal(
      await ok('logs', '-l', 'app=web', '--all-containers', '--prefix', '--follow').then(
        (out) => out.match(/last line/g)?.length,
      ),
      3,
    );
    assert.match((await ctl(['logs', 'one', '-c', 'z'])).err, /container z is not valid for pod one/);
    assert.match((await ctl(['logs', 'nosuch'])).err, /pods "nosuch" not found/);
  });

  it('describe shows everything, and events', async () => {
    const regarding = JSON.parse(await ok('get', 'pod', 'one', '-o', 'json')).metadata.uid;
    await server.call('POST', '/api/v1/namespaces/default/events', {
      metadata: { name: 'e' },
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'one', uid: regarding },
      reason: 'Started',
      message: 'Started container c',
      type: 'Normal',
      source: { component: 'kubelet' },
      lastTimestamp: new Date().toISOString(),
    });
    const out = await ok('describe', 'pod', 'one');
    assert.match(out, /^Name: +one\nNamespace: +default\n/);
    assert.match(out, /^ {2}Normal +Started +\d+s +kubelet +Started container c$/m);
  });
});
