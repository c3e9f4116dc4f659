/** The client of the Docker engine's API; the only file that runs dockerode. */
import { Agent } from 'node:http';
import { inspect } from 'node:util';
import Docker from 'dockerode';

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

/** Without a path: what DOCKER_HOST says, else Docker's own place. Nothing is connected yet. */
export function dockerClient(socketPath?: string): Docker {
  // The modem takes an agent; its types do not say so.
  const connection: Docker.DockerOptions & { agent: Agent } = {
    ...(socketPath !== undefined && { socketPath }),
    agent: new TerseAgent({ keepAlive: true, scheduling: 'lifo' }),
  };
  return new Docker(connection);
}
