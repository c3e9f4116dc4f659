/**
 * Parses exec, attach and portForward requests of the API server to a node agent (pkg/kubelet/server), and
 * minik8s' own request for a connection to a port. Pure.
 */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { ObservedPod } from '../../runtime/observed-pod.ts';
import type { SandboxState } from '../../runtime/runtime.ts';
import { RequestError } from '../plan/log-request.ts';
import type { WantedStreams } from './command-session.ts';

interface PodPath {
  readonly namespace: string;
  readonly pod: string;
}

export type StreamRequest =
  | (PodPath & {
      readonly kind: 'exec';
      readonly container: string;
      readonly command: readonly string[];
      readonly wanted: WantedStreams;
    })
  | (PodPath & { readonly kind: 'attach'; readonly container: string; readonly wanted: WantedStreams })
  | (PodPath & { readonly kind: 'portForward'; readonly ports: readonly number[] })
  | (PodPath & { readonly kind: 'connect'; readonly port: number });

/** Returns the request; undefined for any other path. Throws RequestError (400) for an invalid query. */
export function parseStreamRequest(url: URL): StreamRequest | undefined {
  const [, kind, namespace, pod, container, ...rest] = url.pathname.split('/').map(decodeURIComponent);
  if (!namespace || !pod || rest.length > 0) return undefined;
  const query = url.searchParams;
  if (kind === 'portForward') {
    return container === undefined ? { kind, namespace, pod, ports: portsOf(query) } : undefined;
  }
  if (!container) return undefined;
  if (kind === 'connect') return { kind, namespace, pod, port: portOf(container) };
  if (kind === 'attach') return { kind, namespace, pod, container, wanted: wantedOf(query) };
  if (kind !== 'exec') return undefined;
  const command = query.getAll('command');
  if (command.length === 0) throw new RequestError(400, 'you must specify a command to run');
  return { kind, namespace, pod, container, command, wanted: wantedOf(query) };
}

function wantedOf(query: URLSearchParams): WantedStreams {
  const is = (name: string) => query.get(name) === '1' || query.get(name) === 'true';
  const tty = is('tty');
  // A terminal has only one output.
  const wanted = { stdin: is('input'), stdout: is('output'), stderr: is('error') && !tty, tty };
  if (!wanted.stdin && !wanted.stdout && !wanted.stderr) {
    throw new RequestError(400, 'you must specify at least 1 of stdin, stdout, stderr');
  }
  return wanted;
}

function portsOf(query: URLSearchParams): number[] {
  const texts = query.getAll('port').flatMap((list) => list.split(','));
  return texts.map(portOf);
}

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port <= 0xffff) return port;
  throw new RequestError(400, `${JSON.stringify(text)} is not a port`);
}

/** Returns the pod; throws RequestError (404) when it is not on this node. */
export function findPod(pods: readonly Pod[], { namespace, pod: name }: PodPath): Pod {
  const found = pods.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
  if (found) return found;
  throw new RequestError(404, `pod "${name}" not found in namespace "${namespace}"`);
}

/**
 * Returns the id of the running container of that name. Throws RequestError: 404 if the pod has no such
 * container, 400 with the reason if it does not run.
 */
export function runningContainer(
  observed: ObservedPod,
  name: string,
  { spec, status }: Pick<Pod, 'spec' | 'status'>,
): string {
  const named = observed.containers.filter((container) => container.name === name);
  const running = named.find(({ state }) => state === 'running');
  if (running) return running.id;
  const main = spec.containers.some((container) => container.name === name);
  const others = [...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])];
  if (!main && !others.some((container) => container.name === name)) {
    throw new RequestError(404, `container not found ("${name}")`);
  }
  const [last] = named.toSorted((one, other) => other.attempt - one.attempt);
  if (last?.state !== 'exited') {
    const why = waitingText(status, name);
    throw new RequestError(400, `container "${name}" is not running: it has not started yet${why}`);
  }
  const restarts =
    main && (spec.restartPolicy === 'Always' || (spec.restartPolicy === 'OnFailure' && last.exitCode !== 0));
  const then = restarts ? ' and waits to be restarted' : '';
  throw new RequestError(
    400,
    `container "${name}" is not running: it has ended with exit code ${last.exitCode}${then}`,
  );
}

/** Returns the reason and the message of a container that waits, in brackets; empty if it has none. */
function waitingText(status: Pod['status'], name: string): string {
  const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  const waiting = all.find((one) => one.name === name)?.state?.waiting;
  const words = [waiting?.reason, waiting?.message].filter(Boolean).join(': ');
  return words && ` (${words})`;
}

/** Returns the pod's sandbox; throws RequestError (404) when none runs. */
export function runningSandbox(observed: ObservedPod, pod: Pod): SandboxState {
  const found = observed.sandboxes.find(({ state }) => state === 'running');
  if (found) return found;
  throw new RequestError(404, `pod "${pod.metadata.name}" is not running`);
}
