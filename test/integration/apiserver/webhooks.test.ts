/** Admission webhooks: the requests for which they are called, and the effects of their answers. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { patch, startWebhookServer, type WebhookServer } from '../../fixtures/webhook-server.ts';

const group = '/apis/admissionregistration.k8s.io/v1';
const maps = '/api/v1/namespaces/default/configmaps';
const everyMap = {
  operations: ['*'],
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
};
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };

describe('a webhook', () => {
  let server: TestServer;
  let hook: WebhookServer;
  let made: string[] = [];
  let count = 0;
  before(async () => {
    server = await startTestServer({ clock: systemClock });
    hook = await startWebhookServer();
  });
  after(async () => {
    await hook.stop();
    await server.stop();
  });
  afterEach(async () => {
    for (const path of made) await server.call('DELETE', path);
    made = [];
    hook.requests.length = 0;
    hook.answer(() => ({ allowed: true }));
  });

  const configure = async (sort: 'mutating' | 'validating', ...webhooks: object[]) => {
    const name = `hooks-${++count}`;
    const kind = sort === 'mutating' ? 'MutatingWebhookConfiguration' : 'ValidatingWebhookConfiguration';
    const answer = await server.call('POST', `${group}/${sort}webhookconfigurations`, {
      kind,
      metadata: { name },
      webhooks: webhooks.map((webhook, index) => ({
        name: `hook-${index}.example.com`,
        clientConfig: { url: hook.url, caBundle: hook.caBundle },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        rules: [everyMap],
        timeoutSeconds: 2,
        ...webhook,
      })),
    });
    assert.equal(answer.status, 201, answer.text);
    made.push(`${group}/${sort}webhookconfigurations/${name}`);
    // A list waits until the cache is as new as the store.
    await server.call('GET', `${group}/${sort}webhookconfigurations`);
  };
  const create = (body: object = {}, query = '') =>
    server.call('POST', `${maps}${query}`, { metadata: { name: `map-${++count}` }, ...body });
  const messageOf = async (answer: ReturnType<typeof create>) => (await answer).json<Status>().message;

  it('rejects a create with the status of its answer', async () => {
    await configure('validating', {});
    hook.answer(() => ({ allowed: false, status: { code: 403, message: 'not today', reason: 'Forbidden' } }));
    const answer = await create();
    assert.equal(answer.status, 403);
    assert.equal(
      answer.json<Status>().message,
      'admission webhook "hook-0.example.com" denied the request: not today',
    );
    const [request] = hook.requests;
    assert.equal(hook.requests.length, 1);
    assert.equal(request?.operation, 'CREATE');
    assert.deepEqual(request?.kind, { group: '', version: 'v1', kind: 'ConfigMap' });
    assert.equal(request?.namespace, 'default');
    assert.equal(request?.dryRun, false);
    assert.equal(request?.options?.kind, 'CreateOptions');
    assert.equal(request?.oldObject, null);
  });

  it('is called once for an update that it rejects, with the stored object', async () => {
    const { metadata } = (await create({ data: { a: '1' } })).json();
    await configure('validating', {});
    hook.answer(() => ({ allowed: false }));
    const answer = await server.call('PATCH', `${maps}/${metadata.name}`, { data: { a: '2' } }, merge);
    assert.equal(answer.status, 400);
    assert.equal(
      answer.json<Status>().message,
      'admission webhook "hook-0.example.com" denied the request without explanation',
    );
    assert.equal(hook.requests.length, 1);
    assert.deepEqual(hook.requests[0]?.oldObject?.data, { a: '1' });
    assert.deepEqual(hook.requests[0]?.object?.data, { a: '2' });
  });

  it('rejects a delete, and each delete of a collection', async () => {
    const { metadata } = (await create({ metadata: { name: 'kept', labels: { keep: 'yes' } } })).json();
    await configure('validating', { objectSelector: { matchLabels: { keep: 'yes' } } });
    hook.answer(() => ({ allowed: false }));
    assert.equal((await server.call('DELETE', `${maps}/${metadata.name}`)).status, 400);
    assert.equal(hook.requests[0]?.operation, 'DELETE');
    assert.equal(hook.requests[0]?.object, null);
    assert.equal(hook.requests[0]?.options?.kind, 'DeleteOptions');
    assert.equal((await server.call('DELETE', `${maps}?labelSelector=keep%3Dyes`)).status, 400);
    assert.equal((await server.call('GET', `${maps}/kept`)).status, 200);
  });

  it('changes an object, which gets the defaults of its kind', async () => {
    const rules = [{ ...everyMap, resources: ['pods'] }];
    await configure('mutating', { rules });
    hook.answer(() =>
      patch({ op: 'add', path: '/spec/initContainers', value: [{ name: 'first', image: 'busybox' }] }),
    );
    const pod = { metadata: { name: 'web' }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
    const answer = await server.call('POST', '/api/v1/namespaces/default/pods', pod);
    assert.equal(answer.status, 201, answer.text);
    const { spec } = answer.json<{ metadata: never; spec: { initContainers: Record<string, unknown>[] } }>();
    assert.equal(spec.initContainers[0]?.terminationMessagePolicy, 'File');
    assert.equal(spec.initContainers[0]?.imagePullPolicy, 'Always');
  });

  it('is called in the order of the configurations, and again if a later one changes the object', async () => {
    await configure('mutating', { reinvocationPolicy: 'IfNeeded' }, {});
    hook.answer(({ object }) => {
      const data = (object?.data ?? {}) as Record<string, string>;
      if (!('first' in data)) return patch({ op: 'add', path: '/data/first', value: 'yes' });
      if (!('second' in data)) return patch({ op: 'add', path: '/data/second', value: 'yes' });
      return { allowed: true };
    });
    const answer = await create({ data: { zero: '' } });
    assert.deepEqual(answer.json<{ data: object; metadata: never }>().data, {
      zero: '',
      first: 'yes',
      second: 'yes',
    });
    assert.equal(hook.requests.length, 3);
  });

  it('cannot rename an object, or change who owns its fields', async () => {
    await configure('mutating', {});
    hook.answer(() => patch({ op: 'replace', path: '/metadata/name', value: 'other' }));
    const answer = await create();
    assert.equal(answer.status, 422, answer.text);
    assert.match(answer.text, /metadata.name: Invalid value: \\"other\\": field is immutable/);
    hook.answer(() => patch({ op: 'add', path: '/metadata/managedFields', value: [{ manager: 'x' }] }));
    const kept = await create({ data: { a: 'b' } });
    const { metadata } = kept.json<{ metadata: { managedFields: { manager: string }[] } }>();
    assert.deepEqual(
      metadata.managedFields.map(({ manager }) => manager === 'x'),
      [false],
    );
  });

  it('can return warnings to the client', async () => {
    await configure('validating', {});
    hook.answer(() => ({ allowed: true, warnings: ['use another name'] }));
    const answer = await create();
    assert.match(answer.headers.get('warning') ?? '', /use another name/);
  });

  it('is called for a dry run if it has no side effects, and the review contains the dry run', async () => {
    await configure('validating', {});
    assert.equal((await create({}, '?dryRun=All')).status, 201);
    assert.equal(hook.requests[0]?.dryRun, true);
    assert.deepEqual(hook.requests[0]?.options?.dryRun, ['All']);
  });

  it('gets an object in a version of its rule if the policy is Equivalent', async () => {
    const rule = { apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers'] };
    await configure('validating', { rules: [{ ...everyMap, ...rule, apiVersions: ['v1'] }] });
    hook.answer(() => ({ allowed: false }));
    const scaler = {
      metadata: { name: 'web' },
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
    };
    const path = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
    assert.equal((await server.call('POST', path, scaler)).status, 400);
    assert.equal(hook.requests[0]?.resource.version, 'v1');
    assert.equal(hook.requests[0]?.requestResource.version, 'v2');
    assert.equal(hook.requests[0]?.object?.apiVersion, 'autoscaling/v1');
  });

  it('gets Scales, evictions, bindings and connections as the client sends them', async () => {
    const replicas = { metadata: { name: 'scaled' }, spec: { replicas: 1, ...template('scaled') } };
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    assert.equal((await server.call('POST', deployments, replicas)).status, 201);
    const pods = '/api/v1/namespaces/default/pods';
    const pod = { metadata: { name: 'bare' }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
    assert.equal((await server.call('POST', pods, pod)).status, 201);
    await configure('validating', { rules: [{ ...everyMap, apiGroups: ['*'], resources: ['*/*'] }] });
    hook.answer(({ operation }) => ({ allowed: operation === 'READ' }));
    const metadata = { name: 'bare' };
    const scale = await server.call('PATCH', `${deployments}/scaled/scale`, { spec: { replicas: 3 } }, merge);
    const binding = { metadata, target: { kind: 'Node', name: 'n' } };
    const answers = [
      scale,
      await server.call('POST', `${pods}/bare/binding`, binding),
      await server.call('POST', `${pods}/bare/eviction`, { metadata }),
      await server.call('GET', `${pods}/bare/exec?command=ls&stdout=true`),
      await server.call('GET', `${pods}/bare/attach?stdout=true`),
    ];
    assert.deepEqual(
      answers.map(({ status }) => status),
      [400, 400, 400, 400, 400],
    );
    assert.deepEqual(
      hook.requests.map(({ operation, subResource, kind }) => `${operation} ${subResource} ${kind.kind}`),
      [
        'UPDATE scale Scale',
        'CREATE binding Binding',
        'CREATE eviction Eviction',
        'CONNECT exec PodExecOptions',
        'CONNECT attach PodAttachOptions',
      ],
    );
    assert.deepEqual(hook.requests[0]?.object?.spec, { replicas: 3 });
    assert.deepEqual(hook.requests[3]?.object?.command, ['ls']);
  });

  it('is not called for the removal of an evicted pod that it has admitted', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const pod = { metadata: { name: 'evicted' }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
    assert.equal((await server.call('POST', pods, pod)).status, 201);
    await configure('validating', { rules: [{ ...everyMap, resources: ['pods/*', 'pods'] }] });
    const body = { metadata: { name: 'evicted' } };
    assert.equal((await server.call('POST', `${pods}/evicted/eviction`, body)).status, 201);
    assert.deepEqual(
      hook.requests.map(({ operation, subResource }) => `${operation} ${subResource}`),
      ['CREATE eviction'],
    );
  });

  it('selects namespaces by their labels, and a new Namespace by its own', async () => {
    const namespaceSelector = { matchLabels: { guarded: 'yes' } };
    const rules = [{ ...everyMap, resources: ['configmaps', 'namespaces'] }];
    await configure('validating', { namespaceSelector, rules });
    hook.answer(() => ({ allowed: false }));
    assert.equal((await create()).status, 201);
    const labels = { guarded: 'yes' };
    const namespace = (name: string, of: object) => ({ metadata: { name, labels: of } });
    assert.equal((await server.call('POST', '/api/v1/namespaces', namespace('a', labels))).status, 400);
    assert.equal((await server.call('POST', '/api/v1/namespaces', namespace('b', {}))).status, 201);
    assert.equal(hook.requests.length, 1);
  });

  it('cannot prevent its own removal', async () => {
    await configure('validating', { rules: [{ ...everyMap, apiGroups: ['*'], resources: ['*'] }] });
    hook.answer(() => ({ allowed: false }));
    assert.equal((await create()).status, 400);
    const [path = ''] = made;
    assert.equal((await server.call('DELETE', path)).status, 200);
  });

  it('is only called if its match conditions are met', async () => {
    const expression = "request.operation == 'CREATE' && object.metadata.name.startsWith('guarded')";
    await configure('validating', { matchConditions: [{ name: 'guarded', expression }] });
    hook.answer(() => ({ allowed: false }));
    assert.equal((await create()).status, 201);
    assert.equal((await create({ metadata: { name: 'guarded-1' } })).status, 400);
    assert.equal(hook.requests.length, 1);
  });

  it('rejects a request if a match condition fails, unless its policy is Ignore', async () => {
    const matchConditions = [{ name: 'team', expression: "object.metadata.labels.team == 'a'" }];
    await configure('validating', { matchConditions });
    const answer = await create();
    assert.equal(answer.status, 403);
    assert.match(
      answer.json<Status>().message ?? '',
      /is forbidden: expression 'object.metadata.labels.team == 'a'' resulted in error: no such key: labels$/,
    );
    assert.equal((await server.call('DELETE', made.pop() ?? '')).status, 200);
    await configure('validating', { matchConditions, failurePolicy: 'Ignore' });
    assert.equal((await create()).status, 201);
    assert.equal(hook.requests.length, 0);
  });

  it('can query the authorizer in its match conditions', async () => {
    const expression =
      "!authorizer.group('').resource('configmaps').namespace('default').check('break').allowed()";
    await configure('validating', { matchConditions: [{ name: 'unless', expression }] });
    hook.answer(() => ({ allowed: false }));
    assert.equal((await create()).status, 201);
    assert.equal(hook.requests.length, 0);
  });

  it('is ignored when it fails with the failure policy Ignore', async () => {
    await configure('validating', { failurePolicy: 'Ignore' });
    hook.answer((_, response) => void response.writeHead(500).end());
    assert.equal((await create()).status, 201);
  });

  it('makes the request fail when it answers with an error', async () => {
    await configure('validating', {});
    hook.answer((_, response) => void response.writeHead(500, { 'content-type': 'text/plain' }).end('oh'));
    assert.equal(
      await messageOf(create()),
      'Internal error occurred: failed calling webhook "hook-0.example.com": failed to call webhook: an error on the server ("oh") has prevented the request from succeeding',
    );
  });

  it('is called over one kept connection', async () => {
    await configure('validating', {});
    await create();
    const before = hook.connections();
    for (let index = 0; index < 5; index++) await create();
    assert.equal(hook.connections(), before);
  });
});

const template = (app: string) => ({
  selector: { matchLabels: { app } },
  template: {
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'web', image: 'nginx' }] },
  },
});
