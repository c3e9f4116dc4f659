/** The labels of a namespace restrict the pods in it, however the pods are created. */
import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import { type Logger, silentLogger } from '../../../src/base/log.ts';
import { auditBurst } from '../../../src/kube-apiserver/admission/pod-security-audit.ts';
import {
  type PodSecurityConfiguration,
  usualConfiguration,
} from '../../../src/kube-apiserver/pod-security/configuration.ts';
import {
  type Answer,
  type CallOptions,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../../fixtures/api-server.ts';

const label = (said: Record<string, string | null>) =>
  Object.fromEntries(
    Object.entries(said).map(([name, value]) => [`pod-security.kubernetes.io/${name}`, value]),
  );

const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
const strategic = { headers: { 'content-type': 'application/strategic-merge-patch+json' } };
const apply = { headers: { 'content-type': 'application/apply-patch+yaml' } };
const container = { name: 'a', image: 'b' };
const onHost = { hostNetwork: true, containers: [container] };
const own = { containers: [container] };
const what = 'host namespaces (hostNetwork=true)';

describe('Pod Security', () => {
  let server: TestServer;
  let count = 0;
  const start = async (options: TestServerOptions = {}) => {
    server = await startTestServer(options);
  };
  afterEach(() => server.stop());

  const warningsOf = ({ headers }: Answer) =>
    [...(headers.get('warning') ?? '').matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map((match) =>
      String(match[1]).replaceAll('\\"', '"'),
    );

  const createNamespace = (said: Record<string, string>, name = 'shop') =>
    server.call('POST', '/api/v1/namespaces', { metadata: { name, labels: label(said) } });
  /** Creates a namespace with the policy and waits until the server has seen it. */
  const namespace = async (said: Record<string, string>, name = 'shop') => {
    const answer = await createNamespace(said, name);
    assert.equal(answer.status, 201, answer.text);
    assert.equal((await server.call('GET', '/api/v1/namespaces')).status, 200);
  };
  const relabel = (said: Record<string, string | null>, name = 'shop', query = '') =>
    server.call('PATCH', `/api/v1/namespaces/${name}${query}`, { metadata: { labels: label(said) } }, merge);
  const createPod = (spec: object, options?: CallOptions, metadata: object = {}, query = '') =>
    server.call(
      'POST',
      `/api/v1/namespaces/shop/pods${query}`,
      { metadata: { name: `p${count++}`, ...metadata }, spec },
      options,
    );
  const created = async (spec: object, metadata: object = {}) => {
    const answer = await createPod(spec, undefined, metadata);
    assert.equal(answer.status, 201, answer.text);
    return answer.json().metadata.name;
  };
  const refusedWith = (answer: Answer, message: RegExp | string) => {
    assert.equal(answer.status, 403, answer.text);
    const { message: said = '' } = answer.json<Status>();
    if (typeof message === 'string') assert.equal(said, message);
    else assert.match(said, message);
  };

  describe('the mode enforce', () => {
    it('rejects a pod, with all its violations', async () => {
      await start();
      await namespace({ enforce: 'baseline', 'enforce-version': 'v1.30' });
      const answer = await createPod({
        ...onHost,
        containers: [{ ...container, securityContext: { privileged: true } }],
      });
      refusedWith(
        answer,
        `pods "p${count - 1}" is forbidden: violates PodSecurity "baseline:v1.30": ${what}, privileged ` +
          '(container "a" must not set securityContext.privileged=true)',
      );
      assert.deepEqual(warningsOf(answer), []);
      assert.equal((await server.call('GET', `/api/v1/namespaces/shop/pods/p${count - 1}`)).status, 404);
    });

    it('allows a conforming pod without a warning', async () => {
      await start();
      await namespace({ enforce: 'baseline' });
      const answer = await createPod(own);
      assert.equal(answer.status, 201, answer.text);
      assert.deepEqual(warningsOf(answer), []);
    });

    it('checks volumes with their defaults: a volume without a source is an emptyDir', async () => {
      await start();
      await namespace({ enforce: 'restricted' });
      const securityContext = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } };
      const restricted = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
      const spec = {
        securityContext,
        volumes: [{ name: 'v' }],
        containers: [{ ...container, securityContext: restricted }],
      };
      const answer = await createPod(spec);
      assert.equal(answer.status, 201, answer.text);
      refusedWith(
        await createPod({ ...spec, volumes: [{ name: 'v', hostPath: { path: '/' } }] }),
        /restricted volume types/,
      );
    });

    it('applies to generated names, dry runs and applied configurations', async () => {
      await start();
      await namespace({ enforce: 'baseline' });
      const pods = '/api/v1/namespaces/shop/pods';
      refusedWith(
        await server.call('POST', pods, { metadata: { generateName: 'g-' }, spec: onHost }),
        /^pods "g-.*" is forbidden: violates PodSecurity "baseline:latest": host/,
      );
      refusedWith(await createPod(onHost, undefined, {}, '?dryRun=All'), /violates PodSecurity/);
      const body = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'applied' }, spec: onHost };
      refusedWith(
        await server.call('PATCH', `${pods}/applied?fieldManager=x`, body, apply),
        /^pods "applied" is forbidden: violates PodSecurity/,
      );
      assert.equal((await server.call('GET', `${pods}/applied`)).status, 404);
    });

    it('allows changes of an existing violating pod, except for its images and containers', async () => {
      await start();
      await namespace({});
      const name = await created(onHost);
      const path = `/api/v1/namespaces/shop/pods/${name}`;
      assert.equal((await relabel({ enforce: 'baseline', warn: 'baseline' })).status, 200);
      assert.equal((await server.call('GET', '/api/v1/namespaces')).status, 200);
      const labelled = await server.call('PATCH', path, { metadata: { labels: { a: 'b' } } }, merge);
      assert.equal(labelled.status, 200, labelled.text);
      assert.deepEqual(warningsOf(labelled), []);
      const status = await server.call('PATCH', `${path}/status`, { status: { phase: 'Running' } }, merge);
      assert.equal(status.status, 200, status.text);
      const image = { spec: { containers: [{ name: 'a', image: 'other' }] } };
      refusedWith(
        await server.call('PATCH', path, image, strategic),
        /violates PodSecurity "baseline:latest"/,
      );
      const pod = (await server.call('GET', path)).json<{ spec: { containers: object[] } }>();
      pod.spec.containers[0] = { ...pod.spec.containers[0], image: 'other' };
      refusedWith(await server.call('PUT', path, pod), /violates PodSecurity/);
      const bound = await server.call('POST', `${path}/binding`, { target: { kind: 'Node', name: 'n' } });
      assert.equal(bound.status, 201, bound.text);
      assert.equal((await server.call('DELETE', path)).status, 200);
    });

    it('applies to ephemeral containers', async () => {
      await start();
      await namespace({ enforce: 'baseline' });
      const name = await created(own);
      const add = (securityContext: object) =>
        server.call(
          'PATCH',
          `/api/v1/namespaces/shop/pods/${name}/ephemeralcontainers`,
          { spec: { ephemeralContainers: [{ name: 'debug', image: 'b', securityContext }] } },
          strategic,
        );
      refusedWith(await add({ privileged: true }), /privileged \(container "debug" must not set/);
      const answer = await add({});
      assert.equal(answer.status, 200, answer.text);
    });

    it('treats invalid labels as the strictest level', async () => {
      await start();
      await namespace({});
      const key = '/registry/namespaces/shop';
      const stored = await server.store.get(key);
      const text = Buffer.from(stored?.value ?? []).toString();
      const odd = text.replace('"labels":{', `"labels":{"pod-security.kubernetes.io/enforce":"odd",`);
      assert.notEqual(odd, text);
      await server.store.update(key, Buffer.from(odd), stored?.revision ?? 0);
      assert.equal((await server.call('GET', '/api/v1/namespaces')).status, 200);
      refusedWith(await createPod(own), /violates PodSecurity "restricted:latest"/);
    });
  });

  describe('the modes warn and audit', () => {
    it('warns about a pod that it allows, once', async () => {
      await start();
      await namespace({ warn: 'baseline' });
      const answer = await createPod(onHost);
      assert.equal(answer.status, 201, answer.text);
      assert.deepEqual(warningsOf(answer), [`would violate PodSecurity "baseline:latest": ${what}`]);
    });

    const template = { metadata: { labels: { a: 'b' } }, spec: onHost };
    const selector = { matchLabels: { a: 'b' } };
    const job = { template: { spec: { ...onHost, restartPolicy: 'Never' } } };
    const kinds: [path: string, body: object][] = [
      ['apps/v1/deployments', { spec: { selector, template } }],
      ['apps/v1/replicasets', { spec: { selector, template } }],
      ['apps/v1/daemonsets', { spec: { selector, template } }],
      ['apps/v1/statefulsets', { spec: { selector, template, serviceName: 's' } }],
      ['batch/v1/jobs', { spec: job }],
      ['batch/v1/cronjobs', { spec: { schedule: '* * * * *', jobTemplate: { spec: job } } }],
      ['v1/replicationcontrollers', { spec: { selector: { a: 'b' }, template } }],
      ['v1/podtemplates', { template }],
    ];
    for (const [path, body] of kinds)
      it(`warns of the template of ${path}, and refuses none`, async () => {
        await start();
        await namespace({ enforce: 'baseline' });
        const [version, plural] = [
          path.slice(0, path.lastIndexOf('/')),
          path.slice(path.lastIndexOf('/') + 1),
        ];
        const root = version === 'v1' ? '/api/v1' : `/apis/${version}`;
        const answer = await server.call('POST', `${root}/namespaces/shop/${plural}`, {
          metadata: { name: 't' },
          ...body,
        });
        assert.equal(answer.status, 201, answer.text);
        const told = `would violate PodSecurity "baseline:latest": ${what}`;
        assert.ok(warningsOf(answer).includes(told), answer.headers.get('warning') ?? 'no warning');
        const named = `${root}/namespaces/shop/${plural}/t`;
        const updated = await server.call('PATCH', named, { metadata: { labels: { x: 'y' } } }, merge);
        assert.equal(updated.status, 200, updated.text);
        assert.ok(warningsOf(updated).includes(told), 'an update is warned of too');
        const status = await server.call(
          'PATCH',
          `${named}/status`,
          { metadata: { labels: { x: 'z' } } },
          merge,
        );
        assert.ok(!warningsOf(status).includes(told), 'a status is not');
      });

    it('logs audited violations, and the number of omitted ones', async () => {
      const lines: [string, object][] = [];
      const log: Logger = {
        ...silentLogger,
        info: (message, fields = {}) => lines.push([message, fields]),
        named: () => log,
      };
      await start({ log });
      await namespace({ audit: 'baseline' });
      lines.length = 0;
      const names: string[] = [];
      for (let index = 0; index < auditBurst + 5; index++) names.push(await created(onHost));
      const told = () => lines.filter(([message]) => message.includes('PodSecurity'));
      assert.equal(told().length, auditBurst);
      assert.deepEqual(told()[0], [
        `would violate PodSecurity "baseline:latest": ${what}`,
        { kind: 'Pod', namespace: 'shop', name: names[0], user: 'system:admin' },
      ]);
      await server.clock.advance(10_000);
      const name = await created(onHost);
      assert.deepEqual(
        told()
          .map(([, fields]) => fields)
          .at(-1),
        {
          ...{ kind: 'Pod', namespace: 'shop', name, user: 'system:admin' },
          omitted: 5,
        },
      );
    });
  });

  describe('exemptions and defaults', () => {
    const strict: PodSecurityConfiguration = {
      ...usualConfiguration,
      defaults: { ...usualConfiguration.defaults, enforce: { level: 'baseline', version: 'latest' } },
      exemptions: { usernames: ['ann'], namespaces: ['kube-system'], runtimeClasses: ['sandbox'] },
    };
    const ann = { name: 'ann', groups: ['system:masters'] };

    it('apply without labels', async () => {
      await start({ podSecurity: strict });
      await namespace({});
      refusedWith(await createPod(onHost), /violates PodSecurity "baseline:latest"/);
      assert.equal((await relabel({ enforce: 'privileged' })).status, 200);
      assert.equal((await server.call('GET', '/api/v1/namespaces')).status, 200);
      await created(onHost);
    });

    it('exempt a user, a namespace and a runtime class', async () => {
      await start({ podSecurity: strict });
      await namespace({});
      const made = await createPod(onHost, { user: ann });
      assert.equal(made.status, 201, made.text);
      refusedWith(await createPod(onHost), /violates PodSecurity/);
      const system = await server.call('POST', '/api/v1/namespaces/kube-system/pods', {
        metadata: { name: 'p' },
        spec: onHost,
      });
      assert.equal(system.status, 201, system.text);
      const runtime = await server.call('POST', '/apis/node.k8s.io/v1/runtimeclasses', {
        metadata: { name: 'sandbox' },
        handler: 'runc',
      });
      assert.equal(runtime.status, 201, runtime.text);
      await created({ ...onHost, runtimeClassName: 'sandbox' });
    });

    it('warn of a policy that will be ignored', async () => {
      await start({ podSecurity: { ...strict, exemptions: { ...strict.exemptions, namespaces: ['shop'] } } });
      const ignored = (policy: string) =>
        `namespace "shop" is exempt from Pod Security, and the policy (${policy}) will be ignored`;
      const answer = await createNamespace({ enforce: 'restricted', audit: 'baseline' });
      assert.equal(answer.status, 201, answer.text);
      assert.deepEqual(warningsOf(answer), [ignored('enforce=restricted:latest, audit=baseline:latest')]);
      await created(onHost);
      assert.deepEqual(warningsOf(await relabel({ 'enforce-version': 'v1.30', audit: null })), [
        ignored('enforce=restricted:v1.30'),
      ]);
      assert.deepEqual(warningsOf(await relabel({ enforce: null, 'enforce-version': null })), []);
    });
  });

  describe('the labels of a namespace', () => {
    it('must be a valid policy', async () => {
      await start();
      const answer = await createNamespace({ enforce: 'strict', 'warn-version': '1.32' });
      assert.equal(answer.status, 422, answer.text);
      const { message = '', details } = answer.json<Status>();
      assert.equal(details?.causes?.length, 2);
      assert.match(
        message,
        /^Namespace "shop" is invalid: \[?metadata\.labels\[pod-security\.kubernetes\.io\/enforce\]: /,
      );
      await namespace({});
      assert.equal((await relabel({ enforce: 'Baseline' })).status, 422);
      assert.equal((await relabel({ enforce: 'baseline' })).status, 200);
      assert.equal((await relabel({ 'audit-version': 'v1.99' })).status, 200);
    });

    it('warns about existing pods that a stricter policy would reject', async () => {
      await start();
      await namespace({});
      await created(onHost, { name: 'z' });
      await created(onHost, { name: 'y' });
      await created(own, { name: 'x' });
      const first = (said: Record<string, string | null>, query = '') =>
        relabel(said, 'shop', query).then(warningsOf);
      const told = (level: string) => [
        `existing pods in namespace "shop" violate the new PodSecurity enforce level "${level}"`,
        'y (and 1 other pod): host namespaces',
      ];
      assert.deepEqual(await first({ enforce: 'baseline' }, '?dryRun=All'), told('baseline:latest'));
      assert.deepEqual(await first({ enforce: 'baseline' }), told('baseline:latest'));
      assert.deepEqual(await first({ warn: 'restricted' }), [], 'nothing is enforced that was not');
      assert.deepEqual(await first({ 'enforce-version': 'v1.30' }), told('baseline:v1.30'));
      const restricted = await first({ enforce: 'restricted' });
      assert.equal(restricted.length, 3);
      assert.match(restricted[2] ?? '', /^y \(and 1 other pod\): host namespaces, allowPriv/);
      assert.deepEqual(await first({ enforce: 'baseline' }), [], 'laxer than before');
      assert.deepEqual(await first({ enforce: 'privileged' }), []);
    });

    it('are checked for a limited time in a namespace with very many pods', async () => {
      await start();
      await namespace({});
      await created(onHost, { name: 'p' });
      const stored = await server.store.get('/registry/pods/shop/p');
      const text = Buffer.from(stored?.value ?? []).toString();
      for (let index = 0; index < 3_100; index++) {
        const name = `p${String(index).padStart(5, '0')}`;
        await server.store.create(
          `/registry/pods/shop/${name}`,
          Buffer.from(text.replace('"name":"p"', `"name":"${name}"`)),
        );
      }
      assert.equal((await server.call('GET', '/api/v1/namespaces/shop/pods?limit=1')).status, 200);
      const warnings = warningsOf(await relabel({ enforce: 'baseline' }));
      assert.match(warnings[0] ?? '', /only checked against the first \d+ of 3101 existing pods$/);
      assert.match(warnings[2] ?? '', /^p \(and 2999 other pods\): host namespaces$/);
    });
  });
});
