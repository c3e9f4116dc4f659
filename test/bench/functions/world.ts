/** A cluster with functions on a host of its own, and callers beside its pods. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { Cluster } from '../../e2e/harness/cluster.ts';
import { Host } from '../../e2e/harness/host.ts';
import { waitFor } from '../../e2e/harness/wait-for.ts';
import { makeRuntimeImage } from '../../fixtures/runtime-images.ts';
import type { Target } from '../lane.ts';
import type { Called, CallersTask } from './callers.ts';

export type Runtime = 'nodejs' | 'python';
export const runtimes: readonly Runtime[] = ['nodejs', 'python'];

const gatewayPort = 8070;
const images = { python: 'minik8s-bench/python:1', nodejs: 'minik8s-bench/nodejs:1' };

/** Sources of the measured functions, which do nothing; the variants of `logged` log each call. */
const sources = {
  python: ['main.py', 'def handler(event, context):\n    return {}\n'],
  nodejs: ['main.mjs', 'export const handler = () => ({});\n'],
} as const;
const logged = {
  python: ['main.py', 'def handler(event, context):\n    print("call", context.call_id)\n    return {}\n'],
  nodejs: ['main.mjs', "export const handler = (_, { callId }) => (console.log('call', callId), {});\n"],
} as const;

export interface World {
  readonly host: Host;
  readonly cluster: Cluster;
  /** Address of the gateway, with the administrator's identity. */
  readonly gateway: Target;
  /** Creates a function with additional fields of its spec, and resolves when it can be called. */
  create(name: string, runtime: Runtime, spec?: object, says?: boolean): Promise<void>;
  pods(name: string): Promise<readonly Pod[]>;
  untilGone(name: string): Promise<void>;
  /** Returns the waiting instances that run. */
  waiting(runtime: Runtime): Promise<readonly Pod[]>;
  untilWaiting(runtime: Runtime, count: number): Promise<void>;
  call(task: CallersTask): Promise<Called>;
  /** Forks another program beside the pods. */
  fork(program: string): ChildProcess;
  /** Watches the objects of a path from now on, until the returned function is called. */
  watch(path: string, seen: (object: never) => void): Promise<() => void>;
}

/** Creates a world for `measure`, and removes everything afterwards. */
export async function withWorld<T>(
  flags: readonly string[],
  measure: (world: World) => Promise<T>,
): Promise<T> {
  const closers: (() => Promise<void>)[] = [];
  try {
    for (const runtime of runtimes) await makeRuntimeImage(runtime, images[runtime]);
    const cleanup = { after: (fn: () => Promise<void>) => closers.push(fn) };
    const host = await Host.start(cleanup, { images: Object.values(images) });
    const own = ['--python-image', images.python, '--nodejs-image', images.nodejs];
    const cluster = await Cluster.start(cleanup, { host, flags: [...own, ...flags] });
    return await measure(worldOf(host, cluster));
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

function worldOf(host: Host, cluster: Cluster): World {
  const config = cluster.kubeConfig();
  const text = (base64: string | undefined) => Buffer.from(base64 ?? '', 'base64').toString();
  const user = config.getCurrentUser();
  const identity = {
    ca: text(config.getCurrentCluster()?.caData),
    key: text(user?.keyData),
    cert: text(user?.certData),
  };
  const fork = (program: string): ChildProcess => {
    const [command, args] = host.command(process.execPath, [join(import.meta.dirname, program)]);
    const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    host.after(async () => {
      if (child.exitCode === null) child.kill('SIGKILL');
    });
    return child;
  };
  const callers = fork('callers.ts');
  const pods = async (name: string) =>
    (await cluster.kubectl.json<{ items: Pod[] }>('get', 'pods', '--selector', `minik8s.io/function=${name}`))
      .items;
  const waiting = async (runtime: Runtime) => {
    const selector = `minik8s.io/warm=${runtime},!minik8s.io/function`;
    const { items } = await cluster.kubectl.json<{ items: Pod[] }>('get', 'pods', '--selector', selector);
    return items.filter(({ status }) => status?.containerStatuses?.some(({ state }) => state?.running));
  };
  return {
    host,
    cluster,
    gateway: { ...identity, host: host.address, port: gatewayPort },
    fork,
    pods,
    waiting,
    async untilWaiting(runtime, count) {
      await waitFor(`${count} instances that wait`, async () => (await waiting(runtime)).length >= count, {
        timeoutMs: 120_000,
        intervalMs: 200,
      });
    },
    async create(name, runtime, spec = {}, says = false) {
      const folder = join(host.directory, name);
      const [file, source] = (says ? logged : sources)[runtime];
      mkdirSync(folder);
      writeFileSync(join(folder, file), source);
      const object = {
        apiVersion: 'minik8s.io/v1',
        kind: 'Function',
        metadata: { name, namespace: 'default' },
        spec: { runtime, files: { [file]: source }, ...spec },
      };
      const path = join(folder, 'function.json');
      writeFileSync(path, JSON.stringify(object));
      await cluster.kubectl.attempt(['apply', '-f', path]);
      await waitFor(
        `function ${name}`,
        async () => {
          const found = await cluster.kubectl.json<{ status?: { activeVersion?: string } }>(
            'get',
            'function',
            name,
          );
          return found.status?.activeVersion !== undefined;
        },
        { timeoutMs: 120_000 },
      );
    },
    async untilGone(name) {
      await waitFor(`the instances of ${name} to go`, async () => (await pods(name)).length === 0, {
        timeoutMs: 120_000,
        intervalMs: 200,
      });
    },
    async call(task) {
      callers.send(task);
      const [called] = (await once(callers, 'message')) as [Called];
      return called;
    },
    watch: (path, seen) => watch(`${cluster.url}${path}`, identity, seen),
  };
}

function watch(
  url: string,
  identity: { readonly ca: string; readonly key: string; readonly cert: string },
  seen: (object: never) => void,
): Promise<() => void> {
  const agent = new Agent(identity);
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${url.includes('?') ? '&' : '?'}watch=1`, { agent }, (answer) => {
      let rest = '';
      answer.setEncoding('utf8');
      answer.on('error', () => undefined);
      answer.on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) seen((JSON.parse(line) as { object: never }).object);
      });
      resolve(() => {
        sent.destroy();
        agent.destroy();
      });
    });
    sent.on('error', reject);
    sent.end();
  });
}
