/**
 * Flags of create, replace, delete, apply, edit, autoscale and api-resources beside kubectl 1.32: the same
 * output, and the same objects on the server.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { startBesideKubectl } from '../../fixtures/beside-kubectl.ts';
import type { Ctl, CtlOptions } from '../../fixtures/ctl.ts';
import type { HttpsTestServer } from '../../fixtures/https-api-server.ts';
import { unlessKubectl } from '../../fixtures/kubectls.ts';

const map = (name: string, data: JsonObject = {}, labels: JsonObject = { app: 'shop' }): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels },
  data,
});
const web: JsonObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'c:1' }] } },
  },
};
const moved: JsonObject = {
  ...web,
  spec: {
    selector: { matchLabels: { app: 'web', x: 'y' } },
    template: {
      metadata: { labels: { app: 'web', x: 'y' } },
      spec: { containers: [{ name: 'c', image: 'c:1' }] },
    },
  },
};

/** Command lines, run one after the other; the objects are the standard input, the text is a sed script. */
const steps: readonly (readonly [string, (readonly JsonObject[])?, string?])[] = [
  ['create -f - -l app=shop', [map('a'), map('b', {}, { app: 'other' })]],
  ['create -f - -l app=none', [map('a')]],
  ['create -f - --save-config', [map('saved', { k: '<1>' })]],
  ['get cm saved -o jsonpath={.metadata.annotations}'],
  ['apply view-last-applied cm/saved'],
  ['apply view-last-applied cm/saved -o json'],
  ['apply view-last-applied cm/saved -o nosuch'],
  ['apply set-last-applied -f -', [map('a', { k: '2' })]],
  ['apply set-last-applied -f - --create-annotation --dry-run=client', [map('a', { k: '2' })]],
  ['apply set-last-applied -f - --create-annotation', [map('a', { k: '2' })]],
  ['apply set-last-applied -f - -o name', [map('a', { k: '2' })]],
  ['get cm a -o jsonpath={.metadata.annotations}{.data}'],
  ['apply set-last-applied -f - --create-annotation', [map('nosuch')]],
  ['apply edit-last-applied cm/a', undefined, 's/k: "2"/k: "3"/'],
  ['apply edit-last-applied cm/a', undefined, 's/nothing/x/'],
  ['get cm a -o jsonpath={.metadata.annotations}'],
  ['replace -f - --save-config', [map('a', { k: '4' })]],
  ['get cm a -o jsonpath={.metadata.annotations}{.data}'],
  ['edit cm a --output-patch', undefined, 's/k: "4"/k: "5"/'],
  ['edit cm a --save-config', undefined, 's/k: "5"/k: "6"/'],
  ['get cm a -o jsonpath={.data}'],
  ['edit cm a --template={{.kind}}', undefined, 's/k: "6"/k: "7"/'],
  ['edit cm a --windows-line-endings', undefined, 's/k: "7"\\r$/k: "8"\\r/'],
  ['get cm a -o jsonpath={.data}'],
  ['create -f - --edit', [map('edited', { k: '1' })], 's/k: "1"/k: "2"/'],
  ['create -f - --edit', [map('unedited', { k: '1' })], 's/nothing/x/'],
  ['get cm -o jsonpath={range~.items[*]}{.metadata.name}{.data.k}{"\\n"}{end}'],
  ['apply -f -', [web]],
  ['apply -f - --force --timeout=60s', [moved]],
  ['get deploy web -o jsonpath={.spec.selector}'],
  ['apply -f - --server-side --subresource=status', [{ ...web, spec: undefined, status: { replicas: 3 } }]],
  ['get deploy web -o jsonpath={.status.replicas}'],
  ['autoscale deploy web --max=4 --min=2 --cpu-percent=70 --save-config'],
  ['get hpa web -o jsonpath={.metadata.annotations}'],
  ['delete cm edited -i', undefined, undefined],
  ['delete cm a edited --interactive --ignore-not-found', undefined, undefined],
  ['delete deploy web --cascade=nosuch'],
];

