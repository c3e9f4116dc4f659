/** The commands against the real API server over HTTPS: what they do, and how they end. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Ctl, ctlFor, noHome } from '../../fixtures/ctl.ts';
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

describe('ctl', { timeout: 120_000 }, () => {
  let server: HttpsTestServer;
  let kubeconfig: string;
  let ctl: Ctl;
  /** What the node agent was asked. */
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

  it('of three documents with a bad one, what comes before is applied, and the bad one is named', async () => {
    const file = join(server.directory, 'three.yaml');
    const bad = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b\n x: [\n';
    await writeFile(file, [configMap('t-a'), bad, configMap('t-c')].join('---\n'));
    const result = await ctl(['apply', '-f', file]);
    assert.equal(result.status, 1);
    assert.equal(result.out, 'configmap/t-a created\n');
    assert.match(result.err, /^error: error parsing \S+three\.yaml:\d+: .*\n$/);
  });

  it('every error is reported in a line, and everything else is applied', async () => {
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
      'error: F:6: the server has no kind Foo in foo/v1; see ctl api-resources for what it serves',
      'error: F:10: the server has no kind Deployment in apps/v1beta1; Deployment is served as apps/v1',
      'error: F:19: metadata.name is missing: the ConfigMap needs a name',
      'error: F:22: metadata.name: expected text, got 5: quote it',
      'Error from server (BadRequest): error when creating "F:14": ConfigMap in version "v1" cannot be ' +
        'handled as a ConfigMap: strict decoding error: unknown field "misspelt"',
    ]);
  });

  it('a manifest for another namespace than -n is refused; objects go where they say', async () => {
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

  it('an object made without apply is taken over, with a warning', async () => {
    await ctl(['create', '-f', '-'], { stdin: configMap('taken', '{a: "1", b: "2"}') });
    const { status, out, err } = await ctl(['apply', '-f', '-'], { stdin: configMap('taken', '{a: "3"}') });
    assert.deepEqual([status, out], [0, 'configmap/taken configured\n']);
    assert.match(err, /^Warning: resource configmaps\/taken is missing the kubectl\S+ annotation/);
    assert.equal(await ok('get', 'cm', 'taken', '-o', 'jsonpath={.data}'), '{"a":"3","b":"2"}');
  });

  it('get -w shows what is there, then changes, and ends with 130 when interrupted', async () => {
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

  it('a field that nothing has, or that has no order, is no order to sort by', async () => {
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

  it('delete by selector and --all takes those alone', async () => {
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

  it('rollout knows revisions of 64 bits exactly', async () => {
    const made = await server.call('POST', deployments, { ...deployment, metadata: { name: 'old' } });
    const { uid } = made.json<{ metadata: { uid: string } }>().metadata;
    // Next to each other, and the same number to those who count with 53 bits.
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

  it('logs of a pod, of one of its containers, and of what a deployment stands for', async () => {
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

  it('config: the current context and its namespace are changed in the file, and nothing else', async () => {
    const file = join(server.directory, 'two.conf');
    const text = JSON.parse(readFileSync(kubeconfig, 'utf8'));
    text.contexts.push({ name: 'other', context: { ...text.contexts[0].context, namespace: 'kube-system' } });
    text.extra = { kept: true };
    await writeFile(file, JSON.stringify(text));
    const other = ctlFor(file);
    assert.equal((await other(['config', 'use-context', 'other'])).out, 'Switched to context "other".\n');
    assert.equal((await other(['config', 'current-context'])).out, 'other\n');
    assert.match((await other(['get', 'pods'])).err, /No resources found in kube-system namespace/);
    await other(['config', 'set-context', '--current', '--namespace=kube-public']);
    assert.match((await other(['get', 'svc'])).err, /No resources found in kube-public namespace/);
    assert.match(
      (await other(['config', 'get-contexts'])).out,
      /^\* +other +test +kubernetes-admin +kube-public$/m,
    );
    assert.match(readFileSync(file, 'utf8'), /kept: true/);
    assert.match(
      (await other(['config', 'use-context', 'nope'])).err,
      /no context exists with the name: "nope"/,
    );
  });

  it('the kubeconfig is found where it may be', async () => {
    const data = join(server.directory, 'data');
    await mkdir(data);
    await writeFile(join(data, 'admin.conf'), readFileSync(kubeconfig));
    const env = { MINIK8S_DATA_DIR: data };
    assert.equal((await ctlFor(undefined)(['get', 'ns', '-o', 'name'], { env })).status, 0);
    const nowhere = await ctlFor(undefined)(['get', 'ns'], { env: { MINIK8S_DATA_DIR: '/nonexistent' } });
    assert.equal(nowhere.status, 1);
    assert.match(nowhere.err, /no kubeconfig found \(looked at .*admin\.conf\): name one with --kubeconfig/);
  });

  it('a server that is down is named by its address', async () => {
    const file = join(server.directory, 'down.conf');
    await writeFile(file, readFileSync(kubeconfig, 'utf8').replace(`:${server.port}`, ':1'));
    const { status, err } = await ctlFor(file)(['get', 'pods']);
    assert.equal(status, 1);
    assert.match(
      err,
      /^error: cannot reach the API server at https:\/\/127\.0\.0\.1:1: connection refused.*\n$/,
    );
  });

  const usage: [args: string[], err: RegExp][] = [
    [['get'], /say which resource/],
    [['get', 'pods', '--nope'], /unknown flag --nope; see minik8s ctl get --help/],
    [['get', 'pods', '-o', 'xml'], /unable to match a printer suitable for the output format "xml"/],
    [['get', 'pods', 'pod/x'], /must be TYPE\/NAME each/],
    [['get', 'pods', 'x', '-l', 'a=b'], /cannot be combined with a selector/],
    [['get', 'pods,svc', '-w'], /single resource type or object with --watch/],
    [['get', 'pods', '-z'], /unknown flag -z/],
    [['get', 'pods', '--sort-by'], /option '--sort-by <value>' argument missing/],
    [['get', 'pods', '--watch=maybe'], /'-w, --watch' does not take an argument/],
    [['get', 'pods', '-o', 'json=x'], /unable to match a printer .* "json=x"/],
    [['get', 'pods', '-o', 'jsonpath-file=/nonexistent'], /error reading template \/nonexistent/],
    [['get', 'pods', '--subresource=status'], /needs the names of the objects/],
    [['get', 'pods', '--raw', '/readyz'], /arguments may not be passed when --raw is specified/],
    [['get', '--raw', 'readyz'], /must be a path of the API/],
    [['get', 'pods', '--chunk-size=-1'], /--chunk-size must be 0 or more, got -1/],
    [['get', '-f', 'a.yaml', 'pods'], /-f says which objects: leave out the resource type/],
    [['apply', '-f', '-', '-f', '-'], /standard input cannot be used for multiple arguments/],
    [['apply', '-f', ''], /-f: the name of a file is missing/],
    [['apply', '-f', 'http://127.0.0.1:1/web.yaml'], /unable to read URL "http:\S+": .*ECONNREFUSED/],
    [['run', '--image=a:1', '--', 'x'], /give the pod a name/],
    [['run', 'x'], /--image is required/],
    [['run', 'x', '--image=a:1', '-t'], /-t needs -i/],
    [['run', 'x', '--image=a:1', '--rm'], /--rm needs --attach or -i/],
    [['run', 'x', '--image=a:1', '-i', '--dry-run=client'], /leave out --attach and -i/],
    [['run', 'x', '--image=a:1', '--env=A'], /invalid env: "A": say KEY=VALUE/],
    [['run', 'x', '--image=a:1', '--restart=Sometimes'], /--restart: expected Always, OnFailure, Never/],
    [['delete'], /say which objects: TYPE NAME, TYPE\/NAME, or -f FILE/],
    [['apply'], /say what to apply: -f FILE/],
    [['delete', 'pods'], /no name was specified/],
    [['delete', 'pod', 'x', '--grace-period=0'], /needs --force/],
    [['scale', 'deploy', 'web'], /--replicas=COUNT is required/],
    [['scale', 'deploy', 'web', '--replicas', '-1'], /--replicas=COUNT is required, and COUNT must be 0/],
    [['logs'], /say which pod/],
    [['create', 'deployment', 'x', '--image=a:1'], /ctl create deployment: kubectl has it and ctl does not;/],
    [['create', 'nonsense'], /ctl create: unexpected argument 'nonsense'/],
    [
      ['rollout', 'pause', 'deploy/x'],
      /ctl rollout: unknown command pause: kubectl has it and ctl does not;/,
    ],
    [['apply', '-k', '.'], /ctl apply: unknown flag -k: kubectl has it and ctl does not;/],
    [['delete', '--kustomize=.'], /unknown flag --kustomize: kubectl has it and ctl does not;/],
    [['get', 'jobs'], /^error: jobs are known to Kubernetes, not served by minik8s\n$/],
    [['get', 'sts,pods'], /^error: statefulsets are known to Kubernetes, not served by minik8s\n$/],
    [['top', 'nodes'], /unknown command top: it needs metrics, which minik8s does not serve yet, so kubectl/],
    [['autoscale', 'deploy/x'], /unknown command autoscale: kubectl has it and ctl does not;/],
    [['completion', 'bash'], /unknown command completion: kubectl has it and ctl does not;/],
    [['bogus'], /unknown command bogus; see minik8s ctl --help/],
    [['nope'], /unknown command nope; see minik8s ctl --help/],
    [['rollout', 'nope'], /unknown command nope; known: status/],
  ];
  for (const [args, message] of usage) {
    it(`refuses ${args.join(' ')}`, async () => {
      const { status, out, err } = await ctl(args);
      assert.deepEqual([status, out], [1, '']);
      assert.match(err, message);
      assert.equal(err.split('\n').length, 2, err);
    });
  }

  const program = (args: string[], stdio: 'pipe' | ['ignore', 'pipe', 'pipe'] = 'pipe') =>
    spawn(process.execPath, [join(import.meta.dirname, '../../../src/main.ts'), 'ctl', ...args], {
      env: { KUBECONFIG: kubeconfig, HOME: noHome },
      stdio,
    });

  it('Ctrl-C ends a watch with 130 and not a word', async () => {
    const child = program(['get', 'ns', '-w']);
    let err = '';
    child.stderr?.on('data', (chunk) => {
      err += chunk;
    });
    if (child.stdout) await once(child.stdout, 'data');
    child.kill('SIGINT');
    assert.deepEqual([...(await once(child, 'exit')), err], [130, null, '']);
  });

  it('a reader that stops reading is no failure', async () => {
    const child = program(['get', 'ns', '-w', '-o', 'name']);
    let err = '';
    child.stderr?.on('data', (chunk) => {
      err += chunk;
    });
    if (child.stdout) await once(child.stdout, 'data');
    child.stdout?.destroy();
    await server.call('POST', '/api/v1/namespaces', { metadata: { name: 'unread' } });
    assert.deepEqual([...(await once(child, 'exit')), err], [0, null, '']);
  });
});
