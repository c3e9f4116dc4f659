import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1ConfigMap } from '@kubernetes/client-node';
import { Cluster } from './harness/cluster.ts';
import { Host } from './harness/host.ts';
import { send } from './harness/raw-api.ts';

interface RefusedBody {
  readonly what: string;
  readonly method?: string;
  readonly path?: string;
  readonly body: string | Uint8Array;
  readonly contentType?: string;
  readonly code: number;
  readonly reason: string;
  readonly message: RegExp;
}

const yaml = 'application/yaml';
const configMaps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const pod = (name: string, container: object) =>
  JSON.stringify({ metadata: { name }, spec: { containers: [{ name: 'a', image: 'a', ...container }] } });

const refused: readonly RefusedBody[] = [
  {
    what: 'YAML that cannot be read',
    body: 'metadata:\n  name: a\n bad: [',
    contentType: yaml,
    code: 400,
    reason: 'BadRequest',
    message: /yaml|YAML/,
  },
  { what: 'truncated JSON', body: '{"metadata":', code: 400, reason: 'BadRequest', message: /JSON/ },
  { what: 'no body', body: '', code: 400, reason: 'BadRequest', message: /./ },
  { what: 'a list', body: '[]', code: 400, reason: 'BadRequest', message: /./ },
  {
    what: 'bytes that are not UTF-8',
    body: Uint8Array.of(0xff, 0xfe, 0, 1),
    code: 400,
    reason: 'BadRequest',
    message: /./,
  },
  {
    what: 'an unknown media type',
    body: 'a=b',
    contentType: 'application/x-www-form-urlencoded',
    code: 415,
    reason: 'UnsupportedMediaType',
    message: /accepted media types include: application\/json/,
  },
  {
    what: 'a kind that differs from the kind of the path',
    body: '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}',
    code: 400,
    reason: 'BadRequest',
    message: /Pod.*ConfigMap|ConfigMap.*Pod/,
  },
  {
    what: 'a number in a string field',
    body: '{"metadata":{"name":"a"},"data":{"key":5}}',
    code: 400,
    reason: 'BadRequest',
    message: /data.*key.*string|string.*data/,
  },
  {
    what: 'a string in a number field',
    path: pods,
    body: pod('a', { ports: [{ containerPort: 'http' }] }),
    code: 400,
    reason: 'BadRequest',
    message: /containerPort/,
  },
  {
    what: 'an object in a list field',
    path: pods,
    body: '{"metadata":{"name":"a"},"spec":{"containers":{"name":"a"}}}',
    code: 400,
    reason: 'BadRequest',
    message: /spec\.containers/,
  },
  {
    what: 'an invalid name',
    body: '{"metadata":{"name":"Not_A_Name"}}',
    code: 422,
    reason: 'Invalid',
    message: /metadata\.name.*"Not_A_Name".*lowercase/,
  },
  {
    what: 'a missing name',
    body: '{"metadata":{}}',
    code: 422,
    reason: 'Invalid',
    message: /name or generateName is required/,
  },
  {
    what: 'a port out of range',
    path: pods,
    body: pod('a', { ports: [{ containerPort: 65536 }] }),
    code: 422,
    reason: 'Invalid',
    message: /spec\.containers\[0\]\.ports\[0\]\.containerPort.*65536/,
  },
  {
    what: 'an invalid patch',
    method: 'PATCH',
    path: `${configMaps}/kept`,
    body: '{"op":"no"}',
    contentType: 'application/json-patch+json',
    code: 400,
    reason: 'BadRequest',
    message: /./,
  },
  {
    what: 'a namespace that does not exist',
    path: '/api/v1/namespaces/nowhere/configmaps',
    body: '{"metadata":{"name":"a"}}',
    code: 404,
    reason: 'NotFound',
    message: /namespaces "nowhere" not found/,
  },
];

