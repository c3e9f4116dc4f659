/** `logs -f` of kubectl and ctl while the Docker engine, one of the test's own, ends and comes back. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../src/base/clock.ts';
import { DockerRuntime } from '../../../src/kubelet/runtime/docker.ts';
import { systemExec } from '../../../src/os/exec.ts';
import { makeDirectory } from '../../e2e/harness/belongings.ts';
import { processesNaming } from '../../e2e/harness/processes.ts';
import { compileCache } from '../../fixtures/compile-cache.ts';
import { noHome } from '../../fixtures/ctl.ts';
import { makeTestImages } from '../../fixtures/docker-images.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { kubectlsOf } from '../../fixtures/kubectls.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { OwnDocker } from '../kubelet/own-docker.ts';
import { type StreamCluster, startStreamCluster } from './stream-cluster.ts';

await lockMachine();

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const programs = [
  ['ctl', [process.execPath, main, 'ctl']],
  ...kubectlsOf(['1.32']).map(({ path }) => ['kubectl', [path]] as const),
] as const;
/** Log drivers whose logs are read from the engine's files and by its API. */
const drivers = ['json-file', 'local'];
/** Prints a number a line until the container is stopped. */
const talk = 'trap \'exit 0\' TERM; i=0; while :; do i=$((i+1)); echo "line $i"; sleep 0.02; done';
/** Number of lines that a follower has printed before the engine ends. */
const enough = 50;

/** Messages about a log that is not complete; kubectl's is the one over HTTP/2, as with kube-apiserver. */
const cutSays = {
  ctl: /^error: the log of container "main" in pod "web" is not complete: the API server at \S+ broke off its answer: /,
  kubectl: /^error: stream error: stream ID \d+; INTERNAL_ERROR; received from peer\n$/,
};

const cli = async ({ socketPath }: OwnDocker, ...args: string[]) =>
  (await systemExec('docker', ['-H', `unix://${socketPath}`, ...args])).stdout;

/** A program that follows a log, and what it has printed. */
class Follower {
  readonly #child: ChildProcess;
  readonly #closed: Promise<unknown>;
  out = '';
  err = '';

  constructor([file = '', ...args]: readonly string[], kubeconfig: string) {
    const env = { KUBECONFIG: kubeconfig, HOME: noHome, PATH: process.env.PATH ?? '', ...compileCache };
    const child = spawn(file, [...args, 'logs', '-f', 'web'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 120_000,
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.err += text;
    });
    this.#closed = once(child, 'close');
    this.#child = child;
  }

  get lines(): number {
    return this.out.split('\n').length - 1;
  }

  /** Resolves once this many lines have been printed. */
  printed(count: number): Promise<unknown> {
    return eventually(systemClock, `${count} lines: ${this.err}`, () => this.lines >= count);
  }

  async end(): Promise<number | null> {
    await this.#closed;
    return this.#child.exitCode;
  }
}

interface Followed {
  /** Docker's ID of the container. */
  readonly id: string;
  readonly name: keyof typeof cutSays;
  readonly follower: Follower;
}

/** Requires the numbers from 1 on, each once, and all that the container has printed if `toTheEnd`. */
function requireLines(out: string, whole: string, toTheEnd: boolean): void {
  assert.ok(toTheEnd ? out === whole : whole.startsWith(out), out);
  assert.match(out, /\n$/);
  const lines = out.trim().split('\n');
  assert.deepEqual(
    lines,
    lines.map((_, index) => `line ${index + 1}`),
  );
}

describe('logs -f of a container whose engine', { timeout: 300_000 }, () => {
  let cluster: StreamCluster;
  let kubeconfig: string;

  before(async () => {
    cluster = await startStreamCluster();
    kubeconfig = await cluster.server.kubeconfigFor('admin', ['system:masters']);
  });
  after(() => cluster.stop());

  /** Follows the log of a new container of each driver with each program, until all print. */
  async function followAll(docker: OwnDocker): Promise<readonly Followed[]> {
    const images = await makeTestImages(`stopped-${process.pid}`, docker.socketPath);
    const runtime = new DockerRuntime({
      socketPath: docker.socketPath,
      owner: 'engine-stopped',
      pauseImage: images.pause,
      initPath: '/proc/no-such/pause',
      clock: systemClock,
      exec: systemExec,
    });
    const all: Followed[] = [];
    for (const driver of drivers) {
      const run = ['run', '--detach', '--network', 'none', '--log-driver', driver];
      const id = (await cli(docker, ...run, images.busybox, 'sh', '-c', talk)).trim();
      cluster.runtime.logs = (_, ...args) => runtime.logs(id, ...args);
      for (const [name, command] of programs) {
        const follower = new Follower(command, kubeconfig);
        all.push({ id, name, follower });
        await follower.printed(enough);
      }
    }
    return all;
  }

  const cut = { says: 'fails after whole lines, each printed once', codes: [1] };
  // An engine that stops ends its connections when the containers have ended, or a moment before.
  const wholeOrCut = {
    says: 'prints the log to its end, or fails after whole lines',
    codes: [0, 1],
  };
  for (const [title, options, how, { says, codes }] of [
    ['is killed', [], 'kill', cut],
    ['is killed and leaves its containers running', ['--live-restore'], 'kill', cut],
    ['is stopped and leaves its containers running', ['--live-restore'], 'stop', cut],
    ['is stopped with its containers', [], 'stop', wholeOrCut],
  ] as const)
    it(`${title} ${says}`, async (t) => {
      const docker = new OwnDocker(makeDirectory('minik8s-dockerd-'), options);
      t.after(async () => {
        await docker.close();
        assert.deepEqual(processesNaming(docker.directory), []);
      });
      await docker.start();
      const followed = await followAll(docker);
      await docker[how]();
      await docker.start();
      for (const { id, name, follower } of followed) {
        const code = (await follower.end()) ?? -1;
        assert.ok(codes.includes(code), `${name}: ${code}: ${follower.err}`);
        assert.match(follower.err, code === 0 ? /^$/ : cutSays[name]);
        requireLines(follower.out, await cli(docker, 'logs', id), code === 0);
      }
    });
});
