/** The operations of the Docker engine for one container of the node itself. */
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { unlessAborted } from '../base/abort.ts';
import { call, unlessGone } from '../docker/call.ts';
import type { Docker } from '../docker/client.ts';
import { inspectImage, pullImage } from '../docker/images.ts';
import { demultiplex } from '../docker/streams.ts';

export interface ContainerState {
  readonly id: string;
  readonly running: boolean;
  readonly labels: Readonly<Record<string, string>>;
}

export interface ContainerSpec {
  readonly image: string;
  readonly entrypoint: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  /** Bind mounts such as `/var/lib/minik8s/routing:/minik8s:ro`. */
  readonly binds: readonly string[];
}

export interface Engine {
  /** Resolves to undefined if there is no container of this name. */
  inspect(name: string): Promise<ContainerState | undefined>;
  /** Starts a container in the machine's own network; the engine restarts it whenever it ends. */
  start(name: string, spec: ContainerSpec): Promise<void>;
  /** Runs a program in the container; resolves to its exit code and output. */
  exec(name: string, command: readonly string[]): Promise<{ readonly code: number; readonly output: string }>;
  /** Removes the container; succeeds if it does not exist. */
  remove(name: string): Promise<void>;
  /** Returns the last lines of the container's output. */
  logs(name: string): Promise<string>;
}

const pullMs = 10 * 60_000;
const callMs = 30_000;
const logLines = 5;

/**
 * Returns the engine. Calls reject with a RuntimeError after 30 seconds; pulling an image after 10 minutes.
 */
export function dockerEngine(docker: Docker): Engine {
  const limited = (ms = callMs) => ({ abortSignal: AbortSignal.timeout(ms) });

  async function requireImage(image: string): Promise<void> {
    // The inspect call of dockerode accepts no signal.
    if (await unlessAborted(AbortSignal.timeout(callMs), inspectImage(docker, image))) return;
    await pullImage(docker, image, { signal: AbortSignal.timeout(pullMs) });
  }

  return {
    async inspect(name) {
      const info = await unlessGone(
        call(`inspect ${name}`, () => docker.getContainer(name).inspect(limited())),
      );
      if (!info) return undefined;
      const { Id, State, Config } = info;
      return { id: Id, running: State.Running && !State.Restarting, labels: Config.Labels ?? {} };
    },

    async start(name, { image, entrypoint, labels, binds }) {
      await requireImage(image);
      const container = await call(`create ${name}`, () =>
        docker.createContainer({
          name,
          Image: image,
          Entrypoint: [...entrypoint],
          Cmd: [],
          Labels: { ...labels },
          HostConfig: {
            NetworkMode: 'host',
            Binds: [...binds],
            RestartPolicy: { Name: 'always' },
            LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '2' } },
          },
          ...limited(),
        }),
      );
      await call(`start ${name}`, () => container.start(limited()));
    },

    exec(name, command) {
      return call(`run ${command[0]} in ${name}`, async () => {
        const output = { AttachStdout: true, AttachStderr: true, Tty: true };
        const exec = await docker.getContainer(name).exec({ Cmd: [...command], ...output, ...limited() });
        // Both outputs arrive unframed with a terminal; the stream ends after the exit status is stored.
        const stream = await exec.start({ Detach: false, Tty: true, ...limited() });
        const written = await text(stream);
        const { ExitCode } = await exec.inspect(limited());
        return { code: ExitCode ?? -1, output: written.trim() };
      });
    },

    async remove(name) {
      const options = { force: true, v: true, ...limited() };
      await unlessGone(call(`remove ${name}`, () => docker.getContainer(name).remove(options)));
    },

    async logs(name) {
      const options = { follow: false as const, stdout: false, stderr: true, tail: logLines, ...limited() };
      const written = await call(`read logs of ${name}`, () => docker.getContainer(name).logs(options));
      return (await text(demultiplex(Readable.from([written])))).trim();
    },
  };
}
