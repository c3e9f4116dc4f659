/**
 * docs/certificates.md, "Replace the authority": the authority is rotated while clients work, and the master
 * is killed in the middle of each phase.
 */
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { loadKubeconfig } from '../../src/client/kubeconfig.ts';
import { resolveContext } from '../../src/client/kubeconfig-connection.ts';
import { certificatesOf } from '../../src/os/certificate-bundle.ts';
import { authorityHash } from '../../src/pki/authority-hash.ts';
import { executable } from './harness/cluster.ts';
import { type End, endOf } from './harness/end-of.ts';
import { kubectlFor } from './harness/kubectl.ts';
import { MultiCluster } from './harness/multi-cluster.ts';
import { waitFor } from './harness/wait-for.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/certificates.md'), 'utf8');

interface Credentials {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  readonly token?: string;
}

/** Sends one request on a connection of its own. Resolves to the status. */
function ask(server: string, { token, ...tls }: Credentials): Promise<number> {
  const headers = { ...(token && { authorization: `Bearer ${token}` }) };
  return new Promise((resolve, reject) => {
    const asked = get(`${server}/api`, { ...tls, headers, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    asked.on('error', reject);
  });
}

test('the authority is rotated while clients work and the master is killed', async (context) => {
  const cluster = await MultiCluster.start(context, { hosts: 2 });
  const { kubectl, master, masterDataDir, kubeconfig } = cluster;
  const command = (...args: string[]) => {
    const words = ['certs', 'rotate-ca', ...args];
    assert.ok(page.includes(`\n    minik8s ${words.join(' ')}\n`), words.join(' '));
    // A rotation waits for nodes.
    return endOf(cluster.hosts.at(0).command(executable, [...words, '--data-dir', masterDataDir]), 400_000);
  };
  const done = ({ code, stdout, stderr }: End): string => {
    assert.deepEqual([code, stderr], [0, ''], stdout);
    return stdout;
  };
  const hashes = (bundle: string) => certificatesOf(bundle).map((one) => authorityHash(one.toString()));
  await kubectl('create', 'deployment', 'hello', '--image=minik8s/hello:1', '--replicas=2');
  await kubectl('rollout', 'status', 'deployment', 'hello', '--timeout=60s');
  const podNames = async () => (await kubectl('get', 'pods', '-o', 'name')).trim().split('\n').sort();
  const pods = await podNames();
  const serverOfNodes = /^server: (\S+)$/m.exec(await cluster.token())?.[1] ?? '';
  const former = hashes(readFileSync(join(masterDataDir, 'pki/ca.crt'), 'utf8'));

  const oldFile = join(cluster.hosts.at(0).directory, 'old.conf');
  copyFileSync(kubeconfig, oldFile);
  const config = loadKubeconfig([oldFile]);
  assert.ok(config);
  const old = resolveContext(config);
  const { server } = old;
  const inPod = async (): Promise<Credentials> => {
    const read = (file: string) =>
      kubectl('exec', pods[0] ?? '', '--', 'cat', `/var/run/secrets/kubernetes.io/serviceaccount/${file}`);
    return { ca: await read('ca.crt'), token: (await read('token')).trim() };
  };
  const podFirst = await inPod();
  assert.deepEqual(hashes(podFirst.ca), former);

  /** Failed requests of the first kubeconfig and a pod's account, except while the master starts. */
  const failures: string[] = [];
  const answers = { kubeconfig: 0, pod: 0 };
  let isStarting = false;
  let looping = true;
  const loop = async (name: keyof typeof answers, credentials: Credentials) => {
    while (looping) {
      const wasStarting = isStarting;
      try {
        const status = await ask(server, credentials);
        if (status !== 200) failures.push(`${name}: ${status}`);
        answers[name]++;
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException;
        const mayFail = wasStarting || isStarting;
        if (!mayFail || !/^(ECONNREFUSED|ECONNRESET)$/.test(code)) failures.push(`${name}: ${error}`);
      }
      await pause(20);
    }
  };
  const { ca = '', cert = '', key = '' } = old;
  const loops = [loop('kubeconfig', { ca, cert, key }), loop('pod', podFirst)];
  /** Resolves once each client has had this many more answers. */
  const workOn = async (phase: string) => {
    const enough = { kubeconfig: answers.kubeconfig + 40, pod: answers.pod + 40 };
    const names = ['kubeconfig', 'pod'] as const;
    await waitFor(
      `the clients to work on in the phase ${phase}`,
      () => names.every((name) => answers[name] >= enough[name]) || failures.length > 0,
    );
  };
  const restart = async () => {
    isStarting = true;
    await master.end('SIGKILL');
    await master.start(/^minik8s is ready: https:/m);
    isStarting = false;
  };
  const status = async () => done(await command('--status'));

  await context.test(
    'before a rotation begins, its status reports none, and finishing it is rejected',
    async () => {
      assert.equal(await status(), 'the authority has not been rotated\n');
      const { code, stderr } = await command('--finish');
      assert.equal(code, 1);
      assert.match(
        stderr,
        /^error: no rotation of the authority is under way: begin with minik8s certs rotate-ca$/m,
      );
    },
  );

  await context.test(
    'the command continues although the master is killed while nodes add the new authority',
    async () => {
      const [late, later] = ['node-0', 'node-1'].map((name) => cluster.node(name).role);
      const reaches = (phase: RegExp) =>
        waitFor(String(phase), async () => phase.test(await status().catch(() => '')));
      await workOn('before');
      // A frozen node does not follow, so the phase goes on.
      late?.freeze();
      const first = command();
      await reaches(/^phase +trust: [\s\S]*^node +node-1: has certificates of the former authority$/m);
      await restart();
      await workOn('trust');
      assert.match(
        await status(),
        /^phase +trust: [\s\S]*^node +node-0: does not trust the next authority$/m,
      );
      later?.freeze();
      late?.thaw();
      // The first command may have noticed the kill, or not, between two of its requests.
      const second = command();
      await reaches(
        /^phase +issue: [\s\S]*^node +node-0: done\n[\s\S]*^node +node-1: has certificates of the former/m,
      );
      await restart();
      await workOn('issue');
      assert.match(await status(), /^node +node-1: has certificates of the former authority$/m);
      later?.thaw();
      await Promise.all([first, second]);
      const out = done(await command());
      assert.match(out, /^phase +issue: the next authority signs/m);
      for (const node of ['node-0', 'node-1']) assert.match(out, new RegExp(`^node +${node}: done$`, 'm'));
      assert.match(out, /minik8s certs rotate-ca --finish\n/);
    },
  );

  let both: string[] = [];
  await context.test(
    'pods and kubeconfigs trust both authorities, and the new one signs new certificates',
    async () => {
      both = hashes(resolveContext(loadKubeconfig([kubeconfig]) ?? assert.fail()).ca ?? '');
      assert.deepEqual([both.length, both[0]], [2, former[0]]);
      await waitFor('the pod to have both', async () => hashes((await inPod()).ca).length === 2, {
        timeoutMs: 120_000,
      });
      assert.match(await kubectl('exec', pods[1] ?? '', '--', 'echo', 'reached'), /reached/);
    },
  );

  await context.test('requests fail only while the master starts', () => {
    looping = false;
    assert.deepEqual(failures, []);
    for (const [name, count] of Object.entries(answers)) assert.ok(count > 100, `${name}: ${count}`);
  });
  await Promise.all(loops);

  await context.test(
    'after the end of the rotation only the new authority is trusted, also after a kill',
    async () => {
      const podBoth = await inPod();
      assert.match(done(await command('--finish')), /^phase +finish: /m);
      await restart();
      assert.match(await status(), /^phase +finish: /m);
      const now = hashes(readFileSync(join(masterDataDir, 'pki/ca.crt'), 'utf8'));
      assert.deepEqual(now, [both[1]]);
      assert.equal(await ask(server, podBoth), 200);
      await assert.rejects(ask(server, { ca, cert, key }), /self.signed|unable to verify|certificate/i);
      assert.equal(await ask(server, { ca: podBoth.ca, cert, key }), 401, 'the former certificate');
      const { code } = await kubectlFor(oldFile).attempt(['get', 'nodes']);
      assert.equal(code, 1);
      for (const node of cluster.nodes) {
        await waitFor(
          `${node.name} to trust the next one alone`,
          () => {
            const own = hashes(readFileSync(join(node.dataDir, 'node/ca.crt'), 'utf8'));
            return own.length === 1 && own[0] === both[1];
          },
          { timeoutMs: 120_000 },
        );
        await node.role.end('SIGTERM');
        await node.role.start(/^minik8s is ready: node/m);
        await cluster.untilReady(node);
      }
      assert.deepEqual(await podNames(), pods);
      assert.match(await kubectl('exec', pods[0] ?? '', '--', 'echo', 'reached'), /reached/);
    },
  );

  await context.test(
    'a new command for joining contains the new authority, and an earlier command is rejected',
    async () => {
      assert.ok((await cluster.token()).includes(both[1] ?? 'none'));
      const host = cluster.hosts.at(1);
      await cluster.node('node-1').role.end('SIGTERM');
      const line = [
        'node',
        '--server',
        serverOfNodes,
        '--ca-cert-hash',
        former[0] ?? '',
        '--node-name',
        'late',
      ];
      const flags = ['--data-dir', join(host.directory, 'late'), '--docker-socket', host.dockerSocket];
      const words = ['MINIK8S_TOKEN=abcdef.0123456789abcdef', executable, ...line, ...flags];
      const { code, stderr } = await endOf(host.command('env', words));
      assert.equal(code, 1);
      assert.match(
        stderr,
        /^error: \S+ presents an authority with the hash \S+, not \S+: it belongs to another cluster/m,
      );
    },
  );
});
