/**
 * Effects of a pod's security context on the real Docker engine and kernel, as a program inside observes
 * them.
 */
import assert from 'node:assert/strict';
import { mkdir, readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { parseUnsafeSysctls } from '../../../src/kubelet/containers/plan/sysctls.ts';
import { readNodeFacts } from '../../../src/kubelet/node/node-facts.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { imageWithAccounts } from './account-image.ts';
import { isReady, type NodeHarness, startNodeHarness } from './node-harness.ts';

await lockMachine();

describe('the security context of a pod on Docker', () => {
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
    return (await systemExec('docker', args, { timeoutMs: 60_000 })).stdout.trim();
  }
  const fileOf = (pod: Pod, name: string, path: string) => inside(pod, name, `cat ${path}`);

  it('sets groups, kernel parameters and a group for the files that the pod writes', async () => {
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

  it('assigns volumes and their new files to the group of the pod', async () => {
    const volumes = [
      { name: 'disk', emptyDir: {} },
      { name: 'memory', emptyDir: { medium: 'Memory' } },
    ];
    const mounts = volumes.flatMap(({ name }) => [
      { name, mountPath: `/${name}` },
      { name, mountPath: `/part-of-${name}`, subPath: 'part' },
    ]);
    const make = 'for v in disk memory; do echo x >/$v/file; echo x >/part-of-$v/file; done; exec sleep 1000';
    await node.createPod('owned', {
      securityContext: { runAsUser: 1000, fsGroup: 5000 },
      volumes,
      containers: [sleeper('main', { command: ['sh', '-c', make], volumeMounts: mounts })],
    });
    const pod = await node.waitFor('owned', isReady);
    const places = volumes.flatMap(({ name }) => [`/${name}`, `/part-of-${name}`]);
    const modes = (await inside(pod, 'main', `stat -c '%a %g' ${places.join(' ')}`)).split('\n');
    // Memory volumes are sticky: no user can remove another user's files, as in Kubernetes.
    assert.deepEqual(modes, ['2777 5000', '2777 5000', '3777 5000', '3777 5000']);
    const files = places.map((place) => `${place}/file`).join(' ');
    assert.deepEqual(
      new Set((await inside(pod, 'main', `stat -c '%u %g' ${files}`)).split('\n')),
      new Set(['1000 5000']),
    );
  });

  it('shows the containers of a pod each other’s processes if they share a process namespace', async () => {
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

  it('gives the host’s process and IPC namespaces only to a pod with hostPID and hostIPC', async () => {
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

  /** Returns a reader of the kernel's status fields of a container's program. */
  async function statusOf(pod: Pod, name: string): Promise<(field: string) => string> {
    const text = await fileOf(pod, name, '/proc/1/status');
    return (field) => new RegExp(`^${field}:\\s+(.*?)\\s*$`, 'm').exec(text)?.[1] ?? assert.fail(field);
  }
  const waiting = (pod: Pod, name = 'main') =>
    pod.status?.containerStatuses?.find((status) => status.name === name)?.state?.waiting;
  const remove = async (name: string) => {
    const grace = '?gracePeriodSeconds=0';
    await node.server.call('DELETE', `/api/v1/namespaces/default/pods/${name}${grace}`);
  };

  it('gives each container its own user and capabilities, and a read-only root filesystem if requested', async () => {
    const caps = (add: string[]) => ({ capabilities: { drop: ['ALL'], add } });
    await node.createPod('rights', {
      securityContext: { runAsUser: 1000, runAsGroup: 2000 },
      containers: [
        sleeper('main'),
        sleeper('other', { securityContext: { runAsUser: 0, runAsGroup: 7, ...caps(['NET_BIND_SERVICE']) } }),
        sleeper('none', { securityContext: { runAsUser: 0, allowPrivilegeEscalation: false, ...caps([]) } }),
        sleeper('fixed', { securityContext: { runAsUser: 0, readOnlyRootFilesystem: true } }),
      ],
    });
    const pod = await node.waitFor('rights', isReady);
    const [main, other, none] = [
      await statusOf(pod, 'main'),
      await statusOf(pod, 'other'),
      await statusOf(pod, 'none'),
    ];
    assert.deepEqual(
      [main('Uid'), main('Gid')].map((text) => text.split('\t')[0]),
      ['1000', '2000'],
    );
    assert.deepEqual(
      [other('Uid'), other('Gid')].map((text) => text.split('\t')[0]),
      ['0', '7'],
    );
    const bindService = 1n << 10n;
    assert.deepEqual(
      [other, none].map((field) => BigInt(`0x${field('CapEff')}`)),
      [bindService, 0n],
    );
    assert.deepEqual(
      [other, none].map((field) => field('NoNewPrivs')),
      ['0', '1'],
    );
    const root = (text: string) =>
      text
        .split('\n')
        .find((line) => line.split(' ')[4] === '/')
        ?.split(' ')[5] ?? '';
    assert.match(root(await fileOf(pod, 'fixed', '/proc/self/mountinfo')), /^ro\b/);
    assert.match(root(await fileOf(pod, 'main', '/proc/self/mountinfo')), /^rw\b/);
    await remove('rights');
  });

  it('gives a privileged container all capabilities that this machine has', async () => {
    const last = Number(await readFile('/proc/sys/kernel/cap_last_cap', 'utf8'));
    const everything = (1n << BigInt(last + 1)) - 1n;
    const bounds = BigInt(`0x${/^CapBnd:\s+(\w+)$/m.exec(await readFile('/proc/self/status', 'utf8'))?.[1]}`);
    const main = sleeper('main', { securityContext: { privileged: true } });
    await node.createPod('privileged', { containers: [main] });
    const ended = ({ status }: Pod) => status?.containerStatuses?.[0]?.lastState?.terminated;
    const pod = await node.waitFor('privileged', (found) => isReady(found) || Boolean(ended(found)));
    if (isReady(pod)) {
      const status = await statusOf(pod, 'main');
      assert.equal(BigInt(`0x${status('CapEff')}`), bounds);
      assert.equal(status('Seccomp'), '0');
    } else {
      // If the machine lacks some capabilities itself, an older engine grants none.
      assert.notEqual(bounds, everything);
      assert.match(ended(pod)?.message ?? '', /unable to apply caps: operation not permitted/);
    }
    await remove('privileged');
  });

  it('does not start a container as root with runAsNonRoot', async () => {
    await node.createPod('root', {
      securityContext: { runAsNonRoot: true },
      containers: [sleeper('main'), sleeper('zero', { securityContext: { runAsUser: 0 } })],
    });
    const pod = await node.waitFor('root', (found) =>
      Boolean(waiting(found) && waiting(found, 'zero')?.message),
    );
    assert.equal(waiting(pod)?.reason, 'CreateContainerConfigError');
    assert.match(waiting(pod)?.message ?? '', /^container has runAsNonRoot and image will run as root /);
    assert.match(waiting(pod, 'zero')?.message ?? '', /^container's runAsUser breaks non-root policy /);
    await remove('root');
  });

  it('confines a container by a seccomp profile of the machine, and starts no container whose profile does not exist', async () => {
    const rules = { defaultAction: 'SCMP_ACT_ALLOW', syscalls: [] as object[] };
    rules.syscalls.push({ names: ['mkdir', 'mkdirat'], action: 'SCMP_ACT_ERRNO' });
    await mkdir(join(node.dataDir, 'seccomp/team'), { recursive: true });
    await writeFile(join(node.dataDir, 'seccomp/team/no-mkdir.json'), JSON.stringify(rules));
    const profile = (localhostProfile: string) => ({
      seccompProfile: { type: 'Localhost', localhostProfile },
    });
    await node.createPod('confined', {
      securityContext: profile('team/no-mkdir.json'),
      containers: [
        sleeper('main'),
        sleeper('free', { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }),
        sleeper('lost', { securityContext: profile('gone.json') }),
      ],
    });
    const started = (name: string) => (pod: Pod) =>
      Boolean(pod.status?.containerStatuses?.find((status) => status.name === name)?.state?.running);
    const pod = await node.waitFor(
      'confined',
      (found) => started('main')(found) && started('free')(found) && Boolean(waiting(found, 'lost')?.message),
    );
    const make = 'mkdir /made 2>&1 && echo made; true';
    assert.match(await inside(pod, 'main', make), /Operation not permitted/);
    assert.equal(await inside(pod, 'free', make), 'made');
    assert.equal((await statusOf(pod, 'main'))('Seccomp'), '2');
    assert.deepEqual(
      [waiting(pod, 'lost')?.reason, waiting(pod, 'lost')?.message],
      ['CreateContainerError', 'cannot load seccomp profile "gone.json": there is no such file'],
    );
    await remove('confined');
  });

  it('gives an ephemeral container its requested user and capabilities', async () => {
    await node.createPod('looked', { securityContext: { runAsUser: 1000 }, containers: [sleeper('main')] });
    await node.waitFor('looked', isReady);
    const securityContext = { runAsUser: 4000, runAsGroup: 4001, capabilities: { drop: ['ALL'] } };
    const patch = { spec: { ephemeralContainers: [sleeper('debug', { securityContext })] } };
    const answer = await node.server.call(
      'PATCH',
      '/api/v1/namespaces/default/pods/looked/ephemeralcontainers',
      patch,
      { headers: { 'content-type': 'application/strategic-merge-patch+json' } },
    );
    assert.equal(answer.status, 200, answer.text);
    const added = ({ status }: Pod) => status?.ephemeralContainerStatuses?.[0];
    const pod = await node.waitFor('looked', (found) => Boolean(added(found)?.state?.running));
    const id = added(pod)?.containerID?.replace('docker://', '') ?? assert.fail('no id');
    const { stdout } = await systemExec('docker', ['exec', id, 'cat', '/proc/1/status'], {
      timeoutMs: 60_000,
    });
    assert.match(stdout, /^Uid:\s+4000\s/m);
    assert.match(stdout, /^Gid:\s+4001\s/m);
    assert.match(stdout, /^CapEff:\s+0+$/m);
    await remove('looked');
  });

  it('sets only kernel parameters that the administrator has allowed', async () => {
    await node.stopAgent();
    await node.startAgent({ allowedUnsafeSysctls: parseUnsafeSysctls('kernel.msg*,net.core.somaxconn') });
    const sysctls = (...names: string[]) => ({ sysctls: names.map((name) => ({ name, value: '4321' })) });
    await node.createPod('tuned', {
      securityContext: sysctls('kernel.msgmax', 'net.core.somaxconn'),
      containers: [sleeper('main')],
    });
    const pod = await node.waitFor('tuned', isReady);
    assert.equal(await fileOf(pod, 'main', '/proc/sys/kernel/msgmax'), '4321');
    assert.equal(await fileOf(pod, 'main', '/proc/sys/net/core/somaxconn'), '4321');
    assert.notEqual(
      (await readFile('/proc/sys/kernel/msgmax', 'utf8')).trim(),
      '4321',
      'only the parameter of the pod is set',
    );
    await node.createPod('harmful', {
      securityContext: sysctls('kernel.shmmax'),
      containers: [sleeper('main')],
    });
    const { status } = await node.waitFor('harmful', (found) => found.status?.phase === 'Failed');
    assert.deepEqual(
      [status?.reason, status?.message],
      ['SysctlForbidden', 'Pod was rejected: forbidden sysctl: "kernel.shmmax" not allowlisted'],
    );
    await node.stopAgent();
    await node.startAgent();
    const main = pod.status?.containerStatuses?.[0]?.containerID?.replace('docker://', '') ?? assert.fail();
    await systemExec('docker', ['kill', main], { timeoutMs: 60_000 });
    const again = await node.waitFor('tuned', (found) =>
      Boolean(waiting(found)?.message?.includes('sysctl')),
    );
    assert.deepEqual(
      [waiting(again)?.reason, waiting(again)?.message],
      ['CreateContainerConfigError', 'forbidden sysctl: "kernel.msgmax" not allowlisted'],
    );
    await remove('tuned');
  });

  it('runs containers with AppArmor if the kernel supports it, and rejects them otherwise', async () => {
    const { hasAppArmor } = await readNodeFacts(node.dataDir, 'v1.32.0-test');
    const appArmorProfile = { type: 'RuntimeDefault' };
    await node.createPod('armed', { securityContext: { appArmorProfile }, containers: [sleeper('main')] });
    await node.createPod('bare', {
      securityContext: { appArmorProfile: { type: 'Unconfined' } },
      containers: [sleeper('main')],
    });
    await node.waitFor('bare', isReady);
    if (hasAppArmor) {
      const pod = await node.waitFor('armed', isReady);
      assert.match(await fileOf(pod, 'main', '/proc/1/attr/current'), /^docker-default/);
      return;
    }
    const { status } = await node.waitFor('armed', (found) => found.status?.phase === 'Failed');
    assert.deepEqual(
      [status?.reason, status?.message],
      ['AppArmor', 'Pod was rejected: Cannot enforce AppArmor: AppArmor is not enabled on the host'],
    );
  });

  it('adds the groups of the image with the policy Merge, and not with Strict', async () => {
    const image = await imageWithAccounts(node);
    const groupsOf = async (name: string, policy: string, ids: object) => {
      await node.createPod(name, {
        securityContext: { ...ids, supplementalGroups: [4242], supplementalGroupsPolicy: policy },
        containers: [{ ...sleeper('main'), image }],
      });
      const pod = await node.waitFor(name, isReady);
      return (await statusOf(pod, 'main'))('Groups')
        .split(' ')
        .map(Number)
        .sort((a, b) => a - b);
    };
    const own = { runAsUser: 1000, runAsGroup: 1000 };
    assert.deepEqual(await groupsOf('merged', 'Merge', { runAsUser: 1000 }), [1000, 3000, 4242]);
    assert.deepEqual(await groupsOf('strict', 'Strict', own), [1000, 4242]);
    await node.createPod('open', {
      securityContext: { runAsUser: 1000, supplementalGroupsPolicy: 'Strict' },
      containers: [{ ...sleeper('main'), image }],
    });
    const held = await node.waitFor('open', (pod) => waiting(pod)?.reason === 'NotSupported');
    assert.match(waiting(held)?.message ?? '', /supplementalGroupsPolicy \(Strict without runAsGroup\)$/);
  });
});
