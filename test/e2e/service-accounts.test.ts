/**
 * Programs in pods: their identity at the API server, their permissions, and the lifetime of these. kubectl
 * is client-go's own program.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { V1Pod } from '@kubernetes/client-node';
import { anyKubectl } from '../fixtures/kubectls.ts';
import { lockMachine } from '../fixtures/machine-lock.ts';
import { Cluster } from './harness/cluster.ts';
import { containerOf, docker } from './harness/docker.ts';
import { helloImage } from './harness/images.ts';
import { waitFor } from './harness/wait-for.ts';

await lockMachine();

const namespace = 'accounts';
const name = 'reader';
const metadata = { name, namespace };
const role = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  metadata,
  rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }],
};
const binding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata,
  subjects: [{ kind: 'ServiceAccount', name, namespace }],
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
};
const podOf = (pod: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: pod, namespace },
  spec: {
    serviceAccountName: name,
    terminationGracePeriodSeconds: 0,
    volumes: [{ name: 'program', hostPath: { path: anyKubectl(), type: 'File' } }],
    containers: [
      {
        name: 'main',
        image: helloImage,
        command: ['sleep', '1000000'],
        // kubectl keeps its discovery cache in its home directory.
        env: [{ name: 'HOME', value: '/tmp' }],
        volumeMounts: [{ name: 'program', mountPath: '/bin/kubectl', readOnly: true }],
      },
    ],
    ...more,
  },
});
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';

test('a program in a pod speaks to the API as its service account', async (context) => {
  const cluster = await Cluster.start(context);
  const { kubectl } = cluster;
  const create = (object: object) =>
    kubectl.attempt(['create', '-f', '-'], { input: JSON.stringify(object) });
  const ready = (pod: string) =>
    waitFor(`the pod ${pod} runs`, async () => {
      const { status } = await kubectl.json<V1Pod>('get', 'pod', pod, '-n', namespace);
      return status?.phase === 'Running';
    });
  await kubectl('create', 'namespace', namespace);
  await kubectl('create', 'serviceaccount', name, '-n', namespace);
  for (const object of [role, binding, podOf('one')]) {
    const { code, stderr } = await create(object);
    assert.equal(code, 0, stderr);
  }
  await ready('one');
  const container = await containerOf('one', 'main');
  const inside = (...words: string[]) => docker('exec', container, ...words);
  /** Runs kubectl in the pod, without any configuration other than the pod's own. */
  const asks = async (...words: string[]) => {
    try {
      return { done: true, said: await inside('kubectl', ...words) };
    } catch (error) {
      return { done: false, said: String(error) };
    }
  };

  await context.test(
    'the program finds the server, and is authenticated as its service account',
    async () => {
      const whoAmI = JSON.parse(await inside('kubectl', 'auth', 'whoami', '-o', 'json'));
      const { username, groups, extra } = whoAmI.status.userInfo;
      assert.equal(username, `system:serviceaccount:${namespace}:${name}`);
      assert.deepEqual(groups, [
        'system:serviceaccounts',
        `system:serviceaccounts:${namespace}`,
        'system:authenticated',
      ]);
      assert.deepEqual(extra['authentication.kubernetes.io/pod-name'], ['one']);
      assert.deepEqual(extra['authentication.kubernetes.io/node-name'], [cluster.nodeName]);
    },
  );

  await context.test('the server’s certificate is valid for the names of its Service', async () => {
    for (const host of ['kubernetes.default.svc', 'kubernetes.default.svc.cluster.local']) {
      const { done, said } = await asks(
        ...['--server', `https://${host}`, '--certificate-authority', `${mountPath}/ca.crt`],
        ...['--token', await inside('cat', `${mountPath}/token`), 'auth', 'whoami'],
      );
      assert.ok(done, said);
      assert.match(said, /system:serviceaccount:accounts:reader/);
    }
  });

  await context.test('the program may do only what its role allows', async () => {
    const may = (await asks('auth', 'can-i', 'list', 'pods', '-n', namespace)).said.startsWith('yes');
    const { done, said } = await asks('get', 'pods', '-n', namespace, '-o', 'name');
    assert.equal(done, may, said);
    if (may) assert.equal(said, 'pod/one');
    else assert.match(said, /cannot list resource "pods"/);
    for (const words of [
      ['get', 'pods', '-n', 'kube-system'],
      ['get', 'secrets', '-n', namespace],
      ['delete', 'pod', 'one', '-n', namespace],
      ['get', 'nodes'],
      ['create', 'token', name, '-n', namespace],
    ]) {
      const refused = await asks(...words);
      assert.equal(refused.done, false, words.join(' '));
      assert.match(refused.said, /is forbidden: User .*system:serviceaccount:accounts:reader.* cannot/);
    }
  });

  await context.test(
    'only the program’s user can read the token, no user can write it, and it is not on a disk',
    async () => {
      const user = { securityContext: { runAsUser: 1234 } };
      assert.equal((await create(podOf('user', user))).code, 0);
      await ready('user');
      const own = await containerOf('user', 'main');
      const token = `${mountPath}/token`;
      assert.match(await docker('exec', own, 'stat', '-L', '-c', '%a %u', token), /^600 1234$/);
      await assert.rejects(
        docker('exec', '-u', '0', own, 'sh', '-c', `echo x > ${mountPath}/x`),
        /Read-only/,
      );
      assert.equal(await docker('exec', own, 'stat', '-f', '-c', '%T', mountPath), 'tmpfs');
      assert.equal(await docker('exec', own, 'cat', `${mountPath}/namespace`), namespace);
    },
  );

  await context.test('a pod without automountServiceAccountToken has no token', async () => {
    assert.equal((await create(podOf('without', { automountServiceAccountToken: false }))).code, 0);
    await ready('without');
    const own = await containerOf('without', 'main');
    await assert.rejects(docker('exec', own, 'ls', mountPath), /No such file/);
  });

  const asToken = (token: string) =>
    kubectl.attempt([
      '--token',
      token,
      '--kubeconfig',
      '/dev/null',
      ...connection(cluster),
      'auth',
      'whoami',
    ]);

  await context.test(
    'the token is valid after a restart of the master, and invalid after its pod is deleted',
    async () => {
      const token = await inside('cat', `${mountPath}/token`);
      assert.equal((await asToken(token)).code, 0);
      await cluster.end('SIGTERM');
      await cluster.up();
      await waitFor('the token is accepted again', async () => (await asToken(token)).code === 0);
      await waitFor('the program continues', async () => (await asks('auth', 'whoami')).done);
      await kubectl('delete', 'pod', 'one', '-n', namespace);
      const { code, stderr } = await asToken(token);
      assert.equal(code, 1);
      assert.match(stderr, /Unauthorized|logged in/);
    },
  );

  await context.test('an administrator creates a token for a program outside of the cluster', async () => {
    const token = await kubectl('create', 'token', name, '-n', namespace, '--duration', '10m');
    assert.match((await asToken(token)).stdout, /system:serviceaccount:accounts:reader/);
    await kubectl('delete', 'serviceaccount', name, '-n', namespace);
    assert.equal((await asToken(token)).code, 1);
  });
});

/** Flags without the administrator's certificate, which would take precedence. */
const connection = (cluster: Cluster) => ['--server', cluster.url, '--insecure-skip-tls-verify'];
