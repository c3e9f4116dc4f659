/** Ingresses and a Gateway on a node, from applied objects to requests of curl and openssl. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeNginxImage } from '../fixtures/nginx-image.ts';
import { Cluster } from './harness/cluster.ts';
import { docker } from './harness/docker.ts';
import { deployHello, readyPods } from './harness/hello.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

const image = `minik8s-test/nginx-ingress:${process.pid}`;

const ingress = (name: string, spec: object, metadata: object = {}) => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name, ...metadata },
  spec,
});

const rule = (host: string, path: string, service: string, port: number | string) => ({
  host,
  http: {
    paths: [
      {
        path,
        pathType: 'Prefix',
        backend: {
          service: { name: service, port: typeof port === 'number' ? { number: port } : { name: port } },
        },
      },
    ],
  },
});

test('a node serves Ingresses and a Gateway', async (context) => {
  let failed = false;
  const step = (name: string, work: () => Promise<void>) =>
    context.test(name, async () => {
      if (failed) throw new Error('a step before it failed');
      failed = true;
      await work();
      failed = false;
    });
  context.after(() => docker('image', 'rm', '-f', image).then(() => undefined));
  await makeNginxImage(image);
  const host = await Host.start(context, { images: ['minik8s/hello:1', image] });
  const cluster = await Cluster.start(context, { host, flags: [`--nginx-image=${image}`] });
  const { kubectl } = cluster;
  const applied = async (...objects: object[]) => {
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    const { code, stderr } = await kubectl.attempt(['apply', '-f', '-'], { input });
    assert.equal(code, 0, stderr);
    return stderr;
  };
  const curl = (name: string, path: string, ...more: string[]) => {
    const scheme = more.includes('--tls') ? 'https' : 'http';
    const flags = more.filter((one) => one !== '--tls');
    const resolved = ['80', '443'].flatMap((port) => ['--resolve', `${name}:${port}:${host.address}`]);
    const format = '\\n%{http_code} %{http_version} %{redirect_url}';
    return host.run(
      'curl',
      '-sSk',
      '--max-time',
      '5',
      '-w',
      format,
      ...resolved,
      ...flags,
      `${scheme}://${name}${path}`,
    );
  };
  const answers = (name: string, path: string, pattern: RegExp, ...more: string[]) =>
    waitFor(`${name}${path} answers ${pattern}`, async () => {
      const answer = await curl(name, path, ...more);
      if (!pattern.test(answer)) throw new Error(answer);
      return true;
    });
  const eventOf = (pattern: RegExp) =>
    waitFor(`an event ${pattern}`, async () => pattern.test(await kubectl('get', 'events')));

  await deployHello(cluster);
  await kubectl('create', 'deployment', 'api', '--image=minik8s/hello:1');
  await kubectl('expose', 'deployment', 'api', '--port=8000', '--target-port=8080');
  await readyPods(cluster, 3);

  await step('the cluster has a default class of its own', async () => {
    const classes = await kubectl('get', 'ingressclass');
    assert.match(classes, /^minik8s +minik8s\.io\/ingress /m);
  });

  await step('hosts and paths lead to Services, and the status has the address of the node', async () => {
    await applied(
      ingress('shop', {
        rules: [rule('shop.test', '/', 'hello', 80), rule('api.test', '/', 'api', 8000)],
      }),
    );
    await answers('shop.test', '/', /^hello from hello-[\s\S]*\n200 /);
    await answers('api.test', '/', /^hello from api-[\s\S]*\n200 /);
    await answers('other.test', '/', /\n404 /);
    const row = new RegExp(`^shop +minik8s +shop\\.test,api\\.test +${host.address} `, 'm');
    await waitFor('the address', async () => row.test(await kubectl('get', 'ingress', 'shop')));
  });

  await step('an Ingress of another class is ignored', async () => {
    await applied(
      ingress('foreign', { ingressClassName: 'other', rules: [rule('foreign.test', '/', 'hello', 80)] }),
    );
    await applied(ingress('late', { rules: [rule('late.test', '/', 'hello', 80)] }));
    await answers('late.test', '/', /\n200 /);
    await answers('foreign.test', '/', /\n404 /);
    assert.equal(await kubectl('get', 'ingress', 'foreign', '-o', 'jsonpath={.status.loadBalancer}'), '{}');
  });

  await step(
    'a missing certificate is reported by an event, and its Secret is used once it exists',
    async () => {
      const tls = [{ hosts: ['safe.test'], secretName: 'safe' }];
      await applied(ingress('safe', { tls, rules: [rule('safe.test', '/', 'hello', 80)] }));
      await answers('safe.test', '/', /\n308 1\.1 https:\/\/safe\.test\/$/);
      await answers('safe.test', '/', /^hello from[\s\S]*\n200 2$/, '--tls');
      await eventOf(/CertificateNotUsed +ingress\/safe +Secret default\/safe not found/);
      const subject = async () => {
        const script = `openssl s_client -connect ${host.address}:443 -servername safe.test </dev/null 2>/dev/null | openssl x509 -noout -subject`;
        return host.run('sh', '-c', script);
      };
      assert.match(await subject(), /minik8s-default/);
      const directory = '/tmp';
      const [crt, key] = [`${directory}/safe-${process.pid}.crt`, `${directory}/safe-${process.pid}.key`];
      await host.run(
        'openssl',
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-days',
        '2',
        '-subj',
        '/CN=safe.test',
        '-addext',
        'subjectAltName=DNS:safe.test',
        '-keyout',
        key,
        '-out',
        crt,
      );
      await kubectl('create', 'secret', 'tls', 'safe', `--cert=${crt}`, `--key=${key}`);
      await host.run('rm', '-f', crt, key);
      await waitFor('the certificate', async () => /CN ?= ?safe\.test/.test(await subject()));
    },
  );

  await step('annotations without an effect cause a warning and an event', async () => {
    const rules = [rule('warned.test', '/', 'hello', 80)];
    const annotations = {
      'nginx.ingress.kubernetes.io/app-root': '/x',
      'nginx.ingress.kubernetes.io/configuration-snippet': 'return 200;',
    };
    const warnings = await applied(ingress('warned', { rules }, { annotations }));
    assert.match(warnings, /app-root has no effect here/);
    await answers('warned.test', '/', /\n503 /);
    await eventOf(/NotServed +ingress\/warned +annotation .*configuration-snippet has no effect here/);
  });

  await step('Dns objects and Ingresses are served at the same port', async () => {
    await applied({
      apiVersion: 'minik8s.io/v1',
      kind: 'Dns',
      metadata: { name: 'both' },
      spec: { host: 'dns.test', paths: [{ path: '/', serviceName: 'api', servicePort: 8000 }] },
    });
    await answers('dns.test', '/', /^hello from api-[\s\S]*\n200 /);
    await answers('shop.test', '/', /^hello from hello-[\s\S]*\n200 /);
    await applied(ingress('clash', { rules: [rule('dns.test', '/x', 'hello', 80)] }));
    await eventOf(/PathTaken +ingress\/clash +host dns\.test is served for Dns objects/);
  });

  await step(
    'a Gateway is served beside Ingresses, and ignores routes of namespaces that may not attach',
    async () => {
      const apiVersion = 'gateway.networking.k8s.io/v1';
      const route = (name: string, namespace: string, path: string) => ({
        ...{ apiVersion, kind: 'HTTPRoute', metadata: { name, namespace } },
        spec: {
          parentRefs: [{ name: 'front', namespace: 'default' }],
          hostnames: ['gateway.test'],
          rules: [
            {
              matches: [{ path: { value: path }, headers: [{ name: 'x-team', value: 'a' }] }],
              backendRefs: [{ name: 'api', port: 8000, namespace: 'default' }],
            },
          ],
        },
      });
      await kubectl('create', 'namespace', 'other');
      await applied(
        {
          ...{ apiVersion, kind: 'Gateway', metadata: { name: 'front', namespace: 'default' } },
          spec: {
            gatewayClassName: 'minik8s',
            listeners: [
              { name: 'http', port: 80, protocol: 'HTTP' },
              { name: 'more', port: 8088, protocol: 'HTTP' },
            ],
          },
        },
        route('shop', 'default', '/'),
        route('thief', 'other', '/stolen'),
      );
      await kubectl('wait', 'gateway/front', '--for=condition=Programmed', '--timeout=60s');
      const team = ['-H', 'x-team: a'];
      await answers('gateway.test', '/', /^hello from api-[\s\S]*\n200 /, ...team);
      const port8088 = ['--connect-to', `gateway.test:80:${host.address}:8088`];
      await answers('gateway.test', '/', /^hello from api-[\s\S]*\n200 /, ...team, ...port8088);
      await answers('gateway.test', '/', /\n404 /);
      await answers('shop.test', '/', /^hello from hello-[\s\S]*\n200 /);
      const status = '{.status.parents[*].conditions[?(@.type=="Accepted")].reason}';
      const reason = (name: string, namespace: string) =>
        kubectl('get', 'httproute', name, '-n', namespace, '-o', `jsonpath=${status}`);
      assert.equal(await reason('shop', 'default'), 'Accepted');
      assert.equal(await reason('thief', 'other'), 'NotAllowedByListeners');
      const row = new RegExp(`^front +minik8s +${host.address} +True `, 'm');
      assert.match(await kubectl('get', 'gateways'), row);
    },
  );

  await step('a backend of another kind is rejected with a message', async () => {
    const backend = { resource: { apiGroup: 'x.test', kind: 'Bucket', name: 'b' } };
    await applied(ingress('bucket', { defaultBackend: backend }));
    await eventOf(/ResourceBackendNotSupported +ingress\/bucket +backend Bucket "b": only Services/);
  });

  await step('requests are served while minik8s is stopped, and after its restart', async () => {
    await cluster.end('SIGTERM');
    await answers('shop.test', '/', /^hello from hello-[\s\S]*\n200 /);
    await answers('gateway.test', '/', /^hello from api-[\s\S]*\n200 /, '-H', 'x-team: a');
    await cluster.up();
    await answers('api.test', '/', /^hello from api-[\s\S]*\n200 /);
    await kubectl('delete', 'ingress', 'shop', 'bucket');
    await answers('shop.test', '/', /\n404 /);
    await answers('gateway.test', '/', /^hello from api-[\s\S]*\n200 /, '-H', 'x-team: a');
  });
});
