/** The client of the Docker engine's API; the only file that uses dockerode at run time. */
import { Agent } from 'node:http';
import { inspect } from 'node:util';
import Docker from 'dockerode';
import { type EngineVersions, requestVersion } from './api-version.ts';

export type { Docker };

/**
 * Agent with a short text form. The modem formats the options of every request for its debug log, whether it
 * is written or not: formatting an agent with its sockets took half of this process's time.
 */
class TerseAgent extends Agent {
  [inspect.custom](): string {
    return 'Agent';
  }
}

/**
 * Returns a client; nothing is connected yet. Without a path it uses DOCKER_HOST, else Docker's standard
 * path. Requests contain the API version, which is read from the engine before the first request, and again
 * after the engine was unreachable or rejected that version.
 */
export function dockerClient(socketPath?: string): Docker {
  // The modem accepts an agent; its types lack it.
  const connection: Docker.DockerOptions & { agent: Agent } = {
    ...(socketPath !== undefined && { socketPath }),
    agent: new TerseAgent({ keepAlive: true, scheduling: 'lifo' }),
  };
  const docker = new Docker(connection);
  nameVersion(docker.modem as Modem);
  return docker;
}

/** The part of docker-modem through which every request passes. */
interface Modem {
  /** Prefix of a request's path, read when `dial` is called. */
  version?: string | undefined;
  dial(options: object, callback: Callback): void;
}

type Callback = (error: Refusal | null, answer?: unknown) => void;

interface Refusal extends Error {
  readonly statusCode?: number;
}

function nameVersion(modem: Modem): void {
  const dial = modem.dial.bind(modem);
  const dialAs = (version: string | undefined, options: object, callback: Callback) => {
    modem.version = version && `v${version}`;
    dial(options, callback);
  };
  const ask = () =>
    new Promise<string | undefined>((resolve, reject) => {
      const request = { path: '/version', method: 'GET', statusCodes: { 200: true } };
      dialAs(undefined, request, (error, answer) => {
        if (error) reject(error);
        else resolve(requestVersion(answer as EngineVersions));
      });
    });
  let asked: Promise<string | undefined> | undefined;
  modem.dial = (options, callback) => {
    asked ??= ask();
    const used = asked;
    const answered: Callback = (error, answer) => {
      // Another engine may answer the next request.
      if (error && mayBeAnother(error) && asked === used) asked = undefined;
      callback(error, answer);
    };
    used.then((version) => dialAs(version, options, answered), answered);
  };
}

/** Returns true when the engine is unreachable, or supports other versions than the one before it. */
const mayBeAnother = ({ statusCode, message }: Refusal) =>
  statusCode === undefined || (statusCode === 400 && /client version \S+ is too (?:old|new)/.test(message));
