/** The few things asked of the Docker engine for one container of the node's own, over its socket. */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';

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

/** Of Docker 20.10, the oldest that minik8s works with. */
const version = '/v1.41';
const pullMs = 10 * 60_000;
const callMs = 30_000;

export function dockerEngine(socketPath: string): Engine {
  async function call(method: string, path: string, body?: unknown, timeoutMs = callMs): Promise<Answer> {
    const answer = await send({ socketPath, method, path: version + path }, body, timeoutMs);
    if (answer.status < 400 || answer.status === 404) return answer;
    throw new Error(messageOf(answer));
  }

  async function found(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await call(method, path, body);
    if (answer.status === 404) throw new Error(messageOf(answer));
    return answer;
  }

  async function requireImage(image: string): Promise<void> {
    const present = await call('GET', `/images/${encodeURIComponent(image)}/json`);
    if (present.status !== 404) return;
    const named = /[:@][^/]*$/.test(image) ? image : `${image}:latest`;
    const pulled = await call(
      'POST',
      `/images/create?fromImage=${encodeURIComponent(named)}`,
      undefined,
      pullMs,
    );
    const failure = /"error":"((?:[^"\\]|\\.)*)"/.exec(pulled.body);
    if (pulled.status === 404 || failure) {
      const why = failure?.[1] ?? messageOf(pulled);
      throw new Error(`image ${image} can not be pulled: ${why}`);
    }
  }

  return {
    async inspect(name) {
      const answer = await call('GET', `/containers/${name}/json`);
      if (answer.status === 404) return undefined;
      const { Id, State, Config } = JSON.parse(answer.body) as InspectBody;
      return { id: Id, running: State.Running && !State.Restarting, labels: Config.Labels ?? {} };
    },

    async start(name, { image, entrypoint, labels, binds }) {
      await requireImage(image);
      await found('POST', `/containers/create?name=${name}`, {
        Image: image,
        Entrypoint: entrypoint,
        Cmd: [],
        Labels: labels,
        HostConfig: {
          NetworkMode: 'host',
          Binds: binds,
          RestartPolicy: { Name: 'always' },
          LogConfig: { Type: 'json-file', Config: { 'max-size': '1m', 'max-file': '2' } },
        },
      });
      await found('POST', `/containers/${name}/start`);
    },

    async exec(name, command) {
      const options = { Cmd: command, AttachStdout: true, AttachStderr: true, Tty: true };
      const made = JSON.parse((await found('POST', `/containers/${name}/exec`, options)).body) as {
        Id: string;
      };
      const { body } = await found('POST', `/exec/${made.Id}/start`, { Detach: false, Tty: true });
      const ended = JSON.parse((await found('GET', `/exec/${made.Id}/json`)).body) as { ExitCode: number };
      return { code: ended.ExitCode, output: body.trim() };
    },

    async remove(name) {
      await call('DELETE', `/containers/${name}?force=true&v=true`);
    },

    async logs(name) {
      const { body } = await call('GET', `/containers/${name}/logs?stderr=true&tail=5`);
      // Each piece stands after a header of eight bytes, which are no text.
      return body.replaceAll(/[^\n\x20-\x7e]+/g, '').trim();
    },
  };
}

interface InspectBody {
  readonly Id: string;
  readonly State: { readonly Running: boolean; readonly Restarting: boolean };
  readonly Config: { readonly Labels: Readonly<Record<string, string>> | null };
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

function send(
  options: { readonly socketPath: string; readonly method: string; readonly path: string },
  body: unknown,
  timeoutMs: number,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { host: 'docker', 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(timeoutMs);
    const outgoing = request({ ...options, headers, signal }, (response) => {
      text(response).then((all) => resolve({ status: response.statusCode ?? 500, body: all }), reject);
    });
    outgoing.once('error', reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

function messageOf({ status, body }: Answer): string {
  try {
    const { message } = JSON.parse(body) as { readonly message?: string };
    if (message) return message;
  } catch {
    // Not JSON: the status has to do.
  }
  return `the Docker engine answers ${status}`;
}
