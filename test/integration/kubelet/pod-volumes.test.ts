/** Environment, volumes and limits of containers, with the real Docker engine. */
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import type { Service } from '../../../src/api/core/v1/service/service.ts';
import type { KubeObject } from '../../../src/apimachinery/meta.ts';
import { isAtLeast } from '../../../src/docker/api-version.ts';
import { unmountUnder } from '../../../src/kubelet/volumes/mounts.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { testAuthority } from '../../fixtures/certificates.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { eventually, isReady, type NodeHarness, nodeIP, startNodeHarness } from './node-harness.ts';
import { containerId, inside, shellContainer } from './pod-access.ts';

await lockMachine();

describe('the node agent on Docker', () => {
  let node: NodeHarness;

  before(async () => {
    node = await startNodeHarness();
    // A short interval: volumes are checked with each heartbeat.
    await node.startAgent({ heartbeatMs: 1000 });
  });
  after(() => node.close());

  const shell = (script: string, more: object = {}) => shellContainer(node, script, more);

  it('gives containers their environment, volumes and limits', async () => {
    await node.server.call('POST', '/api/v1/namespaces/default/configmaps', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'settings' },
      data: { COLOUR: 'green', 'data-1': 'no name for a shell' },
    });
    const service = await node.server.call('POST', '/api/v1/namespaces/default/services', {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web' },
      spec: { ports: [{ name: 'http', port: 80 }] },
    });
    assert.equal(service.status, 201, service.text);
    const { clusterIP } = service.json<Service>().spec;
    // The container's environment depends on the Service: wait until the agent has received it.
    await eventually(async () => {
      assert.match(await readFile(join(node.dataDir, 'services.json'), 'utf8'), /"web"/);
    });
    await node.createPod('shared', {
      volumes: [
        { name: 'scratch', emptyDir: {} },
        { name: 'fast', emptyDir: { medium: 'Memory', sizeLimit: '4Mi' } },
      ],
      containers: [
        shell('echo shared >/scratch/file; exec sleep 1000', {
          volumeMounts: [
            { name: 'scratch', mountPath: '/scratch' },
            { name: 'fast', mountPath: '/fast' },
          ],
          env: [
            { name: 'ME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
            { name: 'GREETING', value: 'I am $(ME), $(COLOUR)' },
            { name: 'URL', value: 'http://$(WEB_SERVICE_HOST):$(WEB_SERVICE_PORT_HTTP)' },
            { name: 'MEM', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
          ],
          envFrom: [{ configMapRef: { name: 'settings' } }],
          resources: { limits: { cpu: '250m', memory: '32Mi' } },
        }),
        {
          ...shell('exec sleep 1000'),
          name: 'second',
          volumeMounts: [{ name: 'scratch', mountPath: '/data', readOnly: true }],
        },
      ],
    });
    const pod = await node.waitFor('shared', isReady);
    assert.equal(await inside(pod, 'sh', '-c', 'echo $GREETING'), 'I am shared, green');
    assert.equal(await inside(pod, 'sh', '-c', 'echo $IP'), pod.status?.podIP);
    // Runs env without a shell, which would drop variables whose names it does not support.
    const env = (await inside(pod, 'env')).split('\n');
    for (const line of [
      `URL=http://${clusterIP}:80`,
      `WEB_PORT_80_TCP_ADDR=${clusterIP}`,
      'MEM=32',
      'data-1=no name for a shell',
    ])
      assert.ok(env.includes(line), `${line} in ${env.join(', ')}`);
    assert.deepEqual(pod.status?.hostIPs, [{ ip: nodeIP }]);
    const second = containerId(pod, 'second');
    const read = await systemExec('docker', ['exec', second, 'cat', '/data/file']);
    assert.equal(read.stdout, 'shared\n');
    await assert.rejects(
      systemExec('docker', ['exec', second, 'sh', '-c', 'echo x >/data/file']),
      /Read-only/,
    );
    await assert.rejects(inside(pod, 'dd', 'if=/dev/zero', 'of=/fast/big', 'bs=1M', 'count=8'), /No space/);
    const { stdout } = await systemExec('docker', [
      'inspect',
      '-f',
      '{{.HostConfig.CpuQuota}} {{.HostConfig.Memory}}',
      containerId(pod),
    ]);
    assert.equal(stdout.trim(), '25000 33554432');
    assert.equal(pod.status?.qosClass, 'Burstable');
  });

  it('starts a pod once its trust bundle exists, and replaces the certificates of a changed bundle', async () => {
    const [first, second] = [(await testAuthority()).certificate, (await testAuthority()).certificate];
    const projected = { sources: [{ clusterTrustBundle: { name: 'roots', path: 'roots.pem' } }] };
    await node.createPod('trusting', {
      volumes: [{ name: 'trust', projected }],
      containers: [shell('exec sleep 1000', { volumeMounts: [{ name: 'trust', mountPath: '/trust' }] })],
    });
    const isUnready = ({ status }: Pod) =>
      status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'ContainersNotReady') ??
      false;
    await node.waitFor('trusting', isUnready);
    const path = '/apis/certificates.k8s.io/v1/clustertrustbundles';
    const created = await node.server.call('POST', path, {
      ...{ apiVersion: 'certificates.k8s.io/v1', kind: 'ClusterTrustBundle' },
      ...{ metadata: { name: 'roots' }, spec: { trustBundle: `text\n${first}` } },
    });
    assert.equal(created.status, 201, created.text);
    const pod = await node.waitFor('trusting', isReady);
    const mounted = async () => (await inside(pod, 'cat', '/trust/roots.pem')).trim();
    assert.equal(await mounted(), first.trim());
    const bundle = created.json<KubeObject & { spec: object }>();
    await node.server.call('PUT', `${path}/roots`, { ...bundle, spec: { trustBundle: second } });
    await eventually(async () => assert.equal(await mounted(), second.trim()));
  });

  it('limits a volume in memory by the memory limits of its containers', async () => {
    await node.createPod('bounded', {
      volumes: [
        { name: 'fast', emptyDir: { medium: 'Memory' } },
        { name: 'keys', secret: { secretName: 'none', optional: true } },
      ],
      containers: [
        shell('exec sleep 1000', {
          volumeMounts: [
            { name: 'fast', mountPath: '/fast' },
            { name: 'keys', mountPath: '/keys' },
          ],
          resources: { limits: { memory: '24Mi' } },
        }),
      ],
    });
    const pod = await node.waitFor('bounded', isReady);
    for (const path of ['/fast', '/keys']) assert.match(await inside(pod, 'df', '-m', path), /\s24\s/);
  });

  it('ends a pod whose volume on disk outgrows its limit', async () => {
    await node.createPod('outgrowing', {
      volumes: [{ name: 'small', emptyDir: { sizeLimit: '1Mi' } }],
      containers: [
        shell('dd if=/dev/zero of=/small/big bs=1M count=3; exec sleep 1000', {
          volumeMounts: [{ name: 'small', mountPath: '/small' }],
        }),
      ],
    });
    const { status } = await node.waitFor('outgrowing', ({ status }) => status?.phase === 'Failed');
    assert.equal(status?.reason, 'Evicted');
    assert.match(status?.message ?? '', /^Usage of EmptyDir volume "small" exceeds the limit "1Mi"/);
  });

  it('ends a pod that writes more into its own file system than its limit', async () => {
    await node.createPod('writing', {
      containers: [
        shell('dd if=/dev/zero of=/big bs=1M count=3; exec sleep 1000', {
          resources: { limits: { 'ephemeral-storage': '2Mi' } },
        }),
      ],
    });
    const { status } = await node.waitFor('writing', ({ status }) => status?.phase === 'Failed');
    assert.equal(status?.reason, 'Evicted');
    assert.match(
      status?.message ?? '',
      /^Pod ephemeral local storage usage exceeds the total limit of containers 2Mi/,
    );
  });

  it('mounts subPaths that are created, contain a variable, are read-only, on the host, or a file', async () => {
    const host = join(node.dataDir, 'host-parts');
    await mkdir(join(host, 'given'), { recursive: true });
    await writeFile(join(host, 'given', 'file'), 'of the host');
    const mount = (mountPath: string, more: object) => ({ name: 'v', mountPath, ...more });
    await node.createPod('parts', {
      terminationGracePeriodSeconds: 1,
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'm', emptyDir: { medium: 'Memory' } },
        { name: 'h', hostPath: { path: host } },
      ],
      containers: [
        shell('touch /made/here /named/here /memory/here /host/new && exec sleep 1000', {
          env: [{ name: 'ME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
          volumeMounts: [
            mount('/whole', {}),
            mount('/made', { subPath: 'a/b' }),
            mount('/named', { subPathExpr: 'of-$(ME)' }),
            mount('/fixed', { subPath: 'a', readOnly: true }),
            mount('/memory', { name: 'm', subPath: 'x' }),
            mount('/host', { name: 'h', subPath: 'given' }),
            mount('/one', { name: 'h', subPath: 'given/file' }),
          ],
        }),
      ],
    });
    const pod = await node.waitFor('parts', isReady);
    assert.equal(await inside(pod, 'cat', '/one'), 'of the host');
    for (const path of ['/whole/a/b/here', '/whole/of-parts/here', '/fixed/b/here'])
      await inside(pod, 'test', '-f', path);
    await assert.rejects(inside(pod, 'sh', '-c', 'echo x >/fixed/no'), /Read-only/);
    await readFile(join(host, 'given', 'new'));
    await node.client.resource(podResource).delete('parts', 'default');
    await node.waitForGone('parts');
    await eventually(async () => {
      assert.deepEqual(await readdir(join(node.dataDir, 'volume-subpaths')), []);
    });
    assert.equal(await readFile(join(host, 'given', 'file'), 'utf8'), 'of the host');
  });

  it('does not start a container with an invalid subPath', async () => {
    const host = join(node.dataDir, 'host-links');
    await mkdir(host);
    await symlink('/etc', join(host, 'out'));
    const reasons = {
      '/tmp': 'error SubPath `/tmp` must not be an absolute path',
      '..': "unable to provision SubPath `..`: must not contain '..'",
      '': 'missing value for PART',
      out: 'failed to prepare subPath for volumeMount "v" of container "c3"',
    };
    await node.createPod('elsewhere', {
      volumes: [{ name: 'v', hostPath: { path: host } }],
      containers: Object.keys(reasons).map((value, index) => ({
        ...shell('exec sleep 1000'),
        name: `c${index}`,
        env: [{ name: 'PART', value }],
        volumeMounts: [{ name: 'v', mountPath: '/v', subPathExpr: '$(PART)' }],
      })),
    });
    const states = (pod: Pod) => pod.status?.containerStatuses?.map(({ state }) => state?.waiting) ?? [];
    const pod = await node.waitFor('elsewhere', (seen) => {
      const failed = states(seen).filter((waiting) => waiting?.reason === 'CreateContainerConfigError');
      return failed.length === 4;
    });
    assert.equal(pod.status?.phase, 'Pending');
    assert.deepEqual(
      states(pod).map((waiting) => waiting?.message),
      Object.values(reasons),
    );
  });

  it('mounts a path of the host once it has the declared type', async () => {
    const path = join(node.dataDir, 'host');
    const volumes = (type: string) => [{ name: 'h', hostPath: { path, type } }];
    const mounts = { volumeMounts: [{ name: 'h', mountPath: '/h' }] };
    await node.createPod('strict', {
      volumes: volumes('Directory'),
      containers: [shell('exec sleep 1000', mounts)],
    });
    await eventually(async () => {
      assert.match(
        node.events.join('\n'),
        new RegExp(
          `FailedMount MountVolume.SetUp failed for volume "h" : hostPath type check failed: ${path} is not a directory`,
        ),
      );
    });
    await node.createPod('lenient', {
      volumes: volumes('DirectoryOrCreate'),
      containers: [shell('echo kept >/h/file; exec sleep 1000', mounts)],
    });
    await node.waitFor('lenient', isReady);
    await eventually(async () => assert.equal(await readFile(join(path, 'file'), 'utf8'), 'kept\n'));
    // The path exists by now, and the first pod is retried.
    await node.waitFor('strict', isReady);
  });

  it('shows a container the mounts that are made later if their propagation is requested', async (context) => {
    const host = join(node.dataDir, 'shared');
    await mkdir(host);
    await systemExec('mount', ['--bind', host, host]);
    await systemExec('mount', ['--make-shared', host]);
    context.after(() => unmountUnder(host, systemExec));
    await mkdir(join(host, 'later'));
    await node.createPod('propagation', {
      terminationGracePeriodSeconds: 0,
      volumes: [{ name: 'h', hostPath: { path: host } }],
      containers: [
        shell('exec sleep 1000', {
          volumeMounts: [
            { name: 'h', mountPath: '/alone' },
            { name: 'h', mountPath: '/slave', mountPropagation: 'HostToContainer' },
          ],
        }),
      ],
    });
    const pod = await node.waitFor('propagation', isReady);
    await systemExec('mount', ['-t', 'tmpfs', 'tmpfs', join(host, 'later')]);
    await writeFile(join(host, 'later', 'file'), 'seen');
    assert.equal(await inside(pod, 'cat', '/slave/later/file'), 'seen');
    await assert.rejects(inside(pod, 'cat', '/alone/later/file'), /No such file/);
    await node.client.resource(podResource).delete('propagation', 'default');
    await node.waitForGone('propagation');
  });

  it('mounts a volume recursively read-only, or reports that Docker cannot do it', async (context) => {
    const host = join(node.dataDir, 'recursive');
    await mkdir(join(host, 'inner'), { recursive: true });
    await systemExec('mount', ['-t', 'tmpfs', 'tmpfs', join(host, 'inner')]);
    context.after(() => unmountUnder(host, systemExec));
    await node.createPod('recursive', {
      terminationGracePeriodSeconds: 0,
      volumes: [{ name: 'h', hostPath: { path: host } }],
      containers: [
        shell('exec sleep 1000', {
          volumeMounts: [{ name: 'h', mountPath: '/h', readOnly: true, recursiveReadOnly: 'Enabled' }],
        }),
      ],
    });
    const { apiVersion } = await node.runtime.version();
    if (isAtLeast(apiVersion, '1.44')) {
      const pod = await node.waitFor('recursive', isReady);
      await assert.rejects(inside(pod, 'sh', '-c', 'echo x >/h/inner/file'), /Read-only file system/);
    } else {
      const waiting = (pod: Pod) => pod.status?.containerStatuses?.[0]?.state?.waiting;
      const pod = await node.waitFor('recursive', (seen) => waiting(seen)?.reason === 'CreateContainerError');
      const expected = /does not support mounts that are read-only with all below them/;
      assert.match(waiting(pod)?.message ?? '', expected);
    }
    await node.client.resource(podResource).delete('recursive', 'default');
    await node.waitForGone('recursive');
  });

  it('names the volume that it cannot mount', async () => {
    await node.createPod('wanting', {
      volumes: [{ name: 'disk', csi: { driver: 'x.example.com' } }],
      containers: [shell('sleep 1', { volumeMounts: [{ name: 'disk', mountPath: '/disk' }] })],
    });
    const pod = await node.waitFor('wanting', ({ status }) => status?.containerStatuses !== undefined);
    assert.equal(pod.status?.phase, 'Pending');
    const waiting = pod.status?.containerStatuses?.[0]?.state?.waiting;
    assert.equal(waiting?.reason, 'NotSupported');
    assert.match(waiting?.message ?? '', /: spec\.volumes\[0\]\.csi$/);
  });
});
