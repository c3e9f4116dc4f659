/** `cluster-info dump`, watched events and smaller flags beside kubectl 1.32: the same bytes. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import { type Ctl, noHome } from '../../fixtures/ctl.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { kubectlOf, unlessKubectl } from '../../fixtures/kubectls.ts';
import { configMap, container, deployment } from './parity-cases.ts';

describe('ctl beside kubectl 1.32', { timeout: 300_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubectl: Ctl;
  let kubeconfig: string;
  let directory: string;

  const create = async (path: string, object: object) => {
    const { status, text } = await server.call('POST', path, object);
    assert.equal(status, 201, text);
  };

  before(async () => {
    ({ server, ctl, kubectl, kubeconfig } = await startBesideKubectl());
    directory = await mkdtemp(join(tmpdir(), 'flags-parity-'));
    await create('/api/v1/nodes', { metadata: { name: 'one' } });
    const pod = {
      metadata: { name: 'web', labels: { b: '1', a: '2' } },
      spec: { initContainers: [container('init')], containers: [container('app'), container('side')] },
    };
    await create('/api/v1/namespaces/default/pods', pod);
    await create('/api/v1/namespaces/kube-system/services', {
      metadata: { name: 'dns' },
      spec: { ports: [{ port: 53, protocol: 'UDP' }] },
    });
    await create('/apis/apps/v1/namespaces/default/deployments', deployment());
    await create('/api/v1/namespaces/default/configmaps', configMap({ a: '<b>' }));
  });
  after(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });

  for (const line of [
    'cluster-info dump',
    'cluster-info dump -A -o yaml',
    'cluster-info dump --namespaces=default -o name --output-directory=-',
    'cluster-info dump --namespaces=default -o jsonpath={.items[*].metadata.name}',
    'cluster-info dump --namespaces=nosuch',
  ])
    it(`${line} prints the same`, async () => {
      const args = line.split(' ');
      const [ours, theirs] = await Promise.all([ctl(args), kubectl(args)]);
      // The test server has no nodes from which logs could be read.
      const logs = /^Request log error: .*$/gm;
      assert.deepEqual(
        { ...ours, out: ours.out.replaceAll(logs, '') },
        { ...theirs, out: theirs.out.replaceAll(logs, '') },
      );
    });

  it('cluster-info dump writes the same files', async () => {
    const filesOf = async (tool: Ctl, name: string) => {
      const folder = join(directory, name);
      const { status, out } = await tool(['cluster-info', 'dump', `--output-directory=${folder}`]);
      assert.deepEqual([status, out], [0, `Cluster info dumped to ${folder}\n`]);
      const files = (await readdir(folder, { recursive: true })).sort();
      const texts = files
        .filter((file) => file.endsWith('.json'))
        .map((file) => readFile(join(folder, file), 'utf8'));
      return [files, await Promise.all(texts)];
    };
    assert.deepEqual(await filesOf(ctl, 'ours'), await filesOf(kubectl, 'theirs'));
  });

  it('cluster-info dump writes into no other place than the folder', async () => {
    const { status, err } = await ctl([
      'cluster-info',
      'dump',
      '--namespaces=..',
      `--output-directory=${directory}`,
    ]);
    assert.equal(status, 1);
    assert.match(err, /"\.\." is not the name of an object/);
  });

  it('a watch prints the same events', async () => {
    const watched = ['configmaps', '--watch', '--output-watch-events'];
    const env = { KUBECONFIG: kubeconfig, HOME: noHome, PATH: '' };
    const outputs = ['', 'json', 'yaml', 'name', 'jsonpath={.type} {.object.metadata.name}{"\\n"}'];
    const runs = outputs.map((output) => {
      const args = ['get', ...watched, ...(output ? ['-o', output] : [])];
      const child = spawn(kubectlOf('1.32')?.path ?? '', args, { env });
      const stopping = new AbortController();
      const run = { theirs: '', ours: '', child, stopping, ended: Promise.resolve<unknown>(undefined) };
      child.stdout.on('data', (chunk) => (run.theirs += chunk));
      run.ended = ctl(args, { signal: stopping.signal, onOut: (out) => (run.ours = out) });
      return run;
    });
    const until = async (done: () => boolean) => {
      while (!done()) await new Promise((resolve) => setTimeout(resolve, 50));
    };
    await until(() =>
      runs.every(({ ours, theirs }) => ours.includes('settings') && theirs.includes('settings')),
    );
    await create('/api/v1/namespaces/default/configmaps', configMap({}, { name: 'second' }));
    await server.call('DELETE', '/api/v1/namespaces/default/configmaps/second');
    const isWhole = (text: string) => text.split(/second\b/).length > 2;
    await until(() => runs.every(({ ours, theirs }) => isWhole(ours) && isWhole(theirs)));
    for (const { child, stopping, ended } of runs) {
      child.kill();
      stopping.abort();
      await ended;
    }
    // Ages differ, and Go writes a key that is a dot without quotes.
    const stable = (text: string) => text.replaceAll(/ \d+s?\b *$/gm, '').replaceAll('".": {}', '.: {}');
    for (const { ours, theirs } of runs) assert.equal(stable(ours), stable(theirs));
    const [table] = runs;
    assert.match(
      table?.ours ?? '',
      /^EVENT +NAME .*\nADDED +settings .*\nADDED +second .*\nDELETED +second /,
    );
  });

  it('--output-watch-events needs a watch', async () => {
    const args = ['get', 'configmaps', '--output-watch-events'];
    const [ours, theirs] = await Promise.all([ctl(args), kubectl(args)]);
    assert.deepEqual(ours, theirs);
  });

  it('--warnings-as-errors fails only a command that caused a warning of the server', async () => {
    const stdin = JSON.stringify({ ...configMap({}, { name: 'warned' }), dta: 1 });
    for (const [args, input] of [
      [['get', 'configmaps', '-o', 'name', '--warnings-as-errors'], ''],
      [['create', '-f', '-', '--dry-run=server', '--validate=warn', '--warnings-as-errors'], stdin],
    ] as const) {
      const [ours, theirs] = await Promise.all([
        ctl(args, { stdin: input }),
        kubectl(args, { stdin: input }),
      ]);
      assert.deepEqual(ours, theirs);
      assert.equal(ours.status, input ? 1 : 0);
    }
  });

  it('scale waits for the replicas until the timeout', async () => {
    const args = ['scale', 'deployment', 'web', '--replicas=2'];
    const late = await ctl([...args, '--timeout=1s']);
    assert.equal(late.status, 1);
    assert.match(late.err, /timed out waiting for "web" to be synced/);
    const path = '/apis/apps/v1/namespaces/default/deployments/web';
    const done = ctl([...args, '--timeout=1m']);
    const current = (await server.call('GET', path)).json();
    await server.call('PUT', `${path}/status`, { ...current, status: { replicas: 2 } });
    assert.deepEqual(await done, { status: 0, err: '', out: 'deployment.apps/web scaled\n' });
  });

  it('logs --ignore-errors prints the errors of single logs and succeeds', async () => {
    const args = ['logs', 'web', '--all-containers', '--insecure-skip-tls-verify-backend'];
    const failed = await ctl(args);
    assert.deepEqual([failed.status, failed.out], [1, '']);
    const ignored = await ctl([...args, '--ignore-errors']);
    assert.deepEqual([ignored.status, ignored.err], [0, '']);
    assert.equal(ignored.out.match(/^error: /gm)?.length, 3);
  });

  it('logs --pod-running-timeout waits for a pod of a workload', async () => {
    const late = await ctl(['logs', 'deployment/web', '--pod-running-timeout=1s']);
    assert.match(late.err, /timed out waiting for the condition/);
    assert.equal(late.status, 1);
  });

  it('api-resources --cached prints the discovery that an earlier command stored', async () => {
    const cache = `--cache-dir=${join(directory, 'cache')}`;
    const fresh = await ctl(['api-resources', '--cached', cache]);
    assert.match(fresh.out, /^configmaps /m);
    const files = await readdir(join(directory, 'cache'), { recursive: true });
    const kept = files.filter((file) => file.endsWith('.json')).map((file) => join(directory, 'cache', file));
    assert.ok(kept.length > 0, files.join(' '));
    for (const file of kept)
      await writeFile(file, (await readFile(file, 'utf8')).replaceAll('"configmaps"', '"earliermaps"'));
    assert.match((await ctl(['api-resources', '--cached', cache])).out, /^earliermaps /m);
    assert.deepEqual(await ctl(['api-resources', cache]), fresh);
    assert.deepEqual(await ctl(['api-resources', '--cached', cache]), fresh);
  });
});
