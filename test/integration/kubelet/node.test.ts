/** The node agent with the real Docker engine, kernel and firewall, as its users see it. */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { eventually, isReady, type NodeHarness, nodeIP, podCIDR, startNodeHarness } from './node-harness.ts';
import { containerId, inside, outputOf, shellContainer } from './pod-access.ts';

await lockMachine();

describe('node agent on Docker', () => {
  let node: NodeHarness;

  before(async () => {
    node = await startNodeHarness();
    await node.startAgent();
  });
  after(() => node.close());

  const shell = (script: string, more: object = {}) => shellContainer(node, script, more);
  const web = (text: string) => `mkdir -p /www; echo ${text} >/www/index.html; exec httpd -f -p 8080 -h /www`;

  it('runs a pod under its own name and address, reachable from the host and from another pod', async () => {
    await node.createPod('server', {
      containers: [
        shell(`hostname >/tmp/name; ${web('served')}`, { ports: [{ containerPort: 8080, hostPort: 38080 }] }),
      ],
    });
    await node.createPod('caller', { containers: [shell('exec sleep 1000')] });
    const server = await node.waitFor('server', isReady);
    const caller = await node.waitFor('caller', isReady);
    const address = server.status?.podIP ?? assert.fail('no address');
    assert.ok(address.startsWith('10.231.7.'), address);
    assert.notEqual(address, caller.status?.podIP);

    const fromHost = await eventually(() => fetch(`http://${address}:8080/`));
    assert.equal((await fromHost.text()).trim(), 'served');
    assert.equal(
      (await inside(caller, 'sh', '-c', `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 3 ${address} 8080`))
        .split('\n')
        .at(-1),
      'served',
    );
    const local = await eventually(() => fetch('http://127.0.0.1:38080/'));
    assert.equal((await local.text()).trim(), 'served');

    assert.equal(
      await inside(server, 'cat', '/tmp/name'),
      'server',
      'the name was there before the first command',
    );
    assert.equal(await inside(server, 'hostname'), 'server');
    assert.match(await inside(server, 'cat', '/etc/hosts'), new RegExp(`^${address}\\tserver$`, 'm'));
    assert.equal(await inside(server, 'sh', '-c', 'echo $HOSTNAME'), 'server');
  });

  it('restarts a killed container, and counts the restart', async () => {
    await node.createPod('phoenix', { containers: [shell('exec sleep 1000')] });
    const before = await node.waitFor('phoenix', isReady);
    await systemExec('docker', ['kill', '-s', 'KILL', containerId(before)]);
    const again = await node.waitFor(
      'phoenix',
      (pod) => pod.status?.containerStatuses?.[0]?.restartCount === 1 && isReady(pod),
    );
    assert.notEqual(containerId(again), containerId(before));
    assert.equal(again.status?.podIP, before.status?.podIP, 'the sandbox, and so the address, stayed');
    const last = again.status?.containerStatuses?.[0]?.lastState?.terminated;
    assert.equal(last?.exitCode, 137);
    assert.equal(last?.reason, 'Error');
  });

  it('replaces a sandbox that died, and the containers in it', async () => {
    await node.createPod('homeless', {
      terminationGracePeriodSeconds: 1,
      containers: [shell('exec sleep 1000')],
    });
    const before = await node.waitFor('homeless', isReady);
    const { stdout } = await systemExec('docker', [
      ...['ps', '-q', '--filter', 'name=k8s_POD_homeless_'],
      ...['--filter', `label=minik8s.io/node=${node.owner}`],
    ]);
    await systemExec('docker', ['kill', '-s', 'KILL', stdout.trim()]);
    const again = await node.waitFor(
      'homeless',
      (pod) => isReady(pod) && containerId(pod) !== containerId(before),
    );
    assert.match(await inside(again, 'ip', 'address'), new RegExp(`inet ${again.status?.podIP}/32`));
  });

  it('waits before it restarts a crashing container, with the reason in the status', async () => {
    await node.createPod('crashing', {
      containers: [shell('echo last words >/dev/termination-log; exit 3')],
    });
    const pod = await node.waitFor(
      'crashing',
      ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff',
    );
    const status = pod.status?.containerStatuses?.[0];
    assert.match(
      status?.state?.waiting?.message ?? '',
      /^back-off 10s restarting failed container=main pod=crashing_default/,
    );
    assert.equal(status?.lastState?.terminated?.exitCode, 3);
    assert.equal(status?.lastState?.terminated?.message?.trim(), 'last words');
    assert.equal(pod.status?.phase, 'Running');
  });

  it('removes the sandbox of a completed pod, and keeps the log', async () => {
    await node.createPod('job', { restartPolicy: 'Never', containers: [shell('echo result')] });
    const pod = await node.waitFor('job', ({ status }) => status?.phase === 'Succeeded');
    assert.equal(pod.status?.containerStatuses?.[0]?.state?.terminated?.reason, 'Completed');
    assert.equal(await outputOf(node, containerId(pod)), 'result\n');
    await eventually(async () => {
      const { stdout } = await systemExec('docker', ['ps', '-aq', '--filter', 'name=k8s_POD_job_']);
      assert.equal(stdout.trim(), '');
    });
  });

  it('reports why a container cannot be created', async () => {
    const cases: readonly (readonly [string, object, string])[] = [
      ['no-image', { image: 'minik8s-test/none:1', imagePullPolicy: 'Never' }, 'ErrImageNeverPull'],
      ['bad-image', { image: 'Not A Name' }, 'InvalidImageName'],
      ['pull', { image: '127.0.0.1:1/none:1' }, 'ErrImagePull'],
      ['config', { envFrom: [{ configMapRef: { name: 'absent' } }] }, 'CreateContainerConfigError'],
    ];
    for (const [name, more] of cases) await node.createPod(name, { containers: [shell('sleep 1', more)] });
    for (const [name, , reason] of cases) {
      const pod = await node.waitFor(
        name,
        ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === reason,
      );
      assert.equal(pod.status?.phase, 'Pending', name);
    }
    // The image and the failure are named once each. With images in containerd's store, Docker itself names
    // the image again.
    const failed =
      /^Failed Failed to pull image "127\.0\.0\.1:1\/none:1": (?:failed to resolve reference "127\.0\.0\.1:1\/none:1": failed to do request: )?(?:Get|Head) "http\S+": dial \S+/;
    const pulls = node.events.filter((event) => event.includes('none:1') && event.startsWith('Failed '));
    assert.ok(pulls.length > 0);
    for (const event of pulls) {
      assert.match(event, failed);
      assert.equal(event.split('connection refused').length, 2, event);
    }
  });

  it('reports a command that the image does not have', async () => {
    await node.createPod('no-command', {
      restartPolicy: 'Never',
      containers: [
        { name: 'main', image: node.images.busybox, imagePullPolicy: 'Never', command: ['absent'] },
      ],
    });
    const pod = await node.waitFor('no-command', ({ status }) => status?.phase === 'Failed');
    const end = pod.status?.containerStatuses?.[0]?.state?.terminated;
    assert.equal(end?.exitCode, 127);
    assert.equal(end?.reason, 'ContainerCannotRun');
    assert.match(end?.message ?? '', /absent/);
  });

  it('runs a pod in the host network, under the host name', async () => {
    await node.createPod('on-host', { hostNetwork: true, containers: [shell('exec sleep 1000')] });
    const pod = await node.waitFor('on-host', isReady);
    assert.equal(pod.status?.podIP, nodeIP);
    assert.equal(await inside(pod, 'hostname'), hostname());
    assert.match(await inside(pod, 'ip', 'address'), new RegExp(`inet ${nodeIP}/32`));
  });

  it("gives containers Docker's default capabilities, without those that the pod drops and with those that it adds", async () => {
    await node.createPod('humble', {
      containers: [
        shell('exec sleep 1000', {
          securityContext: {
            runAsUser: 1000,
            runAsGroup: 2000,
            readOnlyRootFilesystem: true,
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
          },
        }),
        { ...shell('exec sleep 1000'), name: 'plain' },
        {
          ...shell('exec sleep 1000', { securityContext: { capabilities: { add: ['NET_ADMIN'] } } }),
          name: 'mighty',
        },
      ],
    });
    const pod = await node.waitFor('humble', isReady);
    assert.match(await inside(pod, 'id'), /uid=1000 gid=2000/);
    assert.equal(await inside(pod, 'hostname'), 'humble');
    await assert.rejects(inside(pod, 'sh', '-c', 'echo x >/file'), /Read-only/);
    const facts = async (name: string) =>
      (await systemExec('docker', ['exec', containerId(pod, name), 'cat', '/proc/1/status'])).stdout;
    assert.match(await facts('main'), /CapEff:\s+0+\n[\s\S]*NoNewPrivs:\s+1/);
    // Docker's default capabilities, without SYS_ADMIN and NET_ADMIN.
    assert.match(await facts('plain'), /CapEff:\s+00000000a80425fb\n[\s\S]*NoNewPrivs:\s+0/);
    assert.match(await facts('mighty'), /CapEff:\s+00000000a80435fb\n/);
  });

  it('reports OOMKilled for a container that exceeded its memory', async () => {
    await node.createPod('greedy', {
      restartPolicy: 'Never',
      containers: [
        shell('dd if=/dev/zero of=/dev/null bs=200M count=1', { resources: { limits: { memory: '16Mi' } } }),
      ],
    });
    const pod = await node.waitFor('greedy', ({ status }) => status?.phase === 'Failed');
    assert.equal(pod.status?.containerStatuses?.[0]?.state?.terminated?.reason, 'OOMKilled');
  });

  it('starts the new image of a pod whose image was changed', async () => {
    const other = node.images.busybox.replace(':', ':v2-');
    await systemExec('docker', ['tag', node.images.busybox, other]);
    try {
      await node.createPod('changing', {
        terminationGracePeriodSeconds: 1,
        containers: [shell('exec sleep 1000')],
      });
      await node.waitFor('changing', isReady);
      const patch = { spec: { containers: [{ name: 'main', image: other }] } };
      const headers = { 'content-type': 'application/strategic-merge-patch+json' };
      const answer = await node.server.call('PATCH', '/api/v1/namespaces/default/pods/changing', patch, {
        headers,
      });
      assert.equal(answer.status, 200, answer.text);
      const pod = await node.waitFor(
        'changing',
        (changed) => isReady(changed) && changed.status?.containerStatuses?.[0]?.image === other,
      );
      assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 1);
    } finally {
      await systemExec('docker', ['image', 'rm', '-f', other]);
    }
  });

  it('stops a deleted pod gracefully, and kills it when its grace period is over', async () => {
    await node.createPod('polite', {
      terminationGracePeriodSeconds: 60,
      containers: [shell('trap "echo bye; exit 0" TERM; while true; do sleep 0.1; done')],
    });
    await node.createPod('stubborn', {
      terminationGracePeriodSeconds: 1,
      containers: [shell('trap "" TERM; while true; do sleep 0.1; done')],
    });
    const polite = await node.waitFor('polite', isReady);
    await node.waitFor('stubborn', isReady);
    for (const name of ['polite', 'stubborn']) {
      await node.server.call('DELETE', `/api/v1/namespaces/default/pods/${name}`);
    }
    await node.waitForGone('polite');
    await node.waitForGone('stubborn');
    const left = await systemExec('docker', [
      'ps',
      '-aq',
      '--filter',
      `label=io.kubernetes.pod.uid=${polite.metadata.uid}`,
    ]);
    assert.equal(left.stdout.trim(), '');
    await assert.rejects(systemExec('ls', [`${node.dataDir}/pods/${polite.metadata.uid}`]), /No such file/);
  });

  it('takes over running pods after its own restart, and ends pods that were deleted in the meantime', async () => {
    await node.createPod('stays', { containers: [shell('exec sleep 1000')] });
    await node.createPod('leaves', {
      terminationGracePeriodSeconds: 1,
      containers: [shell('exec sleep 1000')],
    });
    const stays = await node.waitFor('stays', isReady);
    const leaves = await node.waitFor('leaves', isReady);
    await node.stopAgent();
    await node.server.call('DELETE', '/api/v1/namespaces/default/pods/leaves?gracePeriodSeconds=0');
    await node.startAgent();
    await eventually(async () => {
      const { stdout } = await systemExec('docker', [
        'ps',
        '-aq',
        '--filter',
        `label=io.kubernetes.pod.uid=${leaves.metadata.uid}`,
      ]);
      assert.equal(stdout.trim(), '');
    });
    const after = await node.pod('stays');
    assert.equal(containerId(after), containerId(stays));
    assert.equal(after.status?.containerStatuses?.[0]?.restartCount, 0);
    assert.equal(await inside(after, 'hostname'), 'stays');
  });

  it('works without sandboxes in stock, and leaves no unused sandbox behind when it stops', async () => {
    const unassigned = async () =>
      (
        await systemExec('docker', [
          'ps',
          '-a',
          '--filter',
          `label=minik8s.io/node=${node.owner}`,
          '--filter',
          'label=minik8s.io/role=sandbox',
          '--format',
          '{{.Names}}',
        ])
      ).stdout
        .split('\n')
        .filter((name) => name !== '' && !name.startsWith('k8s_POD_'));
    await node.stopAgent();
    assert.deepEqual(await unassigned(), []);
    await node.startAgent({ sandboxPool: 0 });
    await node.createPod('direct', { containers: [shell('hostname >/tmp/name; exec sleep 1000')] });
    const pod = await node.waitFor('direct', isReady);
    assert.equal(await inside(pod, 'cat', '/tmp/name'), 'direct');
    assert.deepEqual(await unassigned(), []);
  });

  it('gives no address to two running pods', async () => {
    const { json } = await node.server.call('GET', '/api/v1/pods');
    const used = json<{ items: Pod[] }>()
      .items.filter(({ spec, status }) => !spec.hostNetwork && status?.phase === 'Running')
      .map(({ status }) => status?.podIP);
    assert.ok(used.length > 1, `${used.length} pods run`);
    assert.equal(new Set(used).size, used.length);
    for (const address of used) assert.match(address ?? '', /^10\.231\.7\./, `in ${podCIDR}`);
  });
});