describe('flags of ctl that write beside kubectl 1.32', {
  timeout: 600_000,
  skip: unlessKubectl('1.32'),
}, () => {
  let server: HttpsTestServer;
  let ctl: Ctl;
  let kubectl: Ctl;
  before(async () => {
    ({ server, ctl, kubectl } = await startBesideKubectl());
    for (const name of ['ours', 'them'])
      await server.call('POST', '/api/v1/namespaces', { metadata: { name } });
  });
  after(() => server.stop());

  const words = (line: string, namespace: string) => [
    ...line.split(' ').map((word) => word.replaceAll('~', ' ')),
    ...['-n', namespace],
  ];
  const plain = (text: string) => text.replaceAll('them', 'ours');

  it('prints the same and leaves the same, step by step', async () => {
    const differences: object[] = [];
    for (const [line, objects, script] of steps) {
      const options: CtlOptions = {
        stdin: objects
          ? JSON.stringify(
              objects.length === 1 ? objects[0] : { apiVersion: 'v1', kind: 'List', items: objects },
            )
          : line.includes('--interactive')
            ? 'Y\n'
            : 'n\n',
        env: { PATH: process.env.PATH ?? '', ...(script && { EDITOR: `sed -i '${script}'` }) },
      };
      const [mine, other] = await Promise.all([
        ctl(words(line, 'ours'), options),
        kubectl(words(line, 'them'), options),
      ]);
      if (mine.status !== other.status || plain(mine.out) !== plain(other.out))
        differences.push({ line, mine, other });
    }
    assert.deepEqual(differences, []);
  });

  it('view-last-applied fails for an object without the annotation', async () => {
    await server.call('POST', '/api/v1/namespaces/default/configmaps', map('bare'));
    const { status, out, err } = await ctl(['apply', 'view-last-applied', 'cm/bare']);
    assert.deepEqual([status, out], [1, '']);
    assert.match(err, /no last-applied-configuration annotation found on resource: bare/);
  });

  it('sends raw bodies to a path and prints the answers unchanged', async () => {
    const file = join(server.directory, 'raw.json');
    const at = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
    const withoutTimes = (text: string) =>
      plain(text).replaceAll(/"(uid|resourceVersion|\w+imestamp|time|manager)":"[^"]*"/g, '');
    for (const [verb, body, suffix] of [
      ['create', map('raw', { a: '1' }), ''],
      ['replace', map('raw', { a: '2' }), '/raw'],
      ['delete', { kind: 'DeleteOptions', apiVersion: 'v1' }, '/raw'],
      ['delete', undefined, '/raw'],
    ] as const) {
      if (body) await writeFile(file, JSON.stringify(body));
      const from = body ? ['-f', file] : [];
      const [mine, other] = await Promise.all([
        ctl([verb, '--raw', at('ours') + suffix, ...from]),
        kubectl([verb, '--raw', at('them') + suffix, ...from]),
      ]);
      assert.deepEqual(
        [mine.status, withoutTimes(mine.out)],
        [other.status, withoutTimes(other.out)],
        mine.err,
      );
    }
  });

  it('refuses flags that mean nothing together', async () => {
    for (const line of [
      'create --raw /api -f a -f b',
      'create --raw /api -f http://x',
      'create --raw api -f a',
      'create --raw /api -f a --edit',
      'replace --raw /api -f a -R',
      'delete --raw /api -i',
      'delete --raw /api pods',
      'replace -f a --force --subresource=status',
      'apply -f a --force --server-side',
      'apply -f a --subresource=status',
      'apply -f a --prune-allowlist=core/v1/Secret',
      'api-resources --sort-by=nosuch',
      'diff -f a --force-conflicts',
    ]) {
      const { status, out, err } = await ctl(line.split(' '));
      // Status 1 of diff means that objects differ.
      assert.deepEqual([status, out], [line.startsWith('diff') ? 2 : 1, ''], line);
      assert.match(err, /^error: /);
    }
  });

  it('lists the same API resources', async () => {
    for (const line of [
      'api-resources --verbs=list,create --api-group=apps -o name',
      'api-resources --sort-by=kind --api-group=batch',
      'api-resources --sort-by=name --namespaced=false --api-group=rbac.authorization.k8s.io',
      'api-resources --categories=all --api-group=apps -o wide',
    ]) {
      const [mine, other] = await Promise.all([ctl(line.split(' ')), kubectl(line.split(' '))]);
      assert.deepEqual([mine.status, mine.out], [other.status, other.out], line);
    }
  });
});
