/** Protobuf bodies, as every typed client of Kubernetes sends them, through the whole server. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { kubernetesMessages } from '../../../src/api/message-table.ts';
import { protobufType } from '../../../src/apimachinery/protobuf/envelope.ts';
import { startTestServer, storedObject, type TestServer } from '../../fixtures/api-server.ts';
import { encodeMessage, envelope } from '../../fixtures/protobuf-writer.ts';

const headers = { 'content-type': protobufType, accept: `application/json,${protobufType}` };
const configMaps = '/api/v1/namespaces/default/configmaps';
const deployments = '/apis/apps/v1/namespaces/default/deployments';

function body(
  type: string,
  apiVersion: string,
  kind: string,
  value: Readonly<Record<string, unknown>>,
): Uint8Array {
  const message = kubernetesMessages.typeOf(type);
  assert.ok(message, type);
  return envelope({ apiVersion, kind, raw: encodeMessage(value, message) });
}

const configMap = (value: Readonly<Record<string, unknown>>) =>
  body('core.v1.ConfigMap', 'v1', 'ConfigMap', value);

describe('protobuf bodies', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const send = (method: string, path: string, bytes: Uint8Array) =>
    server.call(method, path, bytes, { headers });

  it('are created and replaced, and answered in JSON', async () => {
    const created = await send('POST', configMaps, configMap({ metadata: { name: 'a' }, data: { k: 'v' } }));
    assert.equal(created.status, 201);
    assert.equal(created.headers.get('content-type'), 'application/json');
    const object = created.json();
    assert.deepEqual([object.kind, object.apiVersion, object.data], ['ConfigMap', 'v1', { k: 'v' }]);
    const { resourceVersion, uid } = object.metadata;
    const next = {
      metadata: { name: 'a', resourceVersion, uid },
      binaryData: { b: 'AAE=' },
      immutable: false,
    };
    const updated = await send('PUT', `${configMaps}/a`, configMap(next));
    assert.equal(updated.status, 200);
    const stored = await storedObject(server, '/registry/configmaps/default/a');
    assert.deepEqual(
      { ...stored, metadata: undefined },
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        binaryData: { b: 'AAE=' },
        immutable: false,
        metadata: undefined,
      },
    );
    const late = await send('PUT', `${configMaps}/a`, configMap(next));
    assert.equal(late.status, 409);
  });

  it('are validated and get defaults as in JSON', async () => {
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const deployment = (selector: object) =>
      ['web', 'json'].map((name) => ({
        metadata: { name },
        spec: {
          replicas: 0,
          selector,
          template,
          strategy: { rollingUpdate: { maxSurge: '10%', maxUnavailable: 0 } },
        },
        status: {},
      }));
    const [web, json] = deployment({ matchLabels: { a: 'b' } });
    const first = await send(
      'POST',
      deployments,
      body('apps.v1.Deployment', 'apps/v1', 'Deployment', web ?? {}),
    );
    const second = await server.call('POST', deployments, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      ...json,
    });
    assert.deepEqual([first.status, second.status], [201, 201]);
    assert.deepEqual(first.json().spec, second.json().spec);
    assert.deepEqual(first.json().status, second.json().status);
    assert.equal(first.headers.get('warning'), second.headers.get('warning'));
    const [wrong] = deployment({ matchLabels: { a: 'c' } });
    const refused = await send(
      'POST',
      deployments,
      body('apps.v1.Deployment', 'apps/v1', 'Deployment', wrong ?? {}),
    );
    assert.equal(refused.status, 422);
    assert.match(refused.text, /selector/);
  });

  it('may contain the options of a deletion', async () => {
    await send('POST', configMaps, configMap({ metadata: { name: 'b' } }));
    const remove = (value: Readonly<Record<string, unknown>>) =>
      send('DELETE', `${configMaps}/b`, body('meta.v1.DeleteOptions', 'v1', 'DeleteOptions', value));
    assert.equal((await remove({ preconditions: { uid: 'another' } })).status, 409);
    assert.equal((await remove({ propagationPolicy: 'Sideways' })).status, 422);
    assert.equal((await remove({ dryRun: ['All'] })).status, 200);
    assert.ok(await storedObject(server, '/registry/configmaps/default/b'));
    assert.equal((await remove({ gracePeriodSeconds: 0, propagationPolicy: 'Background' })).status, 200);
    assert.equal(await storedObject(server, '/registry/configmaps/default/b'), undefined);
  });

  it('may scale, bind and evict', async () => {
    const scale = body('autoscaling.v1.Scale', 'autoscaling/v1', 'Scale', {
      metadata: { name: 'web' },
      spec: { replicas: 3 },
    });
    assert.equal((await send('PUT', `${deployments}/web/scale`, scale)).status, 200);
    const deployment = await storedObject(server, '/registry/deployments.apps/default/web');
    assert.equal((deployment as unknown as { spec: { replicas: number } }).spec.replicas, 3);
    const pods = '/api/v1/namespaces/default/pods';
    const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    assert.equal((await send('POST', pods, body('core.v1.Pod', 'v1', 'Pod', pod))).status, 201);
    const binding = { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n1' } };
    assert.equal(
      (await send('POST', `${pods}/p/binding`, body('core.v1.Binding', 'v1', 'Binding', binding))).status,
      201,
    );
    const eviction = { metadata: { name: 'p' }, deleteOptions: { gracePeriodSeconds: 0 } };
    const evict = body('policy.v1.Eviction', 'policy/v1', 'Eviction', eviction);
    assert.equal((await send('POST', `${pods}/p/eviction`, evict)).status, 201);
    assert.equal(await storedObject(server, '/registry/pods/default/p'), undefined);
  });

  it('are refused when they cannot be read or are of another kind', async () => {
    const whole = configMap({ metadata: { name: 'c' }, data: { k: 'v'.repeat(200) } });
    const cases: [Uint8Array, RegExp][] = [
      [whole.subarray(0, whole.length - 40), /cannot be read: invalid protobuf: it ends too early/],
      [envelope({ raw: [0x0a, 0x02, 0x08, 0x01] }), /invalid protobuf: metadata.name: wire type 0 where 2/],
      [new TextEncoder().encode('{"kind":"ConfigMap"}'), /invalid protobuf: it does not begin with/],
      [
        body('core.v1.Secret', 'v1', 'Secret', { metadata: { name: 'c' } }),
        /Secret.* cannot be handled as a ConfigMap/,
      ],
      [body('core.v1.ConfigMap', 'v2', 'ConfigMap', {}), /the API version in the data \(v2\) does not match/],
    ];
    for (const [bytes, message] of cases) {
      const answer = await send('POST', configMaps, bytes);
      assert.equal(answer.status, 400, answer.text);
      const status = answer.json<{ message: string; reason: string }>();
      assert.equal(status.reason, 'BadRequest');
      assert.match(status.message, message);
    }
    assert.equal(await storedObject(server, '/registry/configmaps/default/c'), undefined);
    const wrongOptions = await send('DELETE', `${configMaps}/a`, configMap({}));
    assert.equal(wrongOptions.status, 400);
    assert.match(wrongOptions.text, /must be a DeleteOptions, not/);
  });

  it('are listed among the accepted types in the answer to another type', async () => {
    const answer = await server.call('POST', configMaps, 'x', {
      headers: { 'content-type': 'application/cbor' },
    });
    assert.equal(answer.status, 415);
    assert.match(answer.text, /application\/json, application\/yaml, application\/vnd.kubernetes.protobuf/);
  });
});
