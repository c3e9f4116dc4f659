/** The client of the Docker engine's API; the only file that runs dockerode. */
import { Agent } from 'node:http';
import { inspect } from 'node:util';
import Docker from 'dockerode';
import { type EngineVersions, requestVersion } from './api-version.ts';

export type { Docker };

/**
 * The modem formats the options of every request for its debug log, written or not: an agent with its sockets took
 * half of this process's time.
 */
class TerseAgent extends Agent {
  [inspect.custom](): string {
    return 'Agent';
  }
}

/**
 * Without a path: what DOCKER_HOST says, else Docker's own place. Nothing is connected yet. Requests name the version of the API
 * that the engine is asked for before the first one, and again after the engine was away or refused that version.
 */
export function dockerClient(socketPath?: string): Docker {
  // The modem takes an agent; its types do not say so.
  const connection: Docker.DockerOptions & { agent: Agent } = {
    ...(socketPath !== undefined && { socketPath }),
    agent: new TerseAgent({ keepAlive: true, scheduling: 'lifo' }),
  };
  const docker = new Docker(connection);
  nameVersion(docker.modem as Modem);
  return docker;
}

/** The part of docker-modem that every request passes. */
interface Modem {
  /** Put before the path of a request, read when `dial` is called. */
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
      // Another engine may answer next.
      if (error && mayBeAnother(error) && asked === used) asked = undefined;
      callback(error, answer);
    };
    used.then((version) => dialAs(version, options, answered), answered);
  };
}

/** The engine is away, or speaks versions that the one before it did not. */
const mayBeAnother = ({ statusCode, message }: Refusal) =>
  statusCode === undefined || (statusCode === 400 && /client version \S+ is too (?:old|new)/.test(message));
