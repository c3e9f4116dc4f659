/** What a pod's security context asks of the real Docker engine and kernel, as a program inside sees it. */
import assert from 'node:assert/strict';
import { readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod.ts';
import { systemExec } from '../../../src/base/exec.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { isReady, type NodeHarness, startNodeHarness } from './node-harness.ts';

await lockMachine();

describe('the security of a pod on Docker', () => {
  let node: NodeHarness;

  before(async () => {
    node = await startNodeHarness();
    await node.startAgent();
  });
  after(() => node.close());

  const sleeper = (name: string, more: object = {}) => ({
    name,
    image: node.images.busybox,
    imagePullPolicy: 'Never',
    command: ['sh', '-c', 'exec sleep 1000'],
    ...more,
  });
  async function inside(pod: Pod, name: string, script: string): Promise<string> {
    const id = pod.status?.containerStatuses?.find((status) => status.name === name)?.containerID;
    const args = ['exec', id?.replace('docker://', '') ?? assert.fail(name), 'sh', '-c', script];
    return (await systemExec('docker', args, { timeoutMs: 30_000 })).stdout.trim();
  }
  const fileOf = (pod: Pod, name: string, path: string) => inside(pod, name, `cat ${path}`);

  it('gives groups, kernel parameters and a group for what the pod writes', async () => {
    await node.createPod('grouped', {
      securityContext: {
        runAsUser: 1000,
        runAsGroup: 1000,
        runAsNonRoot: true,
        supplementalGroups: [4242],
        fsGroup: 5000,
        seccompProfile: { type: 'RuntimeDefault' },
        sysctls: [
          { name: 'kernel.shm_rmid_forced', value: '1' },
          { name: 'net/ipv4/ip_unprivileged_port_start', value: '81' },
        ],
      },
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [
        sleeper('main', {
          command: ['sh', '-c', 'echo x >/v/file; exec sleep 1000'],
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        }),
      ],
    });
    const pod = await node.waitFor('grouped', isReady);
    assert.match(await fileOf(pod, 'main', '/proc/1/status'), /^Groups:\s+1000 4242 5000\s*$/m);
    assert.equal(await fileOf(pod, 'main', '/proc/sys/kernel/shm_rmid_forced'), '1');
    assert.equal(await fileOf(pod, 'main', '/proc/sys/net/ipv4/ip_unprivileged_port_start'), '81');
    const file = join(node.dataDir, 'pods', pod.metadata.uid, 'volumes/v/file');
    assert.equal((await stat(file)).gid, 5000, 'what is written belongs to the group');
    assert.match(await fileOf(pod, 'main', '/proc/1/status'), /^Seccomp:\s+2$/m);
  });

  it('lets the containers of a pod see each other’s processes where they are shared', async () => {
    await node.createPod('open', {
      shareProcessNamespace: true,
      terminationGracePeriodSeconds: 1,
      containers: [sleeper('main'), sleeper('side')],
    });
    const pod = await node.waitFor('open', isReady);
    const seen = await inside(
      pod,
      'side',
      'readlink /proc/self/ns/pid 2>/dev/null || ls -l /proc/self/ns/pid',
    );
    const other = await inside(
      pod,
      'main',
      'readlink /proc/self/ns/pid 2>/dev/null || ls -l /proc/self/ns/pid',
    );
    assert.equal(/pid:\[\d+\]/.exec(seen)?.[0], /pid:\[\d+\]/.exec(other)?.[0]);
    assert.notEqual(/pid:\[\d+\]/.exec(seen)?.[0], await readlink('/proc/self/ns/pid'));
    assert.match(
      await inside(pod, 'side', 'cat /proc/1/cmdline'),
      /pause/,
      'the sandbox is the first of them',
    );
    assert.equal(await inside(pod, 'side', 'hostname'), 'open');
    await node.server.call('DELETE', '/api/v1/namespaces/default/pods/open');
    await node.waitForGone('open');
  });

  it('only a pod with hostPID and hostIPC gets the host’s processes and memory', async () => {
    await node.createPod('inner', {
      hostPID: true,
      hostIPC: true,
      terminationGracePeriodSeconds: 1,
      containers: [sleeper('main', { securityContext: { seccompProfile: { type: 'Unconfined' } } })],
    });
    await node.createPod('outer', { containers: [sleeper('main')] });
    const spaces = async (name: string) => {
      const pod = await node.waitFor(name, isReady);
      const found = await inside(pod, 'main', 'ls -l /proc/self/ns');
      return { pod, pid: /pid:\[\d+\]/.exec(found)?.[0], ipc: /ipc:\[\d+\]/.exec(found)?.[0] };
    };
    const [inner, outer] = [await spaces('inner'), await spaces('outer')];
    const [pid, ipc] = [await readlink('/proc/self/ns/pid'), await readlink('/proc/self/ns/ipc')];
    assert.deepEqual([inner.pid, inner.ipc], [pid, ipc]);
    assert.notEqual(outer.pid, pid);
    assert.notEqual(outer.ipc, ipc);
    const status = 'cat /proc/self/status';
    assert.match(await inside(inner.pod, 'main', status), /^Seccomp:\s+0$/m);
    assert.match(await inside(outer.pod, 'main', status), /^Seccomp:\s+2$/m);
  });
});
