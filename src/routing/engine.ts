/** The few things asked of the Docker engine for one container of the node's own. */
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
  /** Such as `/var/lib/minik8s/routing:/minik8s:ro`. */
  readonly binds: readonly string[];
}

export interface Engine {
  /** Undefined when there is none of this name. */
  inspect(name: string): Promise<ContainerState | undefined>;
  /** In the machine's own network, and started again by the engine whenever it ends. */
  start(name: string, spec: ContainerSpec): Promise<void>;
  /** Runs a program in it; resolves to how it ended and what it wrote. */
  exec(name: string, command: readonly string[]): Promise<{ readonly code: number; readonly output: string }>;
  /** Fine when it is gone. */
  remove(name: string): Promise<void>;
  /** The end of what it wrote. */
  logs(name: string): Promise<string>;
}

const pullMs = 10 * 60_000;
const callMs = 30_000;
const logLines = 5;

/** Every call rejects with a RuntimeError after 30 seconds, fetching an image after 10 minutes. */
export function dockerEngine(docker: Docker): Engine {
  const limited = (ms = callMs) => ({ abortSignal: AbortSignal.timeout(ms) });

  async function requireImage(image: string): Promise<void> {
    // This call of dockerode takes no signal.
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
        // With a terminal both outputs come as they are; the stream ends after the exit status has been noted.
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
