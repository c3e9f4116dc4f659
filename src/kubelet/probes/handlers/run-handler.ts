/** Runs the handler of a probe once. */
import type { Container, ProbeHandler } from '../../../api/core/v1/types.gen.ts';
import type { Clock } from '../../../base/clock.ts';
import { expandEach } from '../../environment/plan/expand.ts';
import type { ContainerRuntime } from '../../runtime/runtime.ts';
import { handlerPort } from '../plan/handler-port.ts';
import { httpRequest } from '../plan/http-request.ts';
import { type Outcome, unknown } from '../plan/outcome.ts';
import { execHandler } from './exec.ts';
import { grpcHandler } from './grpc.ts';
import { httpGetHandler } from './http-get.ts';
import { tcpSocketHandler } from './tcp-socket.ts';

export interface HandlerContext {
  readonly runtime: Pick<ContainerRuntime, 'exec'>;
  readonly clock: Clock;
}

export interface HandlerTarget {
  readonly container: Container;
  /** The engine's id of the container. */
  readonly containerId: string;
  /** The pod's address; the node's for a pod in the host's network. */
  readonly podIP: string;
}

/**
 * Runs the handler. Ends after `timeoutMs` at the latest, or soon after the signal aborts; only the outcome's
 * `rest` may take longer. Never rejects: a handler that cannot be run has the result `unknown`, with the
 * reason.
 */
export async function runHandler(
  context: HandlerContext,
  handler: ProbeHandler,
  target: HandlerTarget,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Outcome> {
  const { exec, httpGet, tcpSocket, grpc } = handler;
  const { container, containerId, podIP } = target;
  const { clock } = context;
  try {
    if (exec)
      return await execHandler(context, containerId, commandOf(exec.command, container), timeoutMs, signal);
    if (httpGet) {
      const request = httpRequest(httpGet, container, podIP, 'probe');
      return await httpGetHandler(clock, request, timeoutMs, signal);
    }
    if (tcpSocket) {
      const port = handlerPort(tcpSocket.port, container);
      return await tcpSocketHandler(clock, tcpSocket.host || podIP, port, timeoutMs, signal);
    }
    if (grpc) {
      const { port, service = '', mode } = grpc;
      return await grpcHandler(clock, { host: podIP, port, service, tls: mode === 'TLS' }, timeoutMs, signal);
    }
  } catch (error) {
    return unknown((error as Error).message);
  }
  return unknown(`missing probe handler for ${container.name}`);
}

/**
 * Returns the command with variables expanded. Only variables with a value in the pod's spec count; those
 * from other sources are empty, as upstream.
 */
function commandOf(command: readonly string[] = [], { env = [] }: Container): readonly string[] {
  const values = new Map(env.map(({ name, value = '' }) => [name, value]));
  return expandEach(command, (name) => values.get(name));
}