test('bad input is rejected with one Status that names it, and changes nothing', async (context) => {
  const host = await Host.start(context, { images: [] });
  const cluster = await Cluster.start(context, { host });
  const { kubectl } = cluster;
  await kubectl('create', 'configmap', 'kept', '--from-literal=a=1');
  const before = await kubectl('get', 'configmaps,pods', '-A', '-o', 'json');

  for (const { what, method = 'POST', path = configMaps, body, contentType, ...expected } of refused) {
    await context.test(what, async () => {
      const { code, status } = await send(cluster, method, path, body, contentType);
      assert.deepEqual(
        [code, status.kind, status.status, status.code, status.reason],
        [expected.code, 'Status', 'Failure', expected.code, expected.reason],
        status.message ?? '',
      );
      assert.match(status.message ?? '', expected.message);
      assert.doesNotMatch(status.message ?? '', /\n/);
    });
  }

  const typed: readonly [what: string, input: string, says: RegExp, flag?: string][] = [
    ['YAML that cannot be read', 'kind: ConfigMap\n  bad: [\n', /error parsing|error converting YAML/],
    [
      'an unknown kind',
      'apiVersion: v1\nkind: Gadget\nmetadata: {name: a}\n',
      /no matches for kind "Gadget" in version "v1"/,
      '--validate=false',
    ],
    [
      'a wrong type',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {key: 5}\n',
      /data.*key|key.*string/,
    ],
    [
      'a misspelt field',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndate: {key: a}\n',
      /unknown field "date"/,
    ],
    [
      'an invalid name',
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A_b}\n',
      /ConfigMap "A_b" is invalid: metadata\.name/,
    ],
  ];
  for (const [what, input, says, flag = '--validate=true'] of typed) {
    await context.test(`kubectl apply reports ${what}`, async () => {
      const { code, stderr } = await kubectl.attempt(['apply', flag, '-f', '-'], { input });
      assert.equal(code, 1);
      assert.match(stderr, says);
      // kubectl adds a line of its own for an unknown kind.
      const own = stderr.replace('\nensure CRDs are installed first', '');
      assert.equal(own.trimEnd().split('\n').length, 1, stderr);
    });
  }

  await context.test('kubectl get reports an unknown kind and an object that does not exist', async () => {
    const kind = await kubectl.attempt(['get', 'gadgets']);
    assert.deepEqual(
      [kind.code, kind.stderr],
      [1, 'error: the server doesn\'t have a resource type "gadgets"\n'],
    );
    const object = await kubectl.attempt(['get', 'configmap', 'none']);
    assert.deepEqual(
      [object.code, object.stderr],
      [1, 'Error from server (NotFound): configmaps "none" not found\n'],
    );
  });

  await context.test('no bad input has changed any object', async () => {
    const strip = (text: string) => text.replace(/"(time|resourceVersion)": "[^"]*"/g, '');
    const after = await kubectl('get', 'configmaps,pods', '-A', '-o', 'json');
    assert.equal(strip(after), strip(before));
    assert.doesNotMatch(cluster.log, /\bat .*\.(ts|js|cjs):\d+/, 'no stack trace was written');
  });

  await context.test('one of two updates of the same version conflicts, with the remedy', async () => {
    const old = await kubectl.json<V1ConfigMap>('get', 'configmap', 'kept');
    const update = (a: string) =>
      send(cluster, 'PUT', `${configMaps}/kept`, JSON.stringify({ ...old, data: { a } }));
    const answers = await Promise.all([update('2'), update('3')]);
    assert.deepEqual(answers.map(({ code }) => code).sort(), [200, 409]);
    const status = answers.find(({ code }) => code === 409)?.status;
    assert.equal(status?.reason, 'Conflict');
    assert.match(status?.message ?? '', /"kept".*object has been modified.*apply your changes to the latest/);
    const winner = answers.findIndex(({ code }) => code === 200) === 0 ? '2' : '3';
    assert.equal(await kubectl('get', 'configmap', 'kept', '-o', 'jsonpath={.data.a}'), winner);
    const again = await kubectl.attempt(['replace', '-f', '-'], { input: JSON.stringify(old) });
    assert.equal(again.code, 1);
    assert.match(
      again.stderr,
      /^Error from server \(Conflict\): [^\n]*the object has been modified[^\n]*\n$/,
    );
  });
});
