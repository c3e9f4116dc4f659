/**
 * Webhooks that answer wrongly, late or never: their callers get an error or a timeout, and other requests
 * are not affected.
 */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { systemClock } from '../../../src/base/clock.ts';
import type { NodeConnection } from '../../../src/kube-apiserver/node-connection.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import {
  patch,
  type Review,
  startWebhookServer,
  type WebhookServer,
  type WebhookServerOptions,
} from '../../fixtures/webhook-server.ts';

const configurations = '/apis/admissionregistration.k8s.io/v1';
const maps = '/api/v1/namespaces/default/configmaps';
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };
const failed = 'Internal error occurred: failed calling webhook "bad.example.com": ';
const x509 = 'tls: failed to verify certificate: x509:';

describe('a faulty webhook', () => {
  let server: TestServer;
  let portOfPod = 0;
  let count = 0;
  const nodeConnection: NodeConnection = Object.assign(() => Promise.reject(new Error('not used')), {
    upgrade: () => Promise.resolve({ headers: {}, socket: connect(portOfPod, 'localhost') }),
  });
  before(async () => {
    server = await startTestServer({ clock: systemClock, nodeConnection });
  });
  after(() => server.stop());

  const create = () => server.call('POST', maps, { metadata: { name: `map-${++count}` } });

  /** Runs `work` with a webhook; its configuration has these fields, too. */
  const withHook = async (
    {
      review,
      hook: more = () => ({}),
      sort = 'validating',
      certificate = {},
    }: {
      review?: Review;
      hook?: (server: WebhookServer) => object;
      sort?: 'mutating' | 'validating';
      certificate?: WebhookServerOptions;
    },
    work: (hook: WebhookServer) => Promise<void>,
  ) => {
    const hook = await startWebhookServer(certificate);
    if (review) hook.answer(review);
    const path = `${configurations}/${sort}webhookconfigurations`;
    const made = await server.call('POST', path, {
      metadata: { name: 'bad' },
      webhooks: [
        {
          name: 'bad.example.com',
          clientConfig: { url: hook.url, caBundle: hook.caBundle },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          rules: [rule],
          timeoutSeconds: 1,
          ...more(hook),
        },
      ],
    });
    assert.equal(made.status, 201, made.text);
    await server.call('GET', path);
    try {
      await work(hook);
    } finally {
      await server.call('DELETE', `${path}/bad`);
      await server.call('GET', path);
      await hook.stop();
    }
  };
  const messageOfCreate = async () => {
    const answer = await create();
    assert.equal(answer.status, 500, answer.text);
    return answer.json<Status>().message ?? '';
  };
  const failsWith = (title: string, options: Parameters<typeof withHook>[0], why: RegExp | string) =>
    it(title, () =>
      withHook(options, async ({ url }) => {
        const message = await messageOfCreate();
        if (typeof why === 'string') assert.equal(message, `${failed}${why.replace('URL', url)}`);
        else assert.match(message, why);
      }),
    );

  failsWith(
    'that never answers fails after its timeout',
    { review: () => undefined },
    'failed to call webhook: Post "URL?timeout=1s": context deadline exceeded',
  );
  failsWith(
    'that answers with another uid fails',
    { review: () => ({ allowed: true, uid: 'other' }) },
    /received invalid webhook response: expected response.uid="[-0-9a-f]{36}", got "other"$/,
  );
  failsWith(
    'that answers with a hundred megabytes fails after the first three megabytes',
    {
      review(_, response) {
        const chunk = Buffer.alloc(1024 * 1024, 'x');
        let left = 100;
        const more = () => {
          if (response.destroyed || left-- === 0) return void response.end();
          if (response.write(chunk)) setImmediate(more);
          else response.once('drain', more);
        };
        more();
        return undefined;
      },
    },
    'failed to call webhook: the answer has more than 3145728 bytes',
  );
  failsWith(
    'that answers with a redirect fails, and the redirect is not followed',
    { review: (_, response) => void response.writeHead(302, { location: 'https://localhost:1/' }).end() },
    'failed to call webhook: the server responded with the status code 302 but did not return more information',
  );
  failsWith(
    'that answers with text fails',
    { review: (_, response) => void response.end('<html>') },
    /failed to call webhook: couldn't get version\/kind; json parse error/,
  );
  failsWith(
    'whose certificate has expired fails',
    { certificate: { notAfter: Date.now() - 1000 } },
    `failed to call webhook: Post "URL?timeout=1s": ${x509} certificate has expired or is not yet valid`,
  );
  failsWith(
    'whose certificate is for another host fails',
    { certificate: { hosts: ['other.example.com'] } },
    `failed to call webhook: Post "URL?timeout=1s": ${x509} certificate is valid for other.example.com, not localhost`,
  );
  failsWith(
    'whose certificate is not signed by an authority of its caBundle fails',
    { hook: ({ url }) => ({ clientConfig: { url } }) },
    `failed to call webhook: Post "URL?timeout=1s": ${x509} certificate signed by unknown authority`,
  );
  failsWith(
    'that cannot be reached fails',
    { hook: () => ({ clientConfig: { url: 'https://127.0.0.1:1/' } }) },
    'failed to call webhook: Post "https://127.0.0.1:1/?timeout=1s": dial tcp 127.0.0.1:1: connect: connection refused',
  );
  failsWith(
    'whose patch cannot be applied makes the request fail',
    { sort: 'mutating', review: () => patch({ op: 'remove', path: '/data/none' }) },
    /^Internal error occurred: /,
  );
  failsWith(
    'whose validating webhook returns a patch fails',
    { review: () => patch({ op: 'add', path: '/data', value: {} }) },
    'received invalid webhook response: validating webhook may not return response.patch',
  );
  failsWith(
    'whose Service does not exist fails',
    { hook: () => ({ clientConfig: { service: { name: 'none', namespace: 'default' } } }) },
    'failed to call webhook: Post "https://none.default.svc:443/?timeout=1s": service "none" not found',
  );

  it('whose patch nests a value endlessly is rejected, and nothing is stored', () => {
    const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    const operations = `[{"op":"add","path":"/data","value":${deep}}]`;
    const review = () => ({
      allowed: true,
      patchType: 'JSONPatch',
      patch: Buffer.from(operations).toString('base64'),
    });
    return withHook({ sort: 'mutating', review }, async () => {
      const answer = await create();
      assert.equal(answer.status, 500, answer.text);
      assert.equal((await server.call('GET', `${maps}/map-${count}`)).status, 404);
    });
  });

  it('that has not answered yet does not delay requests of other clients', () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const review = () => promise.then(() => ({ allowed: true }));
    return withHook({ review, hook: () => ({ timeoutSeconds: 30 }) }, async ({ requests }) => {
      let answered = 0;
      const held = Array.from({ length: 100 }, () => create().finally(() => answered++));
      const secret = { metadata: { name: `secret-${count}` } };
      const other = await server.call('POST', '/api/v1/namespaces/default/secrets', secret);
      assert.equal(other.status, 201, other.text);
      assert.equal(answered, 0, 'another request waited for the webhook');
      resolve();
      for (const answer of await Promise.all(held)) assert.equal(answer.status, 201, answer.text);
      assert.equal(requests.length, 100);
    });
  });

  it('that calls the API in a cycle ends after its timeout', () => {
    const review: Review = async () => ({ allowed: (await create()).status === 201 });
    return withHook({ review }, async ({ requests }) => {
      assert.notEqual((await create()).status, 201);
      assert.ok(requests.length > 1);
      assert.ok(requests.length <= 65, `${requests.length} calls`);
    });
  });

  it('of a Service is called at one of its pods with the name of the Service', async () => {
    const certificate = { hosts: ['hook.default.svc'] };
    const service = { name: 'hook', namespace: 'default', path: '/check', port: 8443 };
    const hook = ({ caBundle }: WebhookServer) => ({ clientConfig: { caBundle, service } });
    await servicePod();
    await withHook({ certificate, hook, review: () => ({ allowed: false }) }, async ({ port, requests }) => {
      portOfPod = port;
      const answer = await create();
      assert.equal(answer.status, 400, answer.text);
      assert.equal(requests.length, 1);
    });
  });

  /** Creates a Service with an endpoint, as the controllers would. */
  const servicePod = async () => {
    const base = '/api/v1/namespaces/default';
    const web = { name: 'hook', labels: { app: 'hook' } };
    const call = async (method: string, path: string, body: object) => {
      const answer = await server.call(method, path, body);
      assert.ok(answer.status < 300, answer.text);
      return answer;
    };
    await call('POST', `${base}/services`, {
      metadata: web,
      spec: { selector: { app: 'hook' }, ports: [{ port: 8443, targetPort: 8443 }] },
    });
    const containers = [{ name: 'hook', image: 'hook' }];
    const pod = (
      await call('POST', `${base}/pods`, { metadata: web, spec: { nodeName: 'node-1', containers } })
    ).json<{ metadata: object; status: object }>();
    const status = { ...pod.status, podIP: '10.244.0.7', podIPs: [{ ip: '10.244.0.7' }], phase: 'Running' };
    await call('PUT', `${base}/pods/hook/status`, { ...pod, status });
    await call('POST', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
      metadata: { name: 'hook-1', labels: { 'kubernetes.io/service-name': 'hook' } },
      addressType: 'IPv4',
      ports: [{ name: '', port: 8443 }],
      endpoints: [
        {
          addresses: ['10.244.0.7'],
          conditions: { ready: true },
          targetRef: { kind: 'Pod', name: 'hook', namespace: 'default' },
        },
      ],
    });
    await server.call('GET', '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices');
    await server.call('GET', `${base}/pods`);
  };
});
