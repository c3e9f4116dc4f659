/**
 * `ctl apply --prune` beside kubectl 1.32, by allowlist and by apply sets: the same objects are left, and
 * both print the same. What must not be pruned stays.
 */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';

const map = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { app: 'shop' }, ...more },
});
const secret = (name: string): JsonObject => ({ ...map(name), kind: 'Secret' });
const namespace = (name: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels: { app: 'shop' } },
});

describe('ctl apply --prune beside kubectl 1.32', { timeout: 600_000, skip: unlessKubectl('1.32') }, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubectl: Ctl;
  before(async () => {
    ({ server, ctl, kubectl } = await startBesideKubectl());
  });
  after(() => server.stop());

  const makeNamespace = async (name: string) => {
    await server.call('POST', '/api/v1/namespaces', { metadata: { name } });
  };
  const env = { KUBECTL_APPLYSET: 'true' };
  const applyWith = (tool: Ctl, objects: readonly JsonObject[], args: string) =>
    tool(['apply', '-f', '-', ...args.split(' ')], {
      stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
      env,
    });
  const left = async (name: string) =>
    (await ctl(['get', 'cm,secrets', '-n', name, '-o', 'name', '-l', 'app=shop'])).out;

  it('leaves the same objects and prints the same, step by step', async () => {
    const steps: readonly (readonly [readonly JsonObject[], string])[] = [
      [[map('a'), map('b'), secret('c')], '--prune -l app=shop'],
      [[map('a')], '--prune -l app=shop --dry-run=client'],
      [[map('a')], '--prune -l app=shop --dry-run=server'],
      [[map('a')], '--prune -l app=shop --prune-allowlist=core/v1/Secret'],
      [[map('a'), map('d')], '--prune -l app=shop -o name'],
      [[map('d')], '--prune --all --prune-allowlist=core/v1/ConfigMap --cascade=foreground'],
      [[map('e'), secret('f')], '--prune --all --prune-allowlist=core/v1/ConfigMap -o yaml'],
    ];
    for (const name of ['ours', 'them']) await makeNamespace(name);
    for (const [objects, args] of steps) {
      const [mine, other] = await Promise.all([
        applyWith(ctl, objects, `-n ours ${args}`),
        applyWith(kubectl, objects, `-n them ${args}`),
      ]);
      const plain = (text: string) =>
        text
          .replaceAll('them', 'ours')
          .replaceAll(/ {2}(uid|resourceVersion|creationTimestamp|deletionTimestamp): .*\n/g, '');
      assert.deepEqual(
        [mine.status, plain(mine.out)],
        [other.status, plain(other.out)],
        `${args}: ${mine.err}`,
      );
      assert.equal(await left('ours'), await left('them'), args);
    }
    assert.equal(await left('ours'), 'configmap/e\nsecret/f\n');
  });

  it('prunes nothing outside the namespace, without the annotation, and no namespace unless it is listed', async () => {
    for (const name of ['mine', 'other']) await makeNamespace(name);
    await applyWith(ctl, [map('old')], '-n other');
    await applyWith(ctl, [map('old'), namespace('pruned-later')], '-n mine');
    await server.call('POST', '/api/v1/namespaces/mine/configmaps', map('by-hand'));
    const { out, err } = await applyWith(ctl, [map('new')], '-n mine --prune -l app=shop');
    assert.deepEqual([out, err], ['configmap/new created\nconfigmap/old pruned\n', '']);
    assert.equal(await left('other'), 'configmap/old\n');
    assert.equal(await left('mine'), 'configmap/by-hand\nconfigmap/new\n');
    const args = '-n mine --prune -l app=shop --prune-allowlist=core/v1/Namespace';
    assert.equal(
      (await applyWith(ctl, [map('new')], args)).out,
      'configmap/new unchanged\nnamespace/pruned-later pruned\n',
    );
  });

  it('prunes nothing after a typo in the selector, a fault in a manifest or an object that is rejected', async () => {
    await makeNamespace('faults');
    await applyWith(ctl, [map('a'), map('b')], '-n faults');
    const refused: readonly (readonly [readonly JsonObject[], string, RegExp])[] = [
      [[map('a')], '-l app=shpo', /no objects passed to apply/],
      [[map('a')], '-l app=shop=x', /selector/],
      [
        [map('a'), { kind: 'Nosuch', apiVersion: 'v1', metadata: { labels: { app: 'shop' } } }],
        '--all',
        /Nosuch/,
      ],
      [[map('a'), map('Not_A_Name')], '-l app=shop', /Not_A_Name/],
      [[map('a')], '-l app=shop --prune-allowlist=core/v1/Nosuch', /no kind core\/v1\/Nosuch/],
      [[map('a')], '', /without explicitly passing --all/],
      [[map('a')], '--all -l app=shop', /cannot set --all and --selector/],
      [[map('a')], '--all --force', /--force cannot be used with --prune/],
      [[map('a')], '--all --server-side', /--prune is in alpha/],
      [[map('a')], '--applyset=x --all', /--all is incompatible/],
      [[map('a')], '--applyset=secrets/', /name cannot be blank/],
      [[map('a')], '--applyset=namespaces/x', /not permitted as an ApplySet parent/],
    ];
    for (const [objects, args, message] of refused) {
      const { status, err } = await applyWith(ctl, objects, `-n faults --prune ${args}`.trim());
      assert.equal(status, 1, args);
      assert.match(err, message);
      assert.equal(await left('faults'), 'configmap/a\nconfigmap/b\n', args);
    }
    const unset = await ctl(['apply', '-f', '-', '--prune', '--applyset=x', '-n', 'faults']);
    assert.match(unset.err, /set KUBECTL_APPLYSET=true/);
  });

  it('prunes nothing if a kind cannot be listed, and prunes the other objects if one deletion is forbidden', async () => {
    await makeNamespace('rights');
    await applyWith(ctl, [map('a'), map('b'), secret('c')], '-n rights');
    const grant = (verbs: string, resource: string, name: string) =>
      ctl(['create', 'role', name, '-n', 'rights', `--verb=${verbs}`, `--resource=${resource}`]).then(() =>
        ctl(['create', 'rolebinding', name, '-n', 'rights', `--role=${name}`, '--user=jane']),
      );
    await grant('get,list,create,patch', 'configmaps', 'maps');
    const jane = ctlFor(await server.kubeconfigFor('jane', []));
    const args =
      '-n rights --prune -l app=shop --prune-allowlist=core/v1/ConfigMap --prune-allowlist=core/v1/Secret';
    const unread = await applyWith(jane, [map('a')], args);
    assert.match(unread.err, /listing secrets for pruning: .*cannot list resource "secrets"/);
    assert.equal(await left('rights'), 'configmap/a\nconfigmap/b\nsecret/c\n');
    await grant('list,delete', 'secrets', 'secrets');
    const partly = await applyWith(jane, [map('a')], args);
    assert.equal(partly.status, 1);
    assert.match(partly.err, /pruning configmap\/b: .*cannot delete resource "configmaps"/);
    assert.equal(partly.out, 'configmap/a unchanged\nsecret/c pruned\n');
  });

  describe('apply sets', () => {
    const parentOf = async (name: string, kind = 'secret') => {
      const { out } = await ctl(['get', kind, 'set', '-n', name, '-o', 'json']);
      const { metadata } = JSON.parse(out) as { metadata: JsonObject };
      const text = JSON.stringify([metadata.labels, metadata.annotations]);
      return text
        .replaceAll(/kubectl\/v[\w.+-]+/g, 'kubectl/VERSION')
        .replaceAll(/applyset-[\w-]+-v1/g, 'ID');
    };

    it('keep the same parent and leave the same objects as with kubectl, which continues the set', async () => {
      const steps: readonly (readonly [readonly JsonObject[], string])[] = [
        [[map('a'), secret('b')], ''],
        [[map('a')], '--dry-run=server'],
        [[map('a')], '--server-side --force-conflicts'],
        [[map('c')], '--server-side'],
        [[secret('d')], ''],
      ];
      for (const name of ['set-a', 'set-b']) await makeNamespace(name);
      for (const [objects, args] of steps) {
        const flags = `--prune --applyset=set ${args}`.trim();
        const [mine, other] = await Promise.all([
          applyWith(ctl, objects, `-n set-a ${flags}`),
          applyWith(kubectl, objects, `-n set-b ${flags}`),
        ]);
        assert.deepEqual([mine.status, mine.out], [other.status, other.out], `${flags}: ${mine.err}`);
        assert.equal(await left('set-a'), await left('set-b'), args);
        assert.equal(await parentOf('set-a'), await parentOf('set-b'), args);
      }
      const flags = '--prune --applyset=set -n set-a';
      const next = await applyWith(kubectl, [map('e')], flags);
      assert.deepEqual([next.status, next.out], [0, 'configmap/e created\nsecret/d pruned\n'], next.err);
      const last = await applyWith(ctl, [map('f')], flags);
      assert.deepEqual([last.status, last.out], [0, 'configmap/f created\nconfigmap/e pruned\n'], last.err);
    });

    it('find the members in every namespace of the set, and refuse the parent of another tool', async () => {
      for (const name of ['set-c', 'set-d']) await makeNamespace(name);
      const far = map('far', { namespace: 'set-d', labels: { app: 'shop' } });
      const flags = ['--prune', '--applyset=configmaps/set', '-n', 'set-c'];
      // Objects of other namespaces cannot be applied together with --namespace: the parent is made by hand.
      assert.match((await applyWith(ctl, [far], flags.join(' '))).err, /does not match the namespace/);
      assert.equal((await applyWith(ctl, [map('near')], flags.join(' '))).status, 0);
      const annotate = (key: string, value: string) =>
        ctl([
          'annotate',
          'cm',
          'set',
          '-n',
          'set-c',
          '--overwrite',
          `applyset.kubernetes.io/${key}=${value}`,
        ]);
      await annotate('additional-namespaces', 'set-d');
      const label = (await ctl(['get', 'cm', 'near', '-n', 'set-c', '-o', 'jsonpath={.metadata.labels}']))
        .out;
      await server.call('POST', '/api/v1/namespaces/set-d/configmaps', {
        ...far,
        metadata: { name: 'far', labels: { ...JSON.parse(label), app: 'shop' } },
      });
      const pruned = await applyWith(ctl, [map('other')], flags.join(' '));
      assert.equal(
        pruned.out,
        'configmap/other created\nconfigmap/near pruned\nconfigmap/far pruned\n',
        pruned.err,
      );
      await annotate('tooling', 'helm/v3');
      const { err, out } = await applyWith(ctl, [map('new')], flags.join(' '));
      assert.match(err, /managed by tooling "helm" instead of "kubectl"/);
      assert.equal(out, '');
      assert.equal(await left('set-c'), 'configmap/other\n');
    });

    it('prune the remaining objects after an interrupted command', async () => {
      await makeNamespace('stopped');
      const flags = '--prune --applyset=set -n stopped';
      await applyWith(ctl, [map('a'), secret('b')], flags);
      const stop = new AbortController();
      const stopped = await ctl(['apply', '-f', '-', ...flags.split(' ')], {
        stdin: JSON.stringify(map('c')),
        env,
        signal: stop.signal,
        onOut: () => stop.abort(),
      });
      assert.equal(stopped.out, 'configmap/c created\n');
      assert.equal(await left('stopped'), 'configmap/a\nconfigmap/c\nsecret/b\n');
      assert.match(await parentOf('stopped'), /"ConfigMap,Secret"/);
      const again = await applyWith(ctl, [map('c')], flags);
      assert.equal(again.out, 'configmap/c unchanged\nconfigmap/a pruned\nsecret/b pruned\n', again.err);
    });
  });

  it('diff --prune shows what apply --prune would delete, and no values of Secrets', async () => {
    await makeNamespace('shown');
    const hidden = { ...secret('c'), stringData: { key: 'a-secret-value' } };
    await applyWith(ctl, [map('a'), map('b'), hidden], '-n shown');
    const folder = join(server.directory, 'shown');
    await mkdir(folder);
    await writeFile(join(folder, 'a.json'), JSON.stringify(map('a')));
    const path = process.env.PATH ?? '';
    const run = (...args: string[]) =>
      ctl(['diff', '-n', 'shown', '-f', folder, ...args], { env: { PATH: path } });
    const { status, out } = await run('--prune', '-l', 'app=shop');
    assert.equal(status, 1, out);
    assert.match(out, /^- {2}name: b$/m);
    assert.match(out, /^- {2}name: c$/m);
    assert.doesNotMatch(out, /a-secret-value|YS1zZWNyZXQ/);
    assert.deepEqual(await run('--prune', '--prune-allowlist=core/v1/Service'), {
      status: 0,
      out: '',
      err: '',
    });
    const onServer = await run('--server-side', '--concurrency=4');
    assert.deepEqual([onServer.status, onServer.err], [1, '']);
    assert.match(onServer.out, /^@@ /m);
    assert.match((await run('--force-conflicts')).err, /only works with --server-side/);
  });
});
