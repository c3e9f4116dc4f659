/** `ctl expose`, templates, and objects printed after a change, beside kubectl 1.32: the same bytes. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import type { Ctl } from '../../fixtures/ctl.ts';
import { goTemplates, templateData } from '../../fixtures/go-templates.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';
import { configMap, container, deployment } from './parity-cases.ts';

describe('ctl beside kubectl 1.32', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubectl: Ctl;
  let directory: string;

  before(async () => {
    ({ server, ctl, kubectl } = await startBesideKubectl());
    directory = await mkdtemp(join(tmpdir(), 'expose-parity-'));
    const ports = [
      { containerPort: 80 },
      { containerPort: 53, protocol: 'UDP', name: 'dns' },
      { containerPort: 53, name: 'dns-tcp' },
    ];
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'one', labels: { app: 'one', tier: 'a' } },
      spec: { containers: [container('c', { ports: [{ containerPort: 8080 }] })] },
    };
    const bare = { ...pod, metadata: { name: 'bare' } };
    const items = [deployment({}, [container('c', { ports })]), pod, bare, configMap({ a: '<b>', n: '12' })];
    const list = { apiVersion: 'v1', kind: 'List', items };
    const applied = await kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(list) });
    assert.equal(applied.status, 0, applied.err);
  });
  after(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });

  for (const line of [
    'deployment web',
    'deploy/web --port=80 --name=front',
    'deployment web --port=80 --target-port=http --type=NodePort -l a=b,c=d',
    'deployment web --port=53 --protocol=UDP --selector=x=y',
    'deployment web --port=80,81 --external-ip=10.1.2.3 --session-affinity=ClientIP',
    'deployment web --port=80 --type=LoadBalancer --load-balancer-ip=10.1.2.4 -n default',
    'pod one',
    'pod one --cluster-ip=None --port=9',
    'pod/one --target-port=7',
  ])
    it(`expose ${line} prints the same`, async () => {
      for (const output of ['yaml', 'json', 'name', '']) {
        const args = ['expose', ...line.split(' '), '--dry-run=client', ...(output ? ['-o', output] : [])];
        const [ours, theirs] = [await ctl(args), await kubectl(args)];
        assert.equal(ours.out, theirs.out, ours.err);
        assert.equal(ours.status, theirs.status);
      }
    });

  for (const line of [
    'pod bare',
    'configmap settings --port=1',
    'pod nosuch',
    'pod one --port=x',
    'pod one --session-affinity=x',
    'pod',
  ])
    it(`expose ${line} is rejected`, async () => {
      const args = ['expose', ...line.split(' ')];
      const [ours, theirs] = [await ctl(args), await kubectl(args)];
      assert.deepEqual([ours.status, theirs.status, ours.out], [1, 1, ''], theirs.err);
      assert.match(ours.err, /^(error|Error from server)/);
    });

  it('expose makes a Service that kubectl finds', async () => {
    const made = await ctl(['expose', 'deployment', 'web', '--port=80', '--name=made']);
    assert.deepEqual(made, { status: 0, err: '', out: 'service/made exposed\n' });
    const { out } = await kubectl([
      'get',
      'service',
      'made',
      '-o',
      'jsonpath={.spec.selector}{.spec.ports[0].port}',
    ]);
    assert.equal(out, '{"app":"web"}80');
  });

  it('every Go template prints the same as in kubectl', async () => {
    const stdin = JSON.stringify(templateData);
    const annotate = ['annotate', '--local', '-f', '-', 'tool=yes', '--template'];
    for (const [template, expected] of goTemplates) {
      const { out, status } = await kubectl([...annotate, template, '-o', 'go-template'], { stdin });
      if (expected === undefined) assert.equal(status, 1, template);
      else assert.equal(out, expected, template);
    }
  });

  for (const flags of [
    ['-o', 'go-template={{.metadata.name}} {{.data.a}}{{range $k, $v := .data}} {{$k}}{{end}} {{.nope}}'],
    ['-o', 'go-template-file=DIR/template'],
    ['--template={{.kind}}'],
    ['-o', 'go-template', '--template={{.kind}}'],
    ['-o', 'template', '--template={{.kind}}'],
    ['-o', 'jsonpath', '--template={.kind}'],
    ['-o', 'jsonpath={.nope}', '--allow-missing-template-keys=false'],
    ['-o', 'go-template={{.nope}}', '--allow-missing-template-keys=false'],
    ['-o', 'json'],
    ['-o', 'yaml'],
    ['-o', 'go-template={{'],
    ['-o', 'go-template'],
  ])
    it(`get configmap settings ${flags.join(' ')} prints the same`, async () => {
      await writeFile(join(directory, 'template'), '{{range .data}}<{{.}}>{{end}}\n');
      const args = ['get', 'configmap', 'settings', ...flags.map((flag) => flag.replace('DIR', directory))];
      const [ours, theirs] = [await ctl(args), await kubectl(args)];
      assert.equal(ours.status, theirs.status, ours.err);
      if (ours.status === 0) assert.equal(ours.out, theirs.out);
    });

  it('get of a list prints numbers of a Go template as kubectl does', async () => {
    const template =
      '{{range .items}}{{range .spec.template.spec.containers}}{{range .ports}}{{.containerPort}} {{end}}{{end}}{{.metadata.generation}} {{end}}';
    const args = ['get', 'deployments', '-o', `go-template=${template}`];
    assert.deepEqual(await ctl(args), await kubectl(args));
  });

  for (const line of [
    'label configmap settings x=1 -o name --dry-run=client',
    'label configmap settings x=1 -o jsonpath={.metadata.labels}',
    'label configmap settings --list',
    'annotate configmap settings y=2 --dry-run=server -o go-template={{.metadata.annotations.y}}',
    'scale deployment web --replicas=1 -o name',
    'rollout pause deployment web -o name',
    'rollout resume deployment web -o name',
    'rollout pause deployment web -o go-template={{.spec.paused}}',
    'rollout resume deployment web -o jsonpath={.spec.paused}',
  ])
    it(`${line} prints the same`, async () => {
      const args = line.split(' ');
      const [ours, theirs] = [await ctl(args), await kubectl(args)];
      if (line.startsWith('rollout')) assert.equal(ours.status, 0, ours.err);
      else assert.deepEqual(ours, theirs);
    });

  it('cluster-info names the server and the cluster services as kubectl does', async () => {
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: 'dns',
        namespace: 'kube-system',
        labels: { 'kubernetes.io/cluster-service': 'true', 'kubernetes.io/name': 'CoreDNS' },
      },
      spec: { ports: [{ name: 'dns', port: 53 }] },
    };
    await kubectl(['create', 'namespace', 'kube-system']);
    assert.equal((await kubectl(['create', '-f', '-'], { stdin: JSON.stringify(service) })).status, 0);
    const [ours, theirs] = [await ctl(['cluster-info']), await kubectl(['cluster-info'])];
    const plain = (text: string) => stripVTControlCharacters(text).split('\n').slice(0, 2);
    assert.deepEqual(plain(ours.out), plain(theirs.out));
    assert.equal(plain(ours.out).length, 2);
  });

  it('lists plugins with the same names and warnings, and finds none on an empty PATH', async () => {
    for (const name of ['kubectl-hello', 'kubectl-plain'])
      await writeFile(join(directory, name), '#!/bin/sh\necho "$0" "$@"\nexit 3\n');
    await chmod(join(directory, 'kubectl-hello'), 0o755);
    for (const args of [
      ['plugin', 'list'],
      ['plugin', 'list', '--name-only'],
    ]) {
      const env = { PATH: directory };
      const [ours, theirs] = [await ctl(args, { env }), await kubectl(args, { env })];
      assert.equal(ours.out, theirs.out);
      assert.equal(ours.status, theirs.status);
      assert.match(ours.err, /kubectl-plain identified as a plugin, but it is not executable/);
    }
    assert.equal((await ctl(['plugin', 'list'], { env: { PATH: join(directory, 'none') } })).status, 1);
    const run = await ctl(['hello', 'a', '--flag'], { env: { PATH: `${directory}:/usr/bin:/bin` } });
    assert.equal(run.status, 3);
  });
});
